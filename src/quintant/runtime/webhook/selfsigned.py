"""A serving certificate of our own, for laptops and for clusters without cert-manager.

At two thirds of its life the next one is made. Its authority is published beside the old one first;
it is shown once every API server has had the time to learn of it:

    STEADY --two thirds of its life--> STAGED --overlap over--> STEADY

Nothing moves on unless publishing worked, so a server never shows what nobody trusts. Keys live in
memory alone: a process that restarts makes new ones and publishes again, and two replicas would
not agree. Replicas share a Secret instead (`certs.Files`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from quintant.keys.tls import KeyPair
from quintant.runtime.clock import Clock
from quintant.runtime.webhook.authority import Issued, issue

# API servers learn of a changed configuration within seconds; this is for those that lag behind.
OVERLAP = timedelta(minutes=5)

LAPTOP = ("localhost", "127.0.0.1", "::1")
"""The names of a server on the API server's own machine."""

Publish = Callable[[bytes], Awaitable[None]]
"""Makes API servers trust these authorities (PEM); `publish.publishing` gives the usual one."""


def service_names(name: str, namespace: str) -> tuple[str, ...]:
    """The names of a Service; an API server uses the last."""
    return name, f"{name}.{namespace}", f"{name}.{namespace}.svc"


class Phase(Enum):
    """How far the replacement of a certificate is."""

    STEADY = auto()
    """One certificate, shown and trusted; beside it, the authority of the one before."""
    STAGED = auto()
    """The next one is trusted already, and not shown yet."""


@dataclass(frozen=True, slots=True)
class Ring:
    """The certificate that is shown, and the one that came before or comes next."""

    phase: Phase
    shown: Issued
    other: Issued | None = None

    @property
    def bundle(self) -> bytes:
        """Every authority to trust, oldest first."""
        both = (self.shown, self.other) if self.other else (self.shown,)
        return b"".join(one.authority for one in sorted(both, key=lambda one: one.since))


def step(ring: Ring, now: datetime, make: Callable[[], Issued]) -> Ring:
    """What follows: the same ring, a staged one, or one that shows what was staged."""
    if ring.phase is Phase.STEADY and now >= _renewal(ring.shown):
        return Ring(Phase.STAGED, ring.shown, make())
    if ring.phase is Phase.STAGED and ring.other and now >= ring.other.since + OVERLAP:
        return Ring(Phase.STEADY, ring.other, ring.shown)
    return ring


class SelfSigned:
    """Makes certificates for these names, and has their authorities published before use.

    The first certificate is there before it is published, so that a server can listen first.
    """

    def __init__(self, names: Sequence[str], *, clock: Clock, publish: Publish) -> None:
        self._names, self._clock, self._publish = names, clock, publish
        self._ring: Ring | None = None
        self._published = b""

    async def poll(self) -> KeyPair | None:
        """The certificate to show from now on; None while it is the same."""
        before, now = self._ring, self._clock.now()
        if before is None:
            self._ring = Ring(Phase.STEADY, issue(self._names, now))
            return self._ring.shown.pair
        after = step(before, now, lambda: issue(self._names, now))
        if after.bundle != self._published:
            await self._publish(after.bundle)
            self._published = after.bundle
        self._ring = after
        return None if after.shown is before.shown else after.shown.pair


def _renewal(issued: Issued) -> datetime:
    return issued.since + (issued.until - issued.since) * 2 / 3
