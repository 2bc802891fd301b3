"""The lines of a journal: a block that followed, or the id to which the chain turned.

Each is a JSON object with a checksum, so what is damaged is known, and a line's end tells where the
next one begins. Where even that is damaged, whole records are found by their checksums. Journals
that were written before there were checksums are read as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from quintant.agents.lightpeer.chain.block import Unsound, read, safe, sealed, verified, written
from quintant.wire.lightpeer import Lightblock

_TURN, _HEIGHT, _AFTER = "HEAD", "Height", "After"
_WHOLE = re.compile(rb'\{"(?:ID|HEAD)":.*?,"CRC32":"[0-9a-f]{8}"\}', re.DOTALL)
"""What may be a record, in a line that is none."""


class Added(NamedTuple):
    """A block that follows, and where its object stands in the journal."""

    id: str
    previous: str
    type: int
    at: int
    size: int


class Turned(NamedTuple):
    """The chain ends elsewhere now; every numbered journal begins with where it ended before."""

    head: str
    height: int
    after: str = ""
    """What it follows, if it is a block that has a file of its own and came in its turn."""


class Unread(NamedTuple):
    """Bytes that hold no record."""

    at: int
    size: int
    torn: bool
    """Whether they end the journal, and no line ends them: a write that was never acknowledged."""


Record = Added | Turned | Unread


class _Row(msgspec.Struct):
    """What is read of a line; what a block holds is passed over, for a start reads every line."""

    id: str = msgspec.field(default="", name="ID")
    previous: str = msgspec.field(default="", name="PrevID")
    type: int = msgspec.field(default=0, name="Type")
    head: str | None = msgspec.field(default=None, name=_TURN)
    height: int = msgspec.field(default=0, name=_HEIGHT)
    after: str = msgspec.field(default="", name=_AFTER)


_decode = msgspec.json.Decoder(_Row).decode


def added(block: Lightblock) -> bytes:
    """A block as the object in its line and in its file."""
    return sealed(written(block))


def turned(head: str, height: int, after: str = "") -> bytes:
    """The line of a turn."""
    row = {_TURN: head, _HEIGHT: height, **({_AFTER: after} if after else {})}
    return sealed(json.dumps(row).encode()) + b"\n"


def records(lines: Iterable[bytes], *, strict: bool) -> Iterator[Record]:
    """What lines hold; `strict` if each must have a checksum."""
    at = 0
    for line in lines:
        body = line[:-1] if line.endswith(b"\n") else line
        try:
            yield _record(body, at, strict)
        except Unsound:
            yield from _salvaged(line, at)
        at += len(line)


def _salvaged(line: bytes, start: int) -> Iterator[Record]:
    """The whole records in a line that is none, and what is between them."""
    position = done = 0
    while (found := _WHOLE.search(line, position)) is not None:
        try:
            record = _record(found[0], start + found.start(), True)
        except Unsound:
            position = found.start() + 1
            continue
        if found.start() > done:
            yield Unread(start + done, found.start() - done, torn=False)
        yield record
        position = done = found.end()
    if line[done:].strip():
        yield Unread(start + done, len(line) - done, torn=not line.endswith(b"\n"))


def _record(body: bytes, at: int, strict: bool) -> Added | Turned:
    if not verified(body):
        if strict:
            raise Unsound("there is no checksum")
        return _old(body, at)
    row = _read_row(body)
    if row.head is not None:
        return _turn(row.head, row)
    if not row.id:
        raise Unsound("the line names no block")
    return Added(row.id, row.previous, row.type, at, len(body))


def _old(body: bytes, at: int) -> Added | Turned:
    row = _read_row(body)
    if row.head is not None:
        return _turn(row.head, row)
    block = read(body)
    return Added(block.id, block.previous, block.type, at, len(body))


def _turn(head: str, row: _Row) -> Turned:
    if not all(not each or safe(each) for each in (head, row.after)):
        raise Unsound("the line names no block")
    return Turned(head, row.height, row.after)


def _read_row(body: bytes) -> _Row:
    try:
        return _decode(body)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors.
        raise Unsound("the line is not whole") from None
