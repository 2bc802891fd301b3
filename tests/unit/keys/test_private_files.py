from __future__ import annotations

from pathlib import Path

import pytest

from quintant.keys.private_files import private_folder, write_private


def test_a_file_is_for_its_owner_alone_whoever_wrote_it_before(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_private(path, b"one")
    path.chmod(0o644)
    write_private(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_private(tmp_path / "taken", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private_folder(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755
