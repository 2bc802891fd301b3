"""How long to wait before the next attempt at a relay, by how the last one ended. Pure but for
chance, which is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from quintant.agents.backoff import CAP_SECONDS, MOST_DOUBLINGS, full_jitter
from quintant.wire.portal import Close

REFUSED_CAP_SECONDS = 300.0
"""A wrong token does not become right by asking often."""
HELD_SECONDS = (10.0, 30.0)
"""A name that another holds is free half a minute after it left: ask about as often."""
STEADY_SECONDS = 60.0
"""A connection that lasted so long was a good one: the next attempt is the first again."""
_REFUSED = (Close.UNAUTHENTICATED, Close.NOT_ALLOWED)


@dataclass(frozen=True, slots=True)
class ConnectAttempt:
    """How an attempt ended: the close code (0 if there is none), and how long it was connected."""

    code: int = 0
    connected: float = 0.0
    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class ReconnectBackoff:
    """What is remembered between attempts."""

    failures: int = 0

    def after(self, attempt: ConnectAttempt, random: Random) -> tuple[ReconnectBackoff, float]:
        """What to remember now, and how many seconds to wait."""
        steady = attempt.connected >= STEADY_SECONDS
        failures = 1 if steady else min(self.failures + 1, MOST_DOUBLINGS)
        if attempt.code == Close.HELD:
            wait = random.uniform(*HELD_SECONDS)
        else:
            cap = REFUSED_CAP_SECONDS if attempt.code in _REFUSED else CAP_SECONDS
            wait = full_jitter(failures, random, cap=cap)
        return ReconnectBackoff(failures), max(wait, attempt.retry_after)
