"""etcd CorruptionChecker: which rows of a file are not what was written.

A row is good if it has its checksum, can be decoded, and the caller can read what is in it. What
SQLite cannot reach any more (a damaged page) is named by its index, as far as that can be read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from quintant.cluster.apiserver.storage.file_format import (
    FORMAT,
    UNCHECKED_FORMAT,
    file_format,
    read_totals,
)
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.row_checksum import Totals, row_checksum
from quintant.core.errors import ConfigError

Readable = Callable[[StoredEntry], bool]
"""Whether an entry is an object that can be served."""
MOST_NAMED = 3
"""Objects in an error; `quintant check` names all."""

_COLUMNS = {FORMAT: "key, rv, val, crc", UNCHECKED_FORMAT: "key, rv, val, NULL"}
_decoder = msgspec.msgpack.Decoder(tuple[bytes, dict[str, str], dict[str, str]])


class CorruptRow(NamedTuple):
    """An object that is not what was written."""

    key: str
    reason: str
    value: bytes = b""
    """What there is of it."""

    @property
    def object_name(self) -> str:
        """As `configmaps default/a`."""
        table, _, name = self.key.partition("/")
        return " ".join(
            part.encode(errors="backslashreplace").decode() for part in (table, name) if part
        )

    def __str__(self) -> str:
        return f"{self.object_name}: {self.reason}"


class Examination(NamedTuple):
    """What is in a file: rows that are good, rows that are not, and what is wrong beside rows."""

    format: int
    totals: Totals | None
    rows: dict[str, StoredEntry]
    corrupt: tuple[CorruptRow, ...]
    complaints: tuple[str, ...]

    @property
    def whole(self) -> bool:
        return not (self.corrupt or self.complaints)

    @property
    def summary(self) -> str:
        """One line, however much is wrong."""
        parts = [str(row) for row in self.corrupt] or [*self.complaints]
        more = len(parts) - MOST_NAMED
        return "; ".join(parts[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def read_entry(key: Any, rv: Any, val: Any, crc: Any) -> StoredEntry | CorruptRow:
    """A row, if it is as it was written; without a checksum (format 1), if it can be decoded."""
    if not (isinstance(key, str) and isinstance(rv, int) and isinstance(val, bytes)):
        return CorruptRow(str(key), "its columns are of other types")
    if crc is not None and crc != row_checksum(key, rv, val):
        return CorruptRow(key, "its checksum is of something else", val)
    try:
        raw, labels, values = _decoder.decode(val)
    except (msgspec.MsgspecError, UnicodeError) as error:
        return CorruptRow(key, f"it is no object: {error}", val)
    return StoredEntry(raw, rv, labels, values)


def examine(connection: sqlite3.Connection, readable: Readable) -> Examination:
    """Read all that can be read of a file of formats 1 and 2; nothing in it changes."""
    number = file_format(connection)
    rows: dict[str, StoredEntry] = {}
    corrupt: dict[str, CorruptRow] = {}
    complaints = list(_complaints(connection))
    for columns in _reachable(connection, _COLUMNS[number], complaints):
        entry = read_entry(*columns)
        if isinstance(entry, StoredEntry) and not readable(entry):
            entry = CorruptRow(columns[0], "it is no object", columns[2])
        if isinstance(entry, CorruptRow):
            corrupt[entry.key] = entry
        else:
            rows[columns[0]] = entry
    for key in _indexed_keys(connection, complaints) - {*rows, *corrupt}:
        corrupt[key] = CorruptRow(key, "its page cannot be read")
    totals = _totals(connection, number, complaints if not corrupt else [])
    ordered = tuple(corrupt[key] for key in sorted(corrupt))
    return Examination(number, totals, rows, ordered, tuple(dict.fromkeys(complaints)))


def corrupt_database(path: Path, why: str) -> ConfigError:
    """What to say of a file of ours with something in it that nobody wrote."""
    folder = path.parent
    return ConfigError(
        f"cannot use {path}",
        because=why,
        hint=f"quintant check {folder} names all of it; restore a copy of {folder}, "
        "or start with --salvage, which goes on without it and keeps it aside",
    )


def integrity_complaint(connection: sqlite3.Connection) -> str:
    """What SQLite finds wrong with pages and index first, or nothing."""
    return next(_complaints(connection), "")


def _complaints(connection: sqlite3.Connection) -> Iterator[str]:
    try:
        text = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        text = str(error)
    if text != "ok":
        yield " ".join(text.split())


def _reachable(
    connection: sqlite3.Connection, columns: str, complaints: list[str]
) -> Iterator[tuple[Any, ...]]:
    """The rows from the first on, and from the last backwards, as far as pages can be read."""
    last = None
    for order in ("ASC", "DESC"):
        bound = "" if last is None else f"WHERE rowid > {last}"
        query = f"SELECT rowid, {columns} FROM kv NOT INDEXED {bound} ORDER BY rowid {order}"
        try:
            for rowid, *values in connection.execute(query):
                last = rowid if order == "ASC" else last
                yield tuple(values)
        except sqlite3.Error as error:
            complaints.append(str(error))
        else:
            return


def _indexed_keys(connection: sqlite3.Connection, complaints: list[str]) -> set[str]:
    keys: set[str] = set()
    try:
        for (key,) in connection.execute("SELECT key FROM kv ORDER BY key"):
            keys.add(str(key))
    except sqlite3.Error as error:
        complaints.append(str(error))
    return keys


def _totals(connection: sqlite3.Connection, number: int, complaints: list[str]) -> Totals | None:
    if number == UNCHECKED_FORMAT:
        return None
    try:
        totals, counted = read_totals(connection), row_totals(connection)
    except sqlite3.Error as error:
        complaints.append(str(error))
        return None
    if complaint := totals_complaint(totals, counted):
        complaints.append(complaint)
    return totals


def totals_complaint(totals: Totals | None, counted: tuple[int, int]) -> str:
    """What is wrong with rows as a whole, or nothing."""
    if totals is None:
        return "the row of table meta is not what was written"
    if totals.rows != counted[0]:
        return f"there are {counted[0]} objects, and {totals.rows} were written"
    return "" if totals.digest == counted[1] else "some objects are from an earlier commit"


def row_totals(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many rows there are, and the sum of their checksums."""
    query = "SELECT count(*), coalesce(sum(crc), 0) FROM kv NOT INDEXED"
    count, digest = connection.execute(query).fetchone()
    return int(count), int(digest)
