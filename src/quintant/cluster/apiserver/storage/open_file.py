"""etcd bbolt.Open: the file of a store, opened for one process, or why it cannot be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintant.cluster.apiserver.storage.corruption import corrupt_database
from quintant.cluster.apiserver.storage.write_ahead_log import lost_commits
from quintant.core.errors import ConfigError

FILE = "cluster.db"
LOG_SUFFIX = "-wal"
CHECKPOINT_PAGES = 4000
"""Of 4 KB in the write-ahead log before they move to the main file: seldom, and soon done."""

DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Codes of a file that was changed: its pages, or the names in its schema."""


def connect(path: Path) -> sqlite3.Connection:
    """The file for this process alone, in a transaction, nothing in it changed; sqlite3.Error."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    # A key that is no text any more is a damaged row, and no reason to stop reading.
    connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    try:
        # Before the first access: without shared memory the log's index is private, and the lock
        # that the first transaction takes is kept until the file is closed or the process is gone.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute("BEGIN EXCLUSIVE")
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_damaged_log(path: Path) -> None:
    """ConfigError if SQLite would leave out commits of the log that somebody was told of."""
    log = path.with_name(f"{path.name}{LOG_SUFFIX}")
    lost = lost_commits(log.read_bytes()) if log.exists() else 0
    if lost != 0:
        raise corrupt_database(path, log_complaint(log, lost))


def log_complaint(log: Path, lost: int | None) -> str:
    """What is lost with a damaged log."""
    many = "all its commits" if lost is None else f"at least {lost} later commits"
    return f"its log {log.name} is damaged, and {many} cannot be read"


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """ConfigError in place of what SQLite and the file system say."""
    try:
        yield
    except sqlite3.Error as error:
        # Its lowest byte: the others say more of the same.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_BUSY:
            raise in_use(path) from error
        if code in DAMAGED:
            raise corrupt_database(path, str(error)) from error
        raise _unusable(path, str(error)) from error
    except OSError as error:
        raise _unusable(path, str(error)) from error


def in_use(path: Path) -> ConfigError:
    """What to say of a file that is another server's."""
    return ConfigError(
        f"cannot use {path}",
        because="another server has it open",
        hint="stop that one, or use another --data-dir",
    )


def _unusable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"cannot use {path}", because=why, hint="see that it can be written, or use another folder"
    )
