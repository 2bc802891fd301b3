"""Files are whole or not there, however many are written at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.agents.lightpeer.disk.folder import MANY, Folder


@pytest.mark.parametrize("count", [1, MANY - 1, MANY, 3 * MANY])
def test_files_are_there_under_their_names_and_nothing_else_is(tmp_path: Path, count: int) -> None:
    disk = Folder(tmp_path / "repo")
    written = {f"block{number}": b"%d" % number for number in range(count)}
    disk.write(list(written.items()))
    assert {name: disk.read(name) for name, _ in disk.names()} == written
    assert len(list(disk.path.iterdir())) == count


def test_of_one_name_written_twice_the_last_counts(tmp_path: Path) -> None:
    disk = Folder(tmp_path)
    disk.write([("a", b"old"), ("b", b"x"), ("a", b"new")])
    assert disk.read("a") == b"new"


def test_file_system_that_takes_nothing_is_an_error_for_many_files_as_for_one(
    tmp_path: Path,
) -> None:
    disk = Folder(tmp_path / "repo")
    disk.path.rmdir()
    for count in (1, 3 * MANY):
        with pytest.raises(OSError, match="No such file"):
            disk.write([(f"block{number}", b"x") for number in range(count)])
