"""Streams of one tunnel that wait for another request: each is a connection to the Service."""

from __future__ import annotations

from quintant.agents.multiplex.duplex import DuplexStream

MOST = 64
"""Half of a tunnel's streams: as many visitors at once keep their connections to the Service."""
IDLE_SECONDS = 30.0
"""Shorter than what Services keep idle connections for."""


class StreamPool:
    """Idle streams, the last used first: the others grow old and are closed."""

    def __init__(self) -> None:
        self._idle: list[tuple[float, DuplexStream]] = []

    def __len__(self) -> int:
        return len(self._idle)

    def take(self) -> DuplexStream | None:
        """An idle stream on which nothing happened since."""
        while self._idle:
            _, duplex = self._idle.pop()
            if duplex.quiet:
                return duplex
            duplex.close()
        return None

    def give(self, duplex: DuplexStream, now: float) -> None:
        """A stream whose request and response are whole."""
        if len(self._idle) < MOST and duplex.quiet:
            self._idle.append((now, duplex))
        else:
            duplex.close()

    def sweep(self, now: float) -> None:
        """Close what is too old, or was closed by the Service."""
        kept = []
        for since, duplex in self._idle:
            if duplex.quiet and now - since < IDLE_SECONDS:
                kept.append((since, duplex))
            else:
                duplex.close()
        self._idle = kept

    def clear(self) -> None:
        """Close everything."""
        for _, duplex in self._idle:
            duplex.close()
        self._idle.clear()
