"""One client of the broker: what it wants to hear, and what it has not acknowledged yet.

A session outlives its connection if the client asked for that; what comes meanwhile waits, so much
of it as is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from quintant.agents.broker.packets import Publication, encode_publish
from quintant.agents.broker.topics import fits

MOST_WAITING = 1000
"""Messages for a client that is away or slow; the oldest are let go."""
MOST_UNACKNOWLEDGED = 100
_NUMBERS = 65_535

Write = Callable[[bytes], None]


class BrokerSession:
    """What the broker keeps of a client."""

    def __init__(self, client: str, clean: bool) -> None:
        self.client, self.clean = client, clean
        self.filters: dict[str, int] = {}
        self._write: Write | None = None
        self._waiting: deque[Publication] = deque(maxlen=MOST_WAITING)
        self._sent: dict[int, Publication] = {}
        self._last = 0

    def attach(self, write: Write) -> None:
        """The client is here; what it has not acknowledged is sent again."""
        self._write = write
        for said in self._sent.values():
            write(encode_publish(said._replace(duplicate=True)))

    def detach(self) -> None:
        """The client is gone."""
        self._write = None

    def flush(self) -> None:
        """Send what waits."""
        while self._waiting and self._write and len(self._sent) < MOST_UNACKNOWLEDGED:
            self._send(self._waiting.popleft())

    def deliver(self, said: Publication) -> None:
        """Send a message, or keep it, if this client wants to hear it."""
        granted = [qos for each, qos in self.filters.items() if fits(said.topic, each)]
        if not granted:
            return
        ours = said._replace(qos=min(said.qos, max(granted)), retain=said.retain, number=0)
        if ours.qos or self._write is not None:
            self._waiting.append(ours)
        self.flush()

    def acknowledge(self, number: int) -> None:
        """The client has a message."""
        self._sent.pop(number, None)
        self.flush()

    def _send(self, said: Publication) -> None:
        assert self._write is not None, "only what is attached is flushed"
        if said.qos:
            said = said._replace(number=self._number())
            self._sent[said.number] = said
        self._write(encode_publish(said))

    def _number(self) -> int:
        while True:
            self._last = self._last % _NUMBERS + 1
            if self._last not in self._sent:
                return self._last
