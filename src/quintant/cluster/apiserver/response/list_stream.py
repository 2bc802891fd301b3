"""StreamingCollectionEncodingToJSON: large lists, encoded while they are sent.

A list of many megabytes is never one document here: writing it would stall everybody else, and
keep it in memory twice. What it holds was decided when it was asked for; entries never change. A
piece at a time is written, and the loop gets a turn between two.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence

import msgspec
from msgspec import Struct, field

from quintant.cluster.apiserver.kinds.stored_json import ObjectEncoder
from quintant.cluster.apiserver.storage.history import StoredEntry

LARGE = 128 * 1024
"""Bytes from which a list is sent in pieces; smaller ones are quicker as one answer."""
PIECE = 64 * 1024
"""Bytes written between two turns of the loop: a tenth of a millisecond."""
INDENT = 2
_NONE = b"[]"
_BETWEEN = b"\n" + b" " * 2 * INDENT
"""What comes before an item of an indented list."""


class ListStream(Struct, frozen=True):
    """An answer that goes on: a list with something in it, as JSON."""

    encoder: ObjectEncoder
    metadata: Mapping[str, object]
    entries: Sequence[StoredEntry]
    headers: Mapping[str, str] = field(default_factory=dict)
    pretty: bool = False

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The document in pieces."""
        before, comma, tail = self._frame()
        waiting: list[bytes] = []
        size = 0
        for entry in self.entries:
            waiting += (before, self._item(entry))
            before, size = comma, size + len(waiting[-1])
            if size >= PIECE:
                yield b"".join(waiting)
                waiting, size = [], 0
                await asyncio.sleep(0)
        yield b"".join((*waiting, tail))

    def _frame(self) -> tuple[bytes, bytes, bytes]:
        """What comes before the items, between them and after."""
        empty = self.encoder.encode_list(dict(self.metadata), ())
        if self.pretty:
            empty = msgspec.json.format(empty, indent=INDENT).rstrip()
        head, _, tail = empty.rpartition(_NONE)
        if not self.pretty:
            return head + b"[", b",", b"]" + tail
        return head + b"[" + _BETWEEN, b"," + _BETWEEN, b"\n" + b" " * INDENT + b"]" + tail

    def _item(self, entry: StoredEntry) -> bytes:
        item = self.encoder.encode_item(entry)
        if not self.pretty:
            return item
        # A line's end is never part of a text in JSON.
        return msgspec.json.format(item, indent=INDENT).replace(b"\n", _BETWEEN)
