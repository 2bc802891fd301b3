"""The file of a durable store: whole commits, one owner, errors that say what to do."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.cluster.apiserver.storage.file_format import JUMP
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.open_file import FILE
from quintant.cluster.apiserver.storage.sqlite import (
    CommitFailed,
    Database,
    SyncMode,
    Transaction,
)
from quintant.core.errors import ConfigError

State = dict[str, bytes]
KEYS = st.sampled_from(["pods/a/x", "pods/a/y", "pods/b/x", "nodes/n"])
ROWS = st.dictionaries(KEYS, st.none() | st.binary(max_size=2000), min_size=1)
COMMITS = st.lists(st.tuples(ROWS, st.booleans()), min_size=1, max_size=12)


def entry(raw: bytes, rv: int = 1) -> StoredEntry:
    return StoredEntry(raw, rv, {"app": "a"}, {"spec.nodeName": "n"})


def commits(drawn: Sequence[tuple[dict[str, bytes | None], bool]]) -> list[Transaction]:
    return [
        Transaction(
            at,
            {key: None if raw is None else entry(raw, at) for key, raw in rows.items()},
            clear,
        )
        for at, (rows, clear) in enumerate(drawn, 1)
    ]


def states(made: Sequence[Transaction]) -> list[State]:
    """The state after each commit, beginning with nothing."""
    found: list[State] = [{}]
    for commit in made:
        state = {} if commit.clear else dict(found[-1])
        for key, content in commit.rows.items():
            state.pop(key, None)
            if content is not None:
                state[key] = content.raw
        found.append(state)
    return found


def read(folder: Path) -> State:
    database = Database.open(folder)
    try:
        return {key: found.raw for key, found in database.rows()}
    finally:
        database.close()


def crashed(folder: Path, into: Path, cut: int | None = None) -> Path:
    """What a crash leaves of an open file: a copy, its log cut off at a byte."""
    into.mkdir()
    for name in (FILE, f"{FILE}-wal"):
        (into / name).write_bytes((folder / name).read_bytes())
    if cut is not None:
        log = into / f"{FILE}-wal"
        log.write_bytes(log.read_bytes()[:cut])
    return into


@settings(max_examples=25, deadline=None)
@given(drawn=COMMITS, data=st.data())
def test_every_commit_outlives_a_crash_whole(
    drawn: list[tuple[dict[str, bytes | None], bool]], data: st.DataObject
) -> None:
    made = commits(drawn)
    done = data.draw(st.integers(0, len(made)))
    with TemporaryDirectory() as folder:
        database = Database.open(Path(folder) / "live")
        for commit in made[:done]:
            database.commit(commit)
        left = crashed(Path(folder) / "live", Path(folder) / "left")
        database.close()
        assert read(left) == states(made)[done]


@settings(max_examples=25, deadline=None)
@given(drawn=COMMITS, data=st.data())
def test_a_torn_log_leaves_the_state_of_some_commit(
    drawn: list[tuple[dict[str, bytes | None], bool]], data: st.DataObject
) -> None:
    made = commits(drawn)
    with TemporaryDirectory() as folder:
        database = Database.open(Path(folder) / "live")
        log = Path(folder) / "live" / f"{FILE}-wal"
        begun = log.stat().st_size
        for commit in made:
            database.commit(commit)
        cut = data.draw(st.integers(begun, log.stat().st_size))
        left = crashed(Path(folder) / "live", Path(folder) / "left", cut)
        database.close()
        assert read(left) in states(made)


def test_a_row_comes_back_with_what_selects_it(tmp_path: Path) -> None:
    database = Database.open(tmp_path)
    database.commit(Transaction(7, {"pods/a/x": entry(b"raw", 7)}))
    database.close()
    again = Database.open(tmp_path)
    assert list(again.rows()) == [("pods/a/x", entry(b"raw", 7))]
    again.close()


def test_only_the_owner_may_read_what_is_kept(tmp_path: Path) -> None:
    database = Database.open(tmp_path)
    files = (tmp_path / FILE, tmp_path / f"{FILE}-wal")
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    database.close()


def test_every_start_begins_above_all_that_was_seen(tmp_path: Path) -> None:
    seen = []
    for _ in range(3):
        database = Database.open(tmp_path)
        seen.append(database.revision)
        database.commit(Transaction(database.revision + 5, {}))
        database.close()
    assert seen == [0, 5 + JUMP, 10 + 2 * JUMP]


def test_a_second_server_is_refused_and_told_why(tmp_path: Path) -> None:
    module = "quintant.cluster.apiserver.storage.sqlite"
    program = f"from {module} import *; Database.open(Path({str(tmp_path)!r}))"
    first = Database.open(tmp_path)
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert other.stderr.splitlines()[-3:] == [
        f"quintant.core.errors.ConfigError: cannot use {tmp_path / FILE}",
        "because: another server has it open",
        "try: stop that one, or use another --data-dir",
    ]
    first.close()
    read(tmp_path)


def test_a_full_disk_breaks_the_file_and_keeps_what_was_committed(tmp_path: Path) -> None:
    database = Database.open(tmp_path)
    database.commit(Transaction(1, {"pods/a/x": entry(b"kept")}))
    database.connection.execute("PRAGMA max_page_count = 8")
    with pytest.raises(CommitFailed, match="database or disk is full"):
        database.commit(
            Transaction(2, {"pods/a/x": entry(b"x" * 100_000), "pods/a/y": entry(b"y")})
        )
    database.close()
    assert read(tmp_path) == {"pods/a/x": b"kept"}


def test_a_file_of_another_format_is_left_alone(tmp_path: Path) -> None:
    Database.open(tmp_path).close()
    other = sqlite3.connect(tmp_path / FILE)
    other.execute("PRAGMA user_version = 9")
    other.close()
    with pytest.raises(ConfigError, match="of format 9"):
        Database.open(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"something else entirely" * 100)
    with pytest.raises(ConfigError, match="file is not a database"):
        Database.open(tmp_path)


@pytest.mark.parametrize(("sync", "level"), [(SyncMode.NORMAL, 1), (SyncMode.FULL, 2)])
def test_commits_wait_for_the_disk_only_if_asked(
    tmp_path: Path, sync: SyncMode, level: int
) -> None:
    database = Database.open(tmp_path, sync)
    assert database.connection.execute("PRAGMA synchronous").fetchone() == (level,)
    database.close()
