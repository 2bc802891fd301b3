"""What was acknowledged is found again, whenever the machine stopped; and in the end as files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.lightpeer.chain.block import written
from quintant.agents.lightpeer.disk.folder import Folder
from quintant.agents.lightpeer.disk.journal import JOURNAL_BYTES
from quintant.agents.lightpeer.disk.record import Added, Turned, records
from quintant.agents.lightpeer.disk.store import LONG_BYTES, Store
from quintant.wire.lightpeer import BlockType, Lightblock
from unit.agents.lightpeer.peer_network import MemoryDisk


class Stopped(Exception):
    """The machine stopped."""


class Fragile(MemoryDisk):
    """A disk whose machine stops after so many changes; the last one may be half done."""

    def __init__(self, changes: float = float("inf"), *, torn: bool = False) -> None:
        super().__init__()
        self.changes = changes
        self.torn = torn

    def _put(self, name: str, content: bytes) -> None:
        self._change()
        super()._put(name, content)

    def append(self, name: str, content: bytes, at: int) -> None:
        if self.changes <= 0 and self.torn:
            half = self.files.get(name, b"")[:at] + content[: len(content) // 2]
            self.files[name], self.times[name] = half, 0
        super().append(name, content, at)

    def remove(self, names: object) -> None:
        self._change()
        super().remove(names)  # type: ignore[arg-type]

    def _change(self) -> None:
        if self.changes <= 0:
            raise Stopped
        self.changes -= 1


def client(number: int, previous: str, size: int = 10) -> Lightblock:
    return Lightblock(f"b{number}", bytes(size), previous, BlockType.CLIENT)


def copied(disk: MemoryDisk) -> MemoryDisk:
    again = MemoryDisk()
    again.files, again.times = dict(disk.files), dict(disk.times)
    return again


def restarted(disk: MemoryDisk) -> list[str]:
    return Store(copied(disk)).load().chain.ids


def journals(disk: MemoryDisk) -> list[str]:
    return sorted(disk.beginning("JOURNAL"))


def settle(store: Store) -> None:
    """Have a file for every block."""
    while store.pending:
        store.compact(100)


class Steps:
    """What the chain was after the last step, and what it is to be after this one."""

    def __init__(self) -> None:
        self.before: list[str] = []
        self.after: list[str] = []

    def begin(self, chain: list[str]) -> None:
        self.after = list(chain)

    def done(self) -> None:
        self.before = self.after


def life(disk: MemoryDisk, sizes: list[int], steps: Steps) -> Store:
    """Add blocks, make files, turn back, crash and start, again and again."""
    store = Store(disk)
    store.load()
    chain: list[str] = []
    for number, size in enumerate(sizes):
        block = client(number, chain[-1] if chain else "", size)
        chain = [*chain, block.id]
        steps.begin(chain)
        store.append([block], len(chain))
        steps.done()
        if number % 5 == 3:
            store.compact(3)
        if number % 7 == 6:
            chain = chain[:-2]
            steps.begin(chain)
            store.turn(chain[-1], len(chain), ())
            steps.done()
        if number % 11 == 10:
            store = Store(disk)
            assert store.load().chain.ids == chain
    return store


SIZES = st.lists(st.sampled_from((10, 100_000, LONG_BYTES)), min_size=1, max_size=40)


@given(sizes=SIZES, stop=st.integers(0, 150), torn=st.booleans())
def test_whenever_the_machine_stops_a_step_is_done_or_not(
    sizes: list[int], stop: int, torn: bool
) -> None:
    disk, steps = Fragile(stop, torn=torn), Steps()
    with suppress(Stopped):
        settle(life(disk, sizes, steps))
        assert not journals(disk)
    found = Store(copied(disk)).load()
    assert found.chain.ids in (steps.before, steps.after)
    assert not found.damage


@given(sizes=SIZES)
def test_every_block_can_be_read_and_has_a_file_in_the_end(sizes: list[int]) -> None:
    disk, steps = MemoryDisk(), Steps()
    store = life(disk, sizes, steps)
    every = {f"b{number}" for number in range(len(sizes))}
    assert {store.get(each).id for each in every} == every
    settle(store)
    assert every <= set(disk.files)
    assert not journals(disk)
    assert restarted(disk) == steps.before


def test_line_that_was_not_acknowledged_does_not_hide_the_next_one() -> None:
    disk = Fragile()
    store = Store(disk)
    store.load()
    store.append([client(0, "")], 1)
    disk.torn, disk.changes = True, 0
    with pytest.raises(Stopped):
        store.append([client(1, "b0")], 2)
    disk.changes = float("inf")
    store.append([client(2, "b0")], 2)
    assert restarted(disk) == ["b0", "b2"]


def test_journal_is_a_row_of_files_none_of_which_grows_long() -> None:
    disk = MemoryDisk()
    store = Store(disk)
    store.load()
    for number in range(150):
        store.append([client(number, f"b{number - 1}" if number else "", 100_000)], number + 1)
    assert len(journals(disk)) == 5
    assert all(len(disk.files[each]) < JOURNAL_BYTES + 200_000 for each in journals(disk))
    assert restarted(disk) == [f"b{number}" for number in range(150)]


def test_file_of_a_journal_goes_once_all_its_blocks_have_files() -> None:
    disk = MemoryDisk()
    store = Store(disk)
    store.load()
    for number in range(90):
        store.append([client(number, f"b{number - 1}" if number else "", 100_000)], number + 1)
    assert journals(disk) == ["JOURNAL.00000001", "JOURNAL.00000002", "JOURNAL.00000003"]
    store.compact(40)
    assert journals(disk) == ["JOURNAL.00000002", "JOURNAL.00000003"]
    assert restarted(disk) == [f"b{number}" for number in range(90)]


def test_no_start_writes_to_the_journal_of_the_one_before() -> None:
    disk = MemoryDisk()
    for number in range(3):
        store = Store(disk)
        store.load()
        earlier = {each: disk.files[each] for each in journals(disk)}
        store.append([client(number, f"b{number - 1}" if number else "")], number + 1)
        assert {each: disk.files[each] for each in earlier} == earlier
    assert restarted(disk) == ["b0", "b1", "b2"]


@pytest.mark.parametrize("names", [("JOURNAL",), ("JOURNAL.1", "JOURNAL")])
def test_journals_from_before_they_had_numbers_are_read_whatever_their_length(
    names: tuple[str, ...],
) -> None:
    disk = MemoryDisk()
    blocks = [client(number, f"b{number - 1}" if number else "", 100_000) for number in range(120)]
    half = len(blocks) // len(names)
    disk.write([("HEAD", b"\n0\n")])
    for place, name in enumerate(names):
        part = blocks[place * half : (place + 1) * half]
        disk.write([(name, b"".join(written(each) + b"\n" for each in part))])
    store = Store(disk)
    assert len(store.load().chain) == 120
    store.append([client(120, "b119")], 121)
    assert restarted(disk) == [f"b{number}" for number in range(121)]
    settle(store)
    assert not journals(disk)
    assert restarted(disk) == [f"b{number}" for number in range(121)]


def test_turn_in_a_journal_from_before_they_had_numbers_counts() -> None:
    disk = MemoryDisk()
    lines = [written(client(0, "")), written(client(1, "b0")), b'{"HEAD": "b0"}']
    disk.write([("HEAD", b"\n0\n"), ("JOURNAL", b"".join(each + b"\n" for each in lines))])
    assert restarted(disk) == ["b0"]


def test_journal_of_a_real_directory_survives_a_torn_line(tmp_path: Path) -> None:
    store = Store(Folder(tmp_path))
    store.load()
    store.append([client(0, ""), client(1, "b0")], 2)
    with (tmp_path / "JOURNAL.00000001").open("ab") as file:
        file.write(b'{"ID":"b2","Pay')
    store = Store(Folder(tmp_path))
    found = store.load()
    assert found.chain.ids == ["b0", "b1"]
    assert not found.damage
    store.append([client(3, "b1")], 3)
    assert Store(Folder(tmp_path)).load().chain.ids == ["b0", "b1", "b3"]
    settle(store)
    assert {each.name for each in tmp_path.iterdir()} == {"HEAD", "HEAD.copy", "b0", "b1", "b3"}


@given(sizes=SIZES, data=st.data())
def test_one_flipped_byte_costs_at_most_the_block_it_hits(
    sizes: list[int], data: st.DataObject
) -> None:
    disk, steps = MemoryDisk(), Steps()
    life(disk, sizes, steps)
    name = data.draw(st.sampled_from(sorted(disk.files)))
    place = data.draw(st.integers(0, len(disk.files[name]) - 1))
    before = disk.files[name]
    flipped = bytes([before[place] ^ data.draw(st.integers(1, 255))])
    disk.files[name] = before[:place] + flipped + before[place + 1 :]
    hit = struck(disk, name, before, range(place, place + 1))
    if name.startswith("JOURNAL"):
        hit |= _turned(before)
    damaged = disk.files[name]
    if not keeps_all_but(disk, steps.before, hit):
        assert (name, damaged) in disk.aside


@given(sizes=SIZES, data=st.data())
def test_a_cut_file_costs_at_most_the_blocks_that_were_cut(
    sizes: list[int], data: st.DataObject
) -> None:
    disk, steps = MemoryDisk(), Steps()
    life(disk, sizes, steps)
    name = data.draw(st.sampled_from(sorted(disk.files)))
    place = data.draw(st.integers(0, len(disk.files[name]) - 1))
    before = disk.files[name]
    disk.files[name] = before[:place]
    hit = struck(disk, name, before, range(place, len(before)))
    if name.startswith("JOURNAL"):
        hit |= _turned(before)
    newest = name in journals(disk)[-1:]
    if newest:  # Then it looks like a write that was interrupted, and nobody can tell.
        hit |= {each.id for each in _added(before) if each.at + each.size > place}
    keeps_all_but(disk, steps.before, hit, newest)


@given(sizes=SIZES, stop=st.integers(0, 8), data=st.data())
def test_start_on_a_damaged_disk_may_stop_anywhere_and_costs_no_more(
    sizes: list[int], stop: int, data: st.DataObject
) -> None:
    disk, steps = Fragile(), Steps()
    life(disk, sizes, steps)
    name = data.draw(st.sampled_from(sorted({*disk.files} - {"LOST"})))
    place = data.draw(st.integers(0, len(disk.files[name]) - 1))
    before = disk.files[name]
    disk.files[name] = before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :]
    hit = struck(disk, name, before, range(place, place + 1))
    if name.startswith("JOURNAL"):
        hit |= _turned(before)
    disk.changes = stop
    with suppress(Stopped):
        Store(disk).load()
    disk.changes = float("inf")
    keeps_all_but(disk, steps.before, hit)


def struck(disk: MemoryDisk, name: str, before: bytes, bytes_hit: range) -> set[str]:
    """The blocks that are nowhere else, and of which some byte was hit."""
    if not name.startswith("JOURNAL"):
        inside = {each.id for journal in journals(disk) for each in _added(disk.files[journal])}
        return {name} - inside
    return {
        each.id
        for each in _added(before)
        if each.id not in disk.files
        and each.at < bytes_hit.stop
        and bytes_hit.start < each.at + each.size
    }


def _added(journal: bytes) -> list[Added]:
    found = records(journal.splitlines(keepends=True), strict=True)
    return [each for each in found if isinstance(each, Added)]


def _turned(journal: bytes) -> set[str]:
    """Long blocks, of which a journal says only that the chain turned to them."""
    if not journal.startswith(b'{"HEAD'):
        return set()
    _, *rest = records(journal.splitlines(keepends=True), strict=True)
    return {each.head for each in rest if isinstance(each, Turned)}


def keeps_all_but(disk: MemoryDisk, chain: list[str], hit: set[str], newest: bool = False) -> bool:
    """A start finds every block but some, in order, and says so; whether it finds them all."""
    found = Store(disk).load()
    kept = [*found.chain.ids, *found.lost]
    wanted = [each for each in chain if each not in hit]
    assert [each for each in kept if each in wanted] == wanted or found.truncated
    assert set(wanted) <= set(kept)
    every = set(chain) <= set(kept)
    assert every or newest or found.damage
    again = Store(disk).load()
    assert [*again.chain.ids, *again.lost] == kept
    assert again.damage == found.damage
    return every
