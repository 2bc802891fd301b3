"""A state file is replaced whole, and keeps its mode."""

from __future__ import annotations

from pathlib import Path

from quintant.agents.klightpeer.file import PathFile


def test_missing_file_has_neither_stamp_nor_content(tmp_path: Path) -> None:
    file = PathFile(tmp_path / "state")
    assert file.stamp() is None
    assert file.read() is None


def test_written_file_is_another_file_with_the_same_mode(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"old")
    path.chmod(0o640)
    file = PathFile(path)
    before = file.stamp()
    with path.open("rb") as reader:
        file.write(b"new")
        assert reader.read() == b"old"
    assert file.read() == b"new"
    assert file.stamp() != before
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["state"]


def test_new_file_can_be_read_by_everybody(tmp_path: Path) -> None:
    file = PathFile(tmp_path / "state")
    file.write(b"x")
    assert file.path.stat().st_mode & 0o777 == 0o644
