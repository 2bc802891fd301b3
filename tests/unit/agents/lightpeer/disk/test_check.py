"""A chain is read without changing it, and what is wrong with it is said."""

from __future__ import annotations

from pathlib import Path

from quintant.agents.lightpeer.disk.check import check
from quintant.agents.lightpeer.disk.folder import Folder
from quintant.agents.lightpeer.disk.store import Store
from quintant.wire.lightpeer import BlockType, Lightblock


def filled(path: Path, *, files: bool) -> None:
    store = Store(Folder(path))
    store.load()
    for number in range(5):
        previous = f"b{number - 1}" if number else ""
        store.append([Lightblock(f"b{number}", b"x", previous, BlockType.CLIENT)], number + 1)
    while files and store.pending:
        store.compact(100)


def contents(path: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in path.rglob("*") if each.is_file()}


def test_sound_chain_has_nothing_wrong(tmp_path: Path) -> None:
    for name, files in (("files", True), ("journal", False)):
        filled(tmp_path / name, files=files)
        report = check(tmp_path / name)
        assert (report.blocks, report.clients, report.head) == (5, 5, "b4")
        assert report.journaled == (0 if files else 5)
        assert report.wrong == report.notes == ()


def test_damaged_block_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    filled(tmp_path, files=True)
    (tmp_path / "b2").write_bytes((tmp_path / "b2").read_bytes()[:-3])
    before = contents(tmp_path)
    report = check(tmp_path)
    assert "missing block b2" in report.wrong
    assert any(each.startswith("damaged b2") for each in report.wrong)
    assert contents(tmp_path) == before


def test_damage_that_a_start_has_moved_aside_is_still_told(tmp_path: Path) -> None:
    filled(tmp_path, files=False)
    journal = tmp_path / "JOURNAL.00000001"
    journal.write_bytes(journal.read_bytes().replace(b'"ID":"b2"', b'"ID":"c2"'))
    Store(Folder(tmp_path)).load()
    report = check(tmp_path)
    assert "missing block b2" in report.wrong
    assert f"moved aside earlier: damaged/{journal.name}" in report.notes
