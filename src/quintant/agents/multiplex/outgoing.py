"""What a connection sends next: control frames first, then visitors by turns, one chunk each.

The streams of one visitor take turns among each other. So no download keeps a small answer waiting,
and no visitor with hundreds of them keeps others waiting. Whatever the protocol, its session has
one of these.
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
        self._visitors: deque[str] = deque()
        """Those who have streams that wait, in the order of their turns."""
        self._streams: dict[str, deque[MultiplexStream]] = {}
        self.backlog: int = 0
        """How many control frames wait to be sent."""

    def control(self, raw: bytes) -> None:
        """Send a message before all data."""
        self._control.append(raw)
        self.backlog += 1
        self._wake()

    def ready(self, stream: MultiplexStream) -> None:
        """A stream has something to send, and may."""
        stream.waiting = True
        streams = self._streams.get(stream.visitor)
        if streams is None:
            self._streams[stream.visitor] = deque((stream,))
            self._visitors.append(stream.visitor)
        else:
            streams.append(stream)
        self._wake()

    def batch(self, most: int) -> tuple[list[Parts], int]:
        """The next messages to send, until they are so many bytes, and how many they are."""
        messages: list[Parts] = []
        size = 0
        while size < most and (self._control or self._visitors):
            if (message := self.emit()) is not None:
                messages.append(message)
                size += len(message[-1])
        return messages, size

    def emit(self) -> Parts | None:
        """The next message to send, if there is one."""
        if self._control:
            self.backlog -= 1
            return (self._control.popleft(),)
        while self._visitors:
            visitor = self._visitors.popleft()
            streams = self._streams[visitor]
            stream = streams.popleft()
            stream.waiting = False
            raw = stream.chunk()
            if stream.sendable and not stream.waiting:
                stream.waiting = True
                streams.append(stream)
            if streams:
                self._visitors.append(visitor)
            else:
                del self._streams[visitor]
            if raw is not None:
                return raw
        return None
