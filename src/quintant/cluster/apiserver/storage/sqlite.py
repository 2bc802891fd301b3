"""etcd backend.Backend: the file of a durable store: rows by key and a revision, in SQLite.

A commit is one transaction: after a crash the file holds the state after some commit, whole. The
file is locked for as long as it is open, so that two servers never share one. Every failure to
write is `CommitFailed`: what a failed commit left behind is unknown, so nobody may go on from
there. Every row has a checksum, and so has their whole: what was not written is not read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from quintant.cluster.apiserver.storage.corruption import (
    CorruptRow,
    corrupt_database,
    examine,
    integrity_complaint,
    read_entry,
    totals_complaint,
)
from quintant.cluster.apiserver.storage.data_folder import claim_data_folder
from quintant.cluster.apiserver.storage.file_format import (
    JUMP,
    UNCHECKED_FORMAT,
    check_format,
    create_tables,
    file_format,
    read_totals,
    upgrade,
    write_totals,
)
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.open_file import (
    FILE,
    connect,
    explained,
    refuse_damaged_log,
)
from quintant.cluster.apiserver.storage.row_checksum import Totals, row_checksum
from quintant.core.errors import ConfigError, QuintantError, error_text
from quintant.keys.private_files import FILE_MODE

_PUT = (
    "INSERT INTO kv VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET rv = ?2, val = ?3, crc = ?4"
)
_REPLACED = (
    "SELECT count(*), coalesce(sum(crc), 0) FROM kv WHERE key IN (SELECT value FROM json_each(?))"
)
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

    def __init__(self, path: Path, connection: sqlite3.Connection, totals: Totals) -> None:
        self.path = path
        self.connection = connection
        self.totals: Totals = totals

    @classmethod
    def open(cls, folder: Path, sync: SyncMode = SyncMode.NORMAL) -> Database:
        """Open or make the file in a folder; ConfigError if that cannot be, or somebody has it."""
        path = folder / FILE
        with explained(path):
            claim_data_folder(folder, FILE)
            refuse_damaged_log(path)
            path.touch(FILE_MODE)  # SQLite gives its log the mode of the file
            connection = connect(path)
            try:
                totals = _prepare(path, connection, sync)
            except BaseException:
                connection.close()
                raise
        return cls(path, connection, totals)

    @property
    def revision(self) -> int:
        """The revision of the last commit; just opened, one that nobody has seen."""
        return self.totals.revision

    def rows(self) -> Iterator[tuple[str, StoredEntry]]:
        """Every row, in the order of keys; ConfigError names those that are not as written."""
        count = digest = 0
        for columns in self._stored():
            entry = read_entry(*columns)
            if isinstance(entry, CorruptRow):
                raise self._corrupt(str(entry))
            count, digest = count + 1, digest + columns[3]
            yield columns[0], entry
        if complaint := totals_complaint(self.totals, (count, digest)):
            raise self._corrupt(complaint)

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
        before = Totals(0, 0, 0) if commit.clear else self.totals
        replaced = execute(_REPLACED, (_json.encode([*commit.rows]),)).fetchone()
        rows = [_row(key, entry) for key, entry in commit.rows.items() if entry is not None]
        many(_REMOVE, [(key,) for key, entry in commit.rows.items() if entry is None])
        many(_PUT, rows)
        totals = Totals(
            commit.revision,
            before.rows - replaced[0] + len(rows),
            before.digest - replaced[1] + sum(row[3] for row in rows),
        )
        write_totals(self.connection, totals)
        execute("COMMIT")
        self.totals = totals

    def _stored(self) -> Iterator[tuple[Any, ...]]:
        query = "SELECT key, rv, val, crc FROM kv ORDER BY key"
        try:
            yield from self.connection.execute(query)
        except sqlite3.Error as error:
            raise self._corrupt(str(error)) from error

    def _corrupt(self, complaint: str) -> ConfigError:
        """With the names of all objects that were hit, as far as they are known."""
        found = examine(self.connection, lambda entry: True)
        return corrupt_database(self.path, found.summary or complaint)


_encoder = msgspec.msgpack.Encoder()
_json = msgspec.json.Encoder()


def _row(key: str, entry: StoredEntry) -> tuple[str, int, bytes, int]:
    value = _encoder.encode((entry.raw, entry.labels, entry.field_values))
    return key, entry.rv, value, row_checksum(key, entry.rv, value)


def _prepare(path: Path, connection: sqlite3.Connection, sync: SyncMode) -> Totals:
    """See that the file is ours and whole, bring it to this format, and start above all seen."""
    number = file_format(connection)
    check_format(path, number)
    if complaint := integrity_complaint(connection):
        found = examine(connection, lambda entry: True) if number else None
        raise corrupt_database(path, (found and found.summary) or complaint)
    if number == 0:
        create_tables(connection)
    elif number == UNCHECKED_FORMAT:
        found = examine(connection, lambda entry: True)
        if not found.whole:
            raise corrupt_database(path, found.summary)
        upgrade(connection)
    totals = read_totals(connection)
    if totals is None:
        raise corrupt_database(path, totals_complaint(totals, (0, 0)))
    # The jump has to be on the disk before anybody sees a revision above it.
    totals = totals._replace(revision=totals.revision + JUMP)
    write_totals(connection, totals)
    connection.execute("COMMIT")
    connection.execute(f"PRAGMA synchronous = {sync.value}")
    return totals
