"""A console's stream as a program reads it: rows as they become, and which kinds are live."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest, Transport

Row = dict[str, Any]


@dataclass
class StreamedTopic:
    """What a viewer knows of a topic."""

    rows: dict[str, Row] = field(default_factory=dict)
    meta: Row = field(default_factory=dict)
    sources: dict[str, Row] = field(default_factory=dict)

    def take(self, name: str, value: Row) -> None:
        """Take an event of the stream."""
        match name:
            case "snapshot":
                self.rows, self.meta = value["rows"], value["meta"]
            case "change":
                self.rows |= value["set"]
                self.meta |= value["meta"]
                for key in value["remove"]:
                    self.rows.pop(key, None)
            case "heartbeat":
                self.sources = value["sources"]
            case "refused":
                raise AssertionError(value)


async def seen(
    transport: Transport, topic: str, until: Callable[[StreamedTopic], bool]
) -> StreamedTopic:
    """Follow a topic until it is as wanted; whoever calls says how long."""
    found = StreamedTopic()
    async with transport.stream(ApiRequest("GET", f"/api/stream?topic={topic}")) as stream:
        assert stream.status == 200, stream.status
        async for name, value in _events(stream.chunks):
            found.take(name, value)
            if found.sources and until(found):
                return found
    raise AssertionError(f"the stream of {topic} ended: {found}")


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, Row]]:
    held = b""
    async for chunk in chunks:
        *whole, held = (held + chunk).split(b"\n\n")
        for block in whole:
            fields = dict(line.split(b": ", 1) for line in block.splitlines())
            if b"event" in fields:
                yield fields[b"event"].decode(), msgspec.json.decode(fields[b"data"])
