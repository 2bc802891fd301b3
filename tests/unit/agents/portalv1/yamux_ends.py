"""Both ends of a yamux session, joined without a network, and a fixed clock and chance."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random

from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.portalv1.handshake import Ambient
from quintant.agents.portalv1.session import YamuxSession
from unit.agents.multiplex.ends import Ear

NOW = 1_700_000_000.0
SEED, OTHER_SEED = bytes(range(32)), bytes(32)


def ambient(now: float = NOW, seed: int = 0) -> Ambient:
    """A clock that stands still, and chance that can be had again."""
    return Ambient(lambda: now, Random(seed).randbytes)


class YamuxEnd:
    """An end of a session, and what happened at it."""

    def __init__(self, client: bool) -> None:
        self.session = YamuxSession(self, client)
        self.ears: dict[int, Ear[MultiplexStream]] = {}
        self.take: Callable[[MultiplexStream], object] = self._listen
        self.stamps: list[bytes] = []
        self.left, self.empties = False, 0

    def _listen(self, stream: MultiplexStream) -> None:
        self.ears[stream.id] = Ear(stream)

    def open(self) -> Ear[MultiplexStream]:
        return Ear(self.session.open())

    def opened(self, stream: MultiplexStream) -> None:
        self.take(stream)

    def leaving(self) -> None:
        self.left = True

    def emptied(self) -> None:
        self.empties += 1

    def ponged(self, payload: bytes) -> None:
        self.stamps.append(payload)

    def wake(self) -> None: ...


def joined() -> tuple[YamuxEnd, YamuxEnd]:
    """A tunnel, which connected, and a relay."""
    tunnel, relay = YamuxEnd(client=True), YamuxEnd(client=False)
    for end in (tunnel, relay):
        end.session.agree()
    return tunnel, relay


def pump(one: YamuxEnd, other: YamuxEnd, piece: int = 1 << 20) -> None:
    """Carry bytes until neither end has any, in pieces of a size."""
    for _ in count():
        moved = False
        for source, target in ((one, other), (other, one)):
            while (parts := source.session.outgoing.emit()) is not None:
                moved, raw = True, b"".join(parts)
                for at in range(0, len(raw), piece):
                    target.session.receive(raw[at : at + piece])
        if not moved:
            return
