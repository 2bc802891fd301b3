"""Files of the first format become files of this one, whole or not at all; none goes back."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from quintant.cluster.apiserver.storage.file_format import FORMAT, file_format
from quintant.cluster.apiserver.storage.open_file import FILE
from quintant.cluster.apiserver.storage.sqlite import Database
from quintant.core.errors import ConfigError
from unit.cluster.apiserver.storage.stored_rows import load, sample, store_format_1

ROWS = sample(200)
KILLED = """
import os, signal, sys
from pathlib import Path
from quintant.cluster.apiserver.storage.sqlite import Database

left = int(sys.argv[2])

def count(frame, event, argument):
    global left
    if event == "call" and frame.f_code.co_name in ("row_checksum", "write_totals", "close"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(count)
Database.open(Path(sys.argv[1])).close()
"""
"""A start that kills itself at a call that the upgrade makes."""


def number_of(folder: Path) -> int:
    connection = sqlite3.connect(folder / FILE)
    try:
        return file_format(connection)
    finally:
        connection.close()


def test_a_file_of_format_1_is_upgraded_and_its_revision_grows(tmp_path: Path) -> None:
    database = Database.open(store_format_1(tmp_path, ROWS))
    assert dict(database.rows()) == ROWS
    assert database.revision > 0
    database.close()
    assert number_of(tmp_path) == FORMAT
    assert load(tmp_path) == ROWS


@pytest.mark.parametrize(
    ("call", "left"), [(1, 1), (100, 1), (200, 1), (201, 1), (202, 1), (203, 2)]
)
def test_an_upgrade_that_is_killed_leaves_one_format_or_the_other_whole(
    tmp_path: Path, call: int, left: int
) -> None:
    folder = store_format_1(tmp_path / "data", ROWS)
    ran = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(call)], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert number_of(folder) == left
    assert load(folder) == ROWS


def test_a_row_that_is_no_object_is_named_before_anything_is_upgraded(tmp_path: Path) -> None:
    store_format_1(tmp_path, ROWS)
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("UPDATE kv SET val = x'93c4' WHERE key = 'pods/default/o0001'")
    connection.commit()
    connection.close()
    with pytest.raises(ConfigError, match="pods default/o0001: it is no object"):
        Database.open(tmp_path)
    assert number_of(tmp_path) == 1


def test_a_file_of_a_later_format_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    Database.open(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(ConfigError) as error:
        Database.open(tmp_path)
    assert error.value.because == "it is of format 3, and this version reads format 2"
    assert error.value.hint == "use the version of quintant that wrote it, or another --data-dir"
    assert (tmp_path / FILE).read_bytes() == before
