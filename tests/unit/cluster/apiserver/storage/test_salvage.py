"""What cannot be read is set aside, the rest goes on, and looking changes nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.open_file import FILE, LOG_SUFFIX
from quintant.cluster.apiserver.storage.salvage import examine_folder, salvage
from quintant.cluster.apiserver.storage.sqlite import Database, Transaction
from quintant.core.errors import ConfigError
from unit.cluster.apiserver.storage.stored_rows import (
    damage,
    flip,
    load,
    sample,
    store,
    store_format_1,
)

ROWS = sample(200)
HIT = "configmaps/default/o0004"
REST = {key: row for key, row in ROWS.items() if key != HIT}
KILLED = """
import os, signal, sys
from pathlib import Path
from quintant.cluster.apiserver.storage.salvage import salvage

def look(frame, event, argument):
    if event == "call" and frame.f_code.co_name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(look)
salvage(Path(sys.argv[1]), lambda entry: True)
"""


def anything(entry: StoredEntry) -> bool:
    return True


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def page_of(folder: Path, text: bytes) -> int:
    """The page of the main file that has a text."""
    return (folder / FILE).read_bytes().index(text) // 4096


def test_a_whole_file_is_left_as_it_is(tmp_path: Path) -> None:
    before = files(store(tmp_path, ROWS))
    found, aside = salvage(tmp_path, anything)
    assert (found.whole, aside, found.rows) == (True, None, ROWS)
    assert files(tmp_path) == before


def test_a_damaged_row_is_kept_aside_and_the_rest_goes_on(tmp_path: Path) -> None:
    damage(store(tmp_path, ROWS), HIT)
    before, seen = files(tmp_path)[FILE], 400
    found, aside = salvage(tmp_path, anything)
    assert [row.object_name for row in found.corrupt] == ["configmaps default/o0004"]
    assert aside == tmp_path / "corrupt-1"
    assert (aside / FILE).read_bytes() == before
    assert aside.stat().st_mode & 0o077 == 0
    report = json.loads((aside / "rows.json").read_text())
    assert report["rows"][0]["object"] == "configmaps default/o0004"
    assert load(tmp_path) == REST
    database = Database.open(tmp_path)
    assert database.revision > seen
    database.close()


def test_a_second_salvage_keeps_the_first(tmp_path: Path) -> None:
    store(tmp_path, ROWS)
    for at, key in enumerate(list(ROWS)[:2], 1):
        damage(tmp_path, key)
        assert salvage(tmp_path, anything)[1] == tmp_path / f"corrupt-{at}"
    assert load(tmp_path) == dict(list(ROWS.items())[2:])


def test_rows_of_a_page_that_cannot_be_read_are_named_and_the_others_saved(tmp_path: Path) -> None:
    store(tmp_path, ROWS)
    page = page_of(tmp_path, b'","name":"o100"')
    flip(tmp_path / FILE, page * 4096 * 8 + 3)  # the kind of the page
    with pytest.raises(ConfigError, match="its page cannot be read"):
        load(tmp_path)
    found, _ = salvage(tmp_path, anything)
    lost = {row.key for row in found.corrupt}
    assert "configmaps/default/o0100" in lost
    assert len(lost) < 20
    assert load(tmp_path) == {key: row for key, row in ROWS.items() if key not in lost}


def test_a_damaged_log_is_refused_until_salvage_goes_on_without_its_end(tmp_path: Path) -> None:
    live, left = tmp_path / "live", tmp_path / "left"
    database = Database.open(live)
    for at in range(4):
        database.commit(Transaction(at + 1, sample(5, at * 5)))
    left.mkdir(mode=0o700)
    for name, content in files(live).items():
        (left / name).write_bytes(content)
    database.close()
    log = left / f"{FILE}{LOG_SUFFIX}"
    flip(log, log.stat().st_size * 8 - 4096 * 8 * 6)
    with pytest.raises(ConfigError, match=r"its log cluster\.db-wal is damaged"):
        load(left)
    found, aside = salvage(left, anything)
    assert aside is not None
    assert (aside / f"{FILE}{LOG_SUFFIX}").exists()
    assert load(left) == found.rows


@pytest.mark.parametrize("call", ["_keep_aside", "_write", "commit", "_close_log", "_sync"])
def test_a_salvage_that_is_killed_can_be_run_again(tmp_path: Path, call: str) -> None:
    folder = tmp_path / "data"
    damage(store(folder, ROWS), HIT)
    ran = subprocess.run([sys.executable, "-c", KILLED, str(folder), call], check=False)
    assert ran.returncode == -signal.SIGKILL
    salvage(folder, anything)
    assert load(folder) == REST


def test_a_file_without_checksums_is_looked_at_by_what_it_holds(tmp_path: Path) -> None:
    store_format_1(tmp_path, ROWS)
    found, aside = salvage(tmp_path, lambda entry: b'"o4"' not in entry.raw)
    assert [str(row) for row in found.corrupt] == ["configmaps default/o0004: it is no object"]
    assert aside is not None
    assert load(tmp_path) == REST


def test_looking_changes_nothing_and_needs_a_cluster_that_does_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    program = (
        "from pathlib import Path; from quintant.cluster.apiserver.storage.salvage import *; "
        f"examine_folder(Path({str(folder)!r}), lambda entry: True)"
    )
    database = Database.open(folder)
    database.commit(Transaction(1, ROWS))
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "because: another server has it open" in ran.stderr
    left = tmp_path / "left"
    left.mkdir(mode=0o700)
    for name, content in files(folder).items():
        (left / name).write_bytes(content)
    database.close()
    before = files(left)
    assert examine_folder(left, anything).rows == ROWS
    assert files(left) == before


def test_a_folder_without_a_cluster_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no cluster\.db in it"):
        examine_folder(tmp_path, anything)
    assert salvage(tmp_path, anything)[1] is None


def test_a_file_of_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    store(tmp_path, ROWS)
    (tmp_path / FILE).write_bytes(b"\0" * 4096 + (tmp_path / FILE).read_bytes()[4096:])
    with pytest.raises(ConfigError, match=r"not a database"):
        salvage(tmp_path, anything)
