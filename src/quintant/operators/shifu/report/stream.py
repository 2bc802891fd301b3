"""Changes of edgeMap as server-sent events: each once, in the order of versions.

A client that comes back says where it was (`Last-Event-ID`); if that is still known, it gets what
it missed, else the whole map. A client that does not read is cut off, and comes back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

import msgspec

from quintant.operators.shifu.report.document import change_of, whole_map
from quintant.operators.shifu.topology.edgemap import EdgeChange, EdgeMap
from quintant.operators.shifu.topology.topology import Topology

HISTORY = 10_000
"""Changes that a client may have missed."""
PAUSE_SECONDS = 15.0
"""After so long without a change a comment is sent, so that proxies keep the connection."""
UNREAD_SECONDS = 30.0
"""How long a client may leave what it was sent."""


class ChangeHistory:
    """The last changes, and who waits for the next."""

    def __init__(self, edgemap: EdgeMap) -> None:
        self._changes: deque[EdgeChange] = deque(maxlen=HISTORY)
        self._first = edgemap.version
        self._woken: set[asyncio.Event] = set()
        edgemap.subscribe(self._add)

    def since(self, version: int) -> list[EdgeChange] | None:
        """The changes after a version; None if they are not known any more."""
        if not self._changes:
            return [] if version == self._first else None
        oldest, newest = self._changes[0].version, self._changes[-1].version
        if not oldest - 1 <= version <= newest:
            return None
        return list(self._changes)[version - oldest + 1 :]

    async def wait(self, seconds: float) -> bool:
        """Wait for a change; False if there was none for so long."""
        woken = asyncio.Event()
        self._woken.add(woken)
        try:
            async with asyncio.timeout(seconds):
                await woken.wait()
        except TimeoutError:
            return False
        finally:
            self._woken.discard(woken)
        return True

    def _add(self, change: EdgeChange) -> None:
        self._changes.append(change)
        for woken in self._woken:
            woken.set()


async def edge_events(
    topology: Topology, history: ChangeHistory, last: int | None
) -> AsyncGenerator[bytes, None]:
    """The map, or what was missed of it, and then every change."""
    missed = history.since(last) if last is not None else None
    if last is None or missed is None:
        last = topology.edgemap.version
        yield _event("map", last, whole_map(topology))
        missed = []
    while True:
        for change in missed:
            last = change.version
            yield _event("change", last, change_of(topology, change))
        if not history.since(last) and not await history.wait(PAUSE_SECONDS):
            yield b": still here\n\n"
        found = history.since(last)
        if found is None:
            return
        missed = found


def _event(kind: str, version: int, document: object) -> bytes:
    body = msgspec.json.encode(document)
    return b"event: %s\nid: %d\ndata: %s\n\n" % (kind.encode(), version, body)
