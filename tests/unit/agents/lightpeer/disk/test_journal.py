"""What was acknowledged is found again, whenever the machine stopped; and in the end as files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.lightpeer.disk.folder import Folder
from quintant.agents.lightpeer.disk.journal import JOURNAL_BYTES
from quintant.agents.lightpeer.disk.store import LONG_BYTES, Store
from quintant.wire.lightpeer import BlockType, Lightblock
from unit.agents.lightpeer.peer_network import MemoryDisk

FULL = JOURNAL_BYTES // 100_000
"""So many blocks of this length fill a journal; base64 makes them longer, so there is room."""


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

    def rename(self, old: str, new: str) -> None:
        self._change()
        super().rename(old, new)

    def remove(self, names: object) -> None:
        self._change()
        super().remove(names)  # type: ignore[arg-type]

    def _change(self) -> None:
        if self.changes <= 0:
            raise Stopped
        self.changes -= 1


def client(number: int, previous: str, size: int = 10) -> Lightblock:
    return Lightblock(f"b{number}", bytes(size), previous, BlockType.CLIENT)


def restarted(disk: MemoryDisk) -> list[str]:
    again = MemoryDisk()
    again.files, again.times = dict(disk.files), dict(disk.times)
    return Store(again).load().chain.ids


class Steps:
    """What the chain was after the last step, and what it is to be after this one."""

    def __init__(self) -> None:
        self.before: list[str] = []
        self.after: list[str] = []

    def begin(self, chain: list[str]) -> None:
        self.after = list(chain)

    def done(self) -> None:
        self.before = self.after


def life(store: Store, sizes: list[int], steps: Steps) -> None:
    """Add blocks, settle, turn back, again and again."""
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


SIZES = st.lists(st.sampled_from((10, 100_000, LONG_BYTES)), min_size=1, max_size=40)


@given(sizes=SIZES, stop=st.integers(0, 150), torn=st.booleans())
def test_whenever_the_machine_stops_a_step_is_done_or_not(
    sizes: list[int], stop: int, torn: bool
) -> None:
    disk, steps = Fragile(stop, torn=torn), Steps()
    store = Store(disk)
    with suppress(Stopped):
        life(store, sizes, steps)
        store.close()
        assert not {"JOURNAL", "JOURNAL.1"} & set(disk.files)
    assert restarted(disk) in (steps.before, steps.after)


@given(sizes=SIZES)
def test_every_block_can_be_read_and_has_a_file_in_the_end(sizes: list[int]) -> None:
    disk, steps = MemoryDisk(), Steps()
    store = Store(disk)
    life(store, sizes, steps)
    every = {f"b{number}" for number in range(len(sizes))}
    assert {store.get(each).id for each in every} == every
    store.close()
    assert every <= set(disk.files)
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


def test_files_of_a_full_journal_are_made_while_the_next_one_fills() -> None:
    disk = MemoryDisk()
    store = Store(disk)
    store.load()
    for number in range(3 * FULL):
        store.append([client(number, f"b{number - 1}" if number else "", 100_000)], number + 1)
        assert len(disk.files.get("JOURNAL", b"")) < 2 * JOURNAL_BYTES
    assert "b0" in disk.files
    assert f"b{FULL // 2}" in disk.files


def test_journal_of_a_real_directory_survives_a_torn_line(tmp_path: Path) -> None:
    store = Store(Folder(tmp_path))
    store.load()
    store.append([client(0, ""), client(1, "b0")], 2)
    with (tmp_path / "JOURNAL").open("ab") as file:
        file.write(b'{"ID":"b2","Pay')
    store = Store(Folder(tmp_path))
    assert store.load().chain.ids == ["b0", "b1"]
    store.append([client(3, "b1")], 3)
    assert Store(Folder(tmp_path)).load().chain.ids == ["b0", "b1", "b3"]
    store.close()
    assert {each.name for each in tmp_path.iterdir()} == {"HEAD", "b0", "b1", "b3"}
