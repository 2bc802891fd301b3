"""Streams of one tunnel that wait for another request: each is a connection to the Service.

A stream stays its visitor's: tunnels have visitors take turns, and know a stream by who opened it.
"""

from __future__ import annotations

import msgspec

from quintant.agents.multiplex.duplex import DuplexStream

MOST = 64
"""Half of a tunnel's streams: as many visitors at once keep their connections to the Service."""
IDLE_SECONDS = 30.0
"""Shorter than what Services keep idle connections for."""


class IdleStream(msgspec.Struct, frozen=True):
    """A stream, whose it is, and since when it waits."""

    visitor: str
    duplex: DuplexStream
    since: float


class StreamPool:
    """Idle streams, the last used first: the others grow old and are closed."""

    def __init__(self) -> None:
        self.idle: list[IdleStream] = []
        """Those that wait, in the order in which they were given back."""

    def __len__(self) -> int:
        return len(self.idle)

    def take(self, visitor: str) -> DuplexStream | None:
        """An idle stream of a visitor on which nothing happened since."""
        idle, at = self.idle, len(self.idle)
        while at:
            at -= 1
            if idle[at].visitor == visitor:
                duplex = idle.pop(at).duplex
                if duplex.quiet:
                    return duplex
                duplex.close()
        return None

    def give(self, visitor: str, duplex: DuplexStream, now: float) -> None:
        """A stream whose request and response are whole."""
        if not duplex.quiet:
            duplex.close()
            return
        self.idle.append(IdleStream(visitor, duplex, now))
        if len(self.idle) > MOST:
            self.idle.pop(0).duplex.close()

    def sweep(self, now: float) -> None:
        """Close what is too old, or was closed by the Service."""
        kept = []
        for idle in self.idle:
            if idle.duplex.quiet and now - idle.since < IDLE_SECONDS:
                kept.append(idle)
            else:
                idle.duplex.close()
        self.idle = kept

    def clear(self) -> None:
        """Close everything."""
        for idle in self.idle:
            idle.duplex.close()
        self.idle.clear()
