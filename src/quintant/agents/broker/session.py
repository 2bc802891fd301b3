"""One client of the broker: what it wants to hear, and what it has not acknowledged yet.

A session outlives its connection if the client asked for that; what comes meanwhile waits, so much
of it as is bounded, in messages and in bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from quintant.agents.broker.packets import Publication, encode_publish
from quintant.agents.broker.topics import fits

MOST_WAITING = 1000
"""Messages for a client that is away or slow; the oldest are dropped."""
MOST_WAITING_BYTES = 4 * 1024 * 1024
"""Of their topics and payloads; a single message is a quarter of it at most."""
MOST_UNACKNOWLEDGED = 100
MOST_UNACKNOWLEDGED_BYTES = 4 * 1024 * 1024
"""Of what was sent, and is kept until the client has it; then nothing is sent but acknowledged."""
_NUMBERS = 65_535

Write = Callable[[bytes], None]


class BrokerSession:
    """What the broker keeps of a client."""

    def __init__(self, client: str, clean: bool) -> None:
        self.client = client
        self.clean = clean
        self.filters: dict[str, int] = {}
        self._write: Write | None = None
        self._waiting: deque[Publication] = deque()
        self._sent: dict[int, Publication] = {}
        self._waiting_bytes = self._sent_bytes = 0
        self._last = 0

    def attach(self, write: Write) -> None:
        """The client is here; what it has not acknowledged is sent again."""
        self._write = write
        for publication in self._sent.values():
            write(encode_publish(publication._replace(duplicate=True)))

    def detach(self) -> None:
        """The client is gone."""
        self._write = None

    def flush(self) -> None:
        """Send what waits."""
        while self._waiting and self._write and self._may_send():
            self._send(self._take())

    def deliver(self, publication: Publication) -> None:
        """Send a message, or keep it, if this client wants to hear it."""
        granted = [qos for each, qos in self.filters.items() if fits(publication.topic, each)]
        if not granted:
            return
        ours = publication._replace(
            qos=min(publication.qos, max(granted)), retain=publication.retain, number=0
        )
        if ours.qos or self._write is not None:
            self._waiting.append(ours)
            self._waiting_bytes += ours.size
        self.flush()
        while len(self._waiting) > MOST_WAITING or self._waiting_bytes > MOST_WAITING_BYTES:
            self._take()

    def acknowledge(self, number: int) -> None:
        """The client has a message."""
        had = self._sent.pop(number, None)
        self._sent_bytes -= had.size if had is not None else 0
        self.flush()

    def _may_send(self) -> bool:
        few = len(self._sent) < MOST_UNACKNOWLEDGED
        return few and self._sent_bytes < MOST_UNACKNOWLEDGED_BYTES

    def _take(self) -> Publication:
        taken = self._waiting.popleft()
        self._waiting_bytes -= taken.size
        return taken

    def _send(self, publication: Publication) -> None:
        assert self._write is not None, "only what is attached is flushed"
        if publication.qos:
            publication = publication._replace(number=self._number())
            self._sent[publication.number] = publication
            self._sent_bytes += publication.size
        self._write(encode_publish(publication))

    def _number(self) -> int:
        while True:
            self._last = self._last % _NUMBERS + 1
            if self._last not in self._sent:
                return self._last
