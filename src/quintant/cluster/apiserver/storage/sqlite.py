"""etcd backend.Backend: the file of a durable store: rows by key and a revision, in SQLite.

    kv(key, rv, val)    a row per object: "<table>/<key>", and its bytes with what selects it
    meta(revision)      the revision of the last commit, deletions included, or of the last start

A commit is one transaction: after a crash the file holds the state after some commit, whole. The
file is locked for as long as it is open, so that two servers never share one. Every failure to
write is `CommitFailed`: what a failed commit left behind is unknown, so nobody may go on from
there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import msgspec

from quintant.cluster.apiserver.storage.data_folder import claim_data_folder
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.errors import ConfigError, QuintantError, error_text
from quintant.keys.private_files import FILE_MODE

FILE = "cluster.db"
FORMAT = 1
"""The layout of this module's tables and values, in the file's `user_version`."""
CHECKPOINT_PAGES = 4000
"""Of 4 KB in the write-ahead log before they move to the main file: seldom, and soon done."""

JUMP = 1_000_000
"""Revisions skipped at every start: more than a power failure can take from the end of the log, so
that a revision somebody may have seen is never given out for another state."""

_SCHEMA = (
    "CREATE TABLE kv(key TEXT PRIMARY KEY NOT NULL, rv INTEGER NOT NULL, val BLOB NOT NULL)",
    "CREATE TABLE meta(revision INTEGER NOT NULL)",
    f"INSERT INTO meta VALUES (-{JUMP})",
    f"PRAGMA user_version = {FORMAT}",
)
_PUT = "INSERT INTO kv VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET rv = ?2, val = ?3"
_REMOVE = "DELETE FROM kv WHERE key = ?"


class SyncMode(Enum):
    """What a commit outlives."""

    NORMAL = "NORMAL"
    """The end of the process, kill -9 included; a power failure may take the last commits."""
    FULL = "FULL"
    """A power failure, too: every commit waits for the disk."""


class CommitFailed(QuintantError):
    """A commit failed; the process must end, and a restart goes on from the last good commit."""

    def __init__(self, path: Path, why: str) -> None:
        hint = "free space or repair the disk, then start again: what was acknowledged is kept"
        super().__init__(error_text(f"cannot write to {path}, stopping", why, hint))


@dataclass(frozen=True, slots=True)
class Transaction:
    """What to write in one transaction; an entry of None removes the row."""

    revision: int
    rows: Mapping[str, StoredEntry | None]
    clear: bool = False
    """Whether every earlier row goes first."""


class Database:
    """The open file. Not to be used by two threads at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self.connection = path, connection

    @classmethod
    def open(cls, folder: Path, sync: SyncMode = SyncMode.NORMAL) -> Database:
        """Open or make the file in a folder; ConfigError if that cannot be, or somebody has it."""
        path = folder / FILE
        with _explained(path):
            claim_data_folder(folder, FILE)
            path.touch(FILE_MODE)  # SQLite gives its log the mode of the file
            connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(path, connection, sync)
            except BaseException:
                connection.close()
                raise
        return cls(path, connection)

    @property
    def revision(self) -> int:
        """The revision of the last commit; just opened, one that nobody has seen."""
        found = self.connection.execute("SELECT revision FROM meta").fetchone()
        return int(found[0])

    def rows(self) -> Iterator[tuple[str, StoredEntry]]:
        """Every row, in the order of keys; ConfigError names the first that cannot be read."""
        key = ""
        try:
            for key, rv, val in self.connection.execute("SELECT key, rv, val FROM kv ORDER BY key"):
                yield key, _entry(rv, val)
        except sqlite3.Error as error:
            raise corrupt_database(
                self.path, f"the rows after {key!r} cannot be read: {error}"
            ) from error
        except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
            raise corrupt_database(
                self.path, f"the row {key!r} of table kv is no object: {error}"
            ) from error

    def commit(self, commit: Transaction) -> None:
        """Write everything or nothing; Broken unless it is safe when this returns."""
        try:
            self._write(commit)
        except sqlite3.Error as error:
            raise CommitFailed(self.path, str(error)) from error

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def _write(self, commit: Transaction) -> None:
        execute, many = self.connection.execute, self.connection.executemany
        execute("BEGIN")
        if commit.clear:
            execute("DELETE FROM kv")
        kept = [(key, entry) for key, entry in commit.rows.items() if entry is not None]
        many(_REMOVE, [(key,) for key, entry in commit.rows.items() if entry is None])
        many(_PUT, [(key, entry.rv, _value(entry)) for key, entry in kept])
        execute("UPDATE meta SET revision = ?", (commit.revision,))
        execute("COMMIT")


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[bytes, dict[str, str], dict[str, str]])


def _entry(rv: int, val: bytes) -> StoredEntry:
    raw, labels, values = _decoder.decode(val)
    return StoredEntry(raw, rv, labels, values)


def corrupt_database(path: Path, why: str) -> ConfigError:
    """What to say of a file of ours with something in it that nobody wrote."""
    return ConfigError(
        f"cannot use {path}",
        because=why,
        hint=f"restore a copy of {path.parent}, or remove that row with sqlite3 and start again",
    )


def _value(entry: StoredEntry) -> bytes:
    return _encoder.encode((entry.raw, entry.labels, entry.field_values))


def _prepare(path: Path, connection: sqlite3.Connection, sync: SyncMode) -> None:
    """Lock the file and see that it is ours."""
    execute = connection.execute
    # Before the first access: without shared memory the log's index is private, and the lock that
    # the first transaction takes is kept until the file is closed or the process is gone.
    execute("PRAGMA locking_mode = EXCLUSIVE")
    execute("PRAGMA journal_mode = WAL")
    execute("PRAGMA synchronous = FULL")
    execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    execute("BEGIN EXCLUSIVE")
    found = execute("PRAGMA user_version").fetchone()[0]
    if found not in (0, FORMAT):
        raise ConfigError(
            f"cannot use {path}",
            because=f"it is of format {found}, and this version reads format {FORMAT}",
            hint="use the version of quintant that wrote it, or another --data-dir",
        )
    for statement in _SCHEMA if found == 0 else ():
        execute(statement)
    # The jump has to be on the disk before anybody sees a revision above it.
    execute("UPDATE meta SET revision = revision + ?", (JUMP,))
    execute("COMMIT")
    execute(f"PRAGMA synchronous = {sync.value}")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise _unusable(path, str(error)) from error
        raise ConfigError(
            f"cannot use {path}",
            because="another server has it open",
            hint="stop that one, or use another --data-dir",
        ) from error
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, str(error)) from error


def _unusable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"cannot use {path}", because=why, hint="see that it can be written, or use another folder"
    )
