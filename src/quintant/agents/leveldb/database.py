"""One key of a database that others may be writing: its value, or Unreadable.

The logs have the newest changes; then tables of level 0, which overlap, then one of each level
below. Whoever writes the database may exchange its files meanwhile: if its manifest grew while we
read, what we read is not believed, and read again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from quintant.agents.leveldb.errors import Unreadable
from quintant.agents.leveldb.log_file import LogRecord, read_records
from quintant.agents.leveldb.manifest import LevelState, TableEntry, read_manifest
from quintant.agents.leveldb.table_file import find_newest
from quintant.agents.leveldb.write_batch import KeyChange, read_batch

TRIES = 5
"""How often a database that changes under our eyes is read."""
_LOG = re.compile(r"([0-9]+)\.log")
_CURRENT = re.compile(r"MANIFEST-[0-9]+")

Stamp = tuple[str, int]
"""The manifest in use, and its size."""


class _Changed(Exception):
    """Somebody wrote while we read."""


def read_key(folder: Path, key: bytes) -> bytes | None:
    """The value of a key; None if it has none. Unreadable if that cannot be said for certain."""
    for _ in range(TRIES):
        try:
            return _read(folder, key)
        except _Changed:
            continue
        except OSError as error:
            raise Unreadable(f"{folder.name}: {error.strerror or error}") from None
    raise Unreadable(f"{folder.name} changes faster than it can be read")


def _read(folder: Path, key: bytes) -> bytes | None:
    stamp, data = _manifest(folder)
    try:
        found = _newest(folder, read_manifest(data), key)
    except (Unreadable, FileNotFoundError):
        if _stamp(folder) != stamp:
            raise _Changed from None
        raise
    if _stamp(folder) != stamp:
        raise _Changed
    return found.value if found is not None else None


def _manifest(folder: Path) -> tuple[Stamp, bytes]:
    """The manifest as far as it is written now."""
    name = _current(folder)
    data = (folder / name).read_bytes()
    return (name, len(data)), data


def _stamp(folder: Path) -> Stamp:
    try:
        name = _current(folder)
        return name, os.stat(folder / name).st_size
    except FileNotFoundError:
        return "", 0


def _current(folder: Path) -> str:
    name = (folder / "CURRENT").read_bytes().decode("ascii", "replace").strip()
    if not _CURRENT.fullmatch(name):
        raise Unreadable(f"{folder.name}: CURRENT names no manifest")
    return name


def _newest(folder: Path, state: LevelState, key: bytes) -> KeyChange | None:
    for found in (_in_logs(folder, state, key), _in_tables(folder, state, key)):
        if found is not None:
            return found
    return None


def _in_logs(folder: Path, state: LevelState, key: bytes) -> KeyChange | None:
    numbered = {
        int(named[1]): folder / name
        for name in os.listdir(folder)
        if (named := _LOG.fullmatch(name)) and state.counts_log(int(named[1]))
    }
    if state.log_number and state.log_number not in numbered:
        raise Unreadable(f"{folder.name}: the log {state.log_number} is missing")
    for number in sorted(numbered, reverse=True):
        records = list(read_records(numbered[number].read_bytes()))
        if (found := _in_records(records, key)) is not None:
            return found
    return None


def _in_records(records: list[LogRecord], key: bytes) -> KeyChange | None:
    """The last change of a key; from the last record back to it every one is verified."""
    for record in reversed(records):
        record.verify()
        if key in record.data:
            changes = [each for each in read_batch(record.data) if each.key == key]
            if changes:
                return changes[-1]
    return None


def _in_tables(folder: Path, state: LevelState, key: bytes) -> KeyChange | None:
    for level in sorted(state.levels):
        found = [
            change
            for table in state.tables(level)
            if table.spans(key) and (change := _in_table(folder, table, key)) is not None
        ]
        if found:
            return max(found, key=lambda change: change.sequence)
    return None


def _in_table(folder: Path, table: TableEntry, key: bytes) -> KeyChange | None:
    for path in _names(folder, table.number):
        if path.exists():
            with path.open("rb") as file:
                return find_newest(file, table.size, key)
    raise Unreadable(f"{folder.name}: the table {table.number} is missing")


def _names(folder: Path, number: int) -> Iterator[Path]:
    for end in ("ldb", "sst"):
        yield folder / f"{number:06}.{end}"
