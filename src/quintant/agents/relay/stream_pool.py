"""Streams of one tunnel that wait for another request: each is a connection to the Service."""

from __future__ import annotations

from quintant.agents.multiplex.duplex import Flow

MOST = 64
"""Half of a tunnel's streams: as many visitors at once keep their connections to the Service."""
IDLE_SECONDS = 30.0
"""Shorter than what Services keep idle connections for."""


class Pool:
    """Idle streams, the last used first: the others grow old and are closed."""

    def __init__(self) -> None:
        self._idle: list[tuple[float, Flow]] = []

    def __len__(self) -> int:
        return len(self._idle)

    def take(self) -> Flow | None:
        """An idle stream on which nothing happened since."""
        while self._idle:
            _, flow = self._idle.pop()
            if flow.quiet:
                return flow
            flow.close()
        return None

    def give(self, flow: Flow, now: float) -> None:
        """A stream whose request and response are whole."""
        if len(self._idle) < MOST and flow.quiet:
            self._idle.append((now, flow))
        else:
            flow.close()

    def sweep(self, now: float) -> None:
        """Close what is too old, or was closed by the Service."""
        kept = []
        for since, flow in self._idle:
            if flow.quiet and now - since < IDLE_SECONDS:
                kept.append((since, flow))
            else:
                flow.close()
        self._idle = kept

    def clear(self) -> None:
        """Close everything."""
        for _, flow in self._idle:
            flow.close()
        self._idle.clear()
