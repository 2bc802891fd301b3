"""etcd schema.Migrate: the tables of a file, and how one of an earlier format gets them.

    kv(key, rv, val, crc)                   a row per object: "<table>/<key>", its bytes with what
                                            selects it, and a checksum
    meta(revision, rows, digest, crc)       the revision of the last commit, deletions included, or
                                            of the last start; how many rows, their checksums' sum

Format 1 had no checksums. A file is upgraded in the transaction of its first start: killed in the
middle it is of format 1, whole. Nothing goes back: an earlier version refuses format 2 by number.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from quintant.cluster.apiserver.storage.row_checksum import Totals, row_checksum
from quintant.core.errors import ConfigError

FORMAT = 2
"""The layout of tables and values, in the file's `user_version`; 0 is a file that is new."""
UNCHECKED_FORMAT = 1
"""Rows without checksums."""
JUMP = 1_000_000
"""Revisions skipped at every start: more than a power failure can take from the end of the log, so
that a revision somebody may have seen is never given out for another state."""

_FIRST = Totals(-JUMP, 0, 0)
_CREATE = (
    "CREATE TABLE kv(key TEXT PRIMARY KEY NOT NULL, rv INTEGER NOT NULL, val BLOB NOT NULL, "
    "crc INTEGER NOT NULL)",
    "CREATE TABLE meta(revision INTEGER NOT NULL, rows INTEGER NOT NULL, digest INTEGER NOT NULL, "
    "crc INTEGER NOT NULL)",
    f"INSERT INTO meta VALUES ({_FIRST.revision}, 0, 0, {_FIRST.checksum})",
    f"PRAGMA user_version = {FORMAT}",
)
_UPGRADE = (
    "ALTER TABLE kv ADD COLUMN crc INTEGER NOT NULL DEFAULT 0",
    "UPDATE kv SET crc = row_checksum(key, rv, val)",
    "ALTER TABLE meta ADD COLUMN rows INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE meta ADD COLUMN digest INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE meta ADD COLUMN crc INTEGER NOT NULL DEFAULT 0",
    "UPDATE meta SET rows = (SELECT count(*) FROM kv), "
    "digest = (SELECT coalesce(sum(crc), 0) FROM kv)",
    f"PRAGMA user_version = {FORMAT}",
)


def file_format(connection: sqlite3.Connection) -> int:
    """The format of an open file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check_format(path: Path, number: int) -> None:
    """ConfigError for a file that this version cannot read."""
    if number in (0, UNCHECKED_FORMAT, FORMAT):
        return
    raise ConfigError(
        f"cannot use {path}",
        because=f"it is of format {number}, and this version reads format {FORMAT}",
        hint="use the version of quintant that wrote it, or another --data-dir",
    )


def create_tables(connection: sqlite3.Connection) -> None:
    """Make a new file one of ours, in the transaction that is open."""
    for statement in _CREATE:
        connection.execute(statement)


def upgrade(connection: sqlite3.Connection) -> None:
    """Give every row of format 1 its checksum, in the transaction that is open."""
    connection.create_function("row_checksum", 3, row_checksum, deterministic=True)
    for statement in _UPGRADE:
        connection.execute(statement)
    write_totals(connection, Totals(*connection.execute(_TOTALS).fetchone()))


_TOTALS = "SELECT revision, rows, digest FROM meta"


def read_totals(connection: sqlite3.Connection) -> Totals | None:
    """What the file says of itself; None if that is not what was written."""
    found = connection.execute("SELECT revision, rows, digest, crc FROM meta").fetchall()
    if len(found) != 1 or not all(isinstance(value, int) for value in found[0]):
        return None
    *numbers, checksum = found[0]
    totals = Totals(*numbers)
    return totals if totals.checksum == checksum else None


def write_totals(connection: sqlite3.Connection, totals: Totals) -> None:
    """Keep what the file says of itself, in the transaction that is open."""
    connection.execute(
        "UPDATE meta SET revision = ?, rows = ?, digest = ?, crc = ?", (*totals, totals.checksum)
    )
