"""What was written is found again: by HEAD, and without it, in directories of other lightpeers."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from quintant.agents.lightpeer.chain.block import payload_of, written
from quintant.agents.lightpeer.disk.folder import Folder
from quintant.agents.lightpeer.disk.store import READ_BYTES, Store
from quintant.wire.lightpeer import BlockType, Lightblock, PeerInfo
from unit.agents.lightpeer.peer_network import MemoryDisk


def client(identity: str, previous: str) -> Lightblock:
    return Lightblock(identity, identity.encode(), previous, BlockType.CLIENT)


def put(disk: MemoryDisk, *blocks: Lightblock) -> None:
    disk.write([(each.id, written(each)) for each in blocks])


def test_chain_is_found_as_it_was_written() -> None:
    disk = MemoryDisk()
    store = Store(disk)
    store.append([Lightblock("n", payload_of([PeerInfo("a:1")]))], 1)
    store.append([client("b", "n"), client("c", "b")], 3)
    found = store.load()
    assert found.chain.ids == ["n", "b", "c"]
    assert (found.chain.networks, found.chain.clients) == (1, 2)
    while store.pending:
        store.compact(2)
    assert disk.files["HEAD"].startswith(b"c\n3\n")
    assert set(disk.files) == {"HEAD", "HEAD.copy", "n", "b", "c"}


def test_a_start_does_little_for_each_block_of_a_journal() -> None:
    """Journals have some 100,000 blocks, and a machine that is busy has to read them in time."""
    disk, count, most = MemoryDisk(), 2_000, 30
    store, calls = Store(disk), 0
    names = ["", *(f"{number:08x}-0000-4000-8000-000000000000" for number in range(count))]
    store.append([client(new, old) for old, new in pairwise(names)], count)

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        found = Store(disk).load()
    finally:
        sys.setprofile(None)
    assert len(found.chain) == count
    assert calls / count <= most


def test_directory_of_another_lightpeer_gives_its_longest_branch() -> None:
    disk = MemoryDisk()
    put(disk, client("a", ""), client("b", "a"), client("c", "b"), client("orphan", "a"))
    disk.write([("index.html", b"<p>a state file</p>"), ("data.json", b'{"ID":"other"}')])
    assert Store(disk).load().chain.ids == ["a", "b", "c"]


def test_of_equal_branches_the_one_written_last_counts() -> None:
    disk = MemoryDisk()
    put(disk, client("a", ""), client("b", "a"), client("c", "a"))
    assert Store(disk).load().chain.ids == ["a", "c"]


def test_branch_with_a_hole_is_kept_above_the_hole() -> None:
    disk = MemoryDisk()
    put(disk, client("c", "b"), client("d", "c"))
    found = Store(disk).load()
    assert found.chain.ids == ["c", "d"]
    assert found.truncated


def test_blocks_in_a_circle_do_not_hang() -> None:
    disk = MemoryDisk()
    put(disk, client("a", "b"), client("b", "a"), client("c", "a"))
    assert Store(disk).load().truncated


def test_head_that_names_a_missing_block_is_not_believed() -> None:
    disk = MemoryDisk()
    put(disk, client("a", ""))
    disk.write([("HEAD", b"gone\n7\n")])
    assert Store(disk).load().chain.ids == ["a"]


def test_empty_head_is_an_empty_chain_whatever_files_there_are() -> None:
    disk = MemoryDisk()
    put(disk, client("a", ""))
    Store(disk).turn("", 0, ())
    assert Store(disk).load().chain.ids == []


def test_what_is_lost_and_the_network_are_remembered() -> None:
    disk = MemoryDisk()
    store = Store(disk)
    store.lose(["x", "y"])
    store.name("default/net")
    found = store.load()
    assert (found.lost, found.network) == (("x", "y"), "default/net")


def test_folder_writes_whole_files_and_leaves_no_parts(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "new" / "repo")
    folder.write([("a", b"1"), ("b", b"2")])
    folder.write([("a", b"3")])
    assert folder.read("a") == b"3"
    assert sorted(name for name, _ in folder.names()) == ["a", "b"]
    assert sorted(each.name for each in folder.path.iterdir()) == ["a", "b"]
    with pytest.raises(FileNotFoundError):
        folder.read("c")


def test_file_longer_than_any_block_is_no_block(tmp_path: Path) -> None:
    with (tmp_path / "movie").open("wb") as file:
        file.truncate(10**9)
    found = Store(Folder(tmp_path)).load()
    assert found.chain.ids == []
    assert not found.damage


def test_what_we_wrote_ourselves_is_read_however_long_it_is(tmp_path: Path) -> None:
    lost = [f"{number:032x}" for number in range(300_000)]
    Store(Folder(tmp_path)).lose(lost)
    assert (tmp_path / "LOST").stat().st_size > 8_000_000
    assert Store(Folder(tmp_path)).load().lost == tuple(lost)


def test_blocks_are_read_together_up_to_one_that_is_missing() -> None:
    disk = MemoryDisk()
    put(disk, client("a", ""), client("b", "a"), client("d", "c"))
    store = Store(disk)
    assert [each.id for each in store.some(["a", "b", "c", "d"])] == ["a", "b"]
    with pytest.raises(FileNotFoundError):
        store.some(["c", "d"])


def test_long_blocks_are_read_a_few_at_a_time() -> None:
    disk = MemoryDisk()
    ids = ["a", "b", "c"]
    put(disk, *(Lightblock(each, b"x" * READ_BYTES, "", BlockType.CLIENT) for each in ids))
    assert [each.id for each in Store(disk).some(ids)] == ["a"]
