"""What a connection sends next: control frames first, then streams by turns, one chunk each.

So no download keeps a small answer waiting. Whatever the protocol, its session has one of these.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.multiplex.websocket import Parts


class Outgoing:
    """What waits to be sent; `wake` is called when there is something."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._control: deque[bytes] = deque()
        self._turns: deque[MultiplexStream] = deque()

    @property
    def backlog(self) -> int:
        """How many control frames wait to be sent."""
        return len(self._control)

    def control(self, raw: bytes) -> None:
        """Send a message before all data."""
        self._control.append(raw)
        self._wake()

    def ready(self, stream: MultiplexStream) -> None:
        """A stream has something to send, and may."""
        stream.waiting = True
        self._turns.append(stream)
        self._wake()

    def emit(self) -> Parts | None:
        """The next message to send, if there is one."""
        if self._control:
            return (self._control.popleft(),)
        while self._turns:
            stream = self._turns.popleft()
            stream.waiting = False
            raw = stream.chunk()
            if stream.sendable and not stream.waiting:
                self.ready(stream)
            if raw is not None:
                return raw
        return None
