"""A manifest: a log of edits that say which tables and logs of a folder count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from quintant.agents.leveldb.errors import Unreadable
from quintant.agents.leveldb.log_file import read_records
from quintant.agents.leveldb.varints import read_bytes, read_number, written_bytes
from quintant.wire.protobuf import varint

COMPARATOR = b"leveldb.BytewiseComparator"
_COMPARATOR, _LOG, _NEXT, _LAST, _POINTER, _DELETED, _NEW, _PREVIOUS = 1, 2, 3, 4, 5, 6, 7, 9


class TableEntry(NamedTuple):
    """A table that counts, and what it spans."""

    number: int
    size: int
    smallest: bytes
    """The first internal key."""
    largest: bytes

    def spans(self, key: bytes) -> bool:
        """Whether a user's key may be in it."""
        return self.smallest[:-8] <= key <= self.largest[:-8]


@dataclass(slots=True)
class LevelState:
    """Which files count, after all edits."""

    log_number: int = 0
    previous_log: int = 0
    levels: dict[int, dict[int, TableEntry]] = field(default_factory=dict)

    def counts_log(self, number: int) -> bool:
        """Whether a log has changes that are in no table."""
        return number >= self.log_number or (self.previous_log > 0 and number == self.previous_log)

    def tables(self, level: int) -> Iterable[TableEntry]:
        """The tables of a level."""
        return self.levels.get(level, {}).values()


def read_manifest(data: bytes) -> LevelState:
    """The state that a manifest describes; every record of it is verified."""
    state, seen = LevelState(), False
    for record in read_records(data):
        record.verify()
        _apply(state, record.data)
        seen = True
    if not seen:
        raise Unreadable("the manifest is empty")
    return state


def encode_manifest_edit(log_number: int, next_file: int, last_sequence: int) -> bytes:
    """The edit of a new database without tables."""
    numbers = ((_LOG, log_number), (_NEXT, next_file), (_LAST, last_sequence))
    compared = varint(_COMPARATOR) + written_bytes(COMPARATOR)
    return compared + b"".join(varint(tag) + varint(value) for tag, value in numbers)


def _apply(state: LevelState, edit: bytes) -> None:
    at = 0
    while at < len(edit):
        tag, at = read_number(edit, at)
        if (read := _FIELDS.get(tag)) is None:
            raise Unreadable(f"the manifest has a field {tag}, which LevelDB has not")
        at = read(state, edit, at)


def _compared(state: LevelState, edit: bytes, at: int) -> int:
    name, at = read_bytes(edit, at)
    if name != COMPARATOR:
        raise Unreadable("keys are in an order of somebody's own")
    return at


def _log(state: LevelState, edit: bytes, at: int) -> int:
    state.log_number, at = read_number(edit, at)
    return at


def _previous(state: LevelState, edit: bytes, at: int) -> int:
    state.previous_log, at = read_number(edit, at)
    return at


def _ignored(state: LevelState, edit: bytes, at: int) -> int:
    return read_number(edit, at)[1]


def _pointer(state: LevelState, edit: bytes, at: int) -> int:
    return read_bytes(edit, read_number(edit, at)[1])[1]


def _deleted(state: LevelState, edit: bytes, at: int) -> int:
    level, at = read_number(edit, at)
    number, at = read_number(edit, at)
    state.levels.setdefault(level, {}).pop(number, None)
    return at


def _new(state: LevelState, edit: bytes, at: int) -> int:
    level, at = read_number(edit, at)
    number, at = read_number(edit, at)
    size, at = read_number(edit, at)
    smallest, at = read_bytes(edit, at)
    largest, at = read_bytes(edit, at)
    if min(len(smallest), len(largest)) < 8:
        raise Unreadable("the manifest has a key that is too short")
    state.levels.setdefault(level, {})[number] = TableEntry(number, size, smallest, largest)
    return at


_FIELDS: dict[int, Callable[[LevelState, bytes, int], int]] = {
    _COMPARATOR: _compared,
    _LOG: _log,
    _NEXT: _ignored,
    _LAST: _ignored,
    _POINTER: _pointer,
    _DELETED: _deleted,
    _NEW: _new,
    _PREVIOUS: _previous,
}
