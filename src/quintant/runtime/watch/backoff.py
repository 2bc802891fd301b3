"""How long a watch waits after a failure: exponential, fully jittered, forgiving after calm.

Where no server answered there is none to spare: those waits stay short, and leave no patience
behind for a server that has just come back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from quintant.core.clock import Random, monotonic

# client-go's numbers: quick enough to miss little, slow enough to spare a struggling server.
FIRST_SECONDS = 0.8
FACTOR = 2.0
CAP_SECONDS = 30.0
# While nothing answers: so long after a server is back, at most, its watches are, too.
RECONNECT_CAP_SECONDS = 1.5
# This long without a failure, and the next one starts from FIRST_SECONDS again.
CALM_SECONDS = 120.0


@dataclass(slots=True)
class ReflectorBackoff:
    """The waiting times of one informer's watch."""

    random: Random
    _ceiling: float = field(default=FIRST_SECONDS, repr=False)
    _last: float = field(default=0.0, repr=False)
    """Loop time at which the latest wait ends."""

    def next(self) -> float:
        """Seconds to wait after one more answer that was a failure."""
        return self._next(CAP_SECONDS)

    def reconnect(self) -> float:
        """Seconds to wait after one more attempt that no server answered."""
        return self._next(RECONNECT_CAP_SECONDS)

    def longest(self) -> float:
        """Seconds to wait when only a person can mend it, such as a missing permission."""
        delay = self.random.uniform(CAP_SECONDS / 2, CAP_SECONDS)
        self._last = monotonic() + delay
        return delay

    def _next(self, cap: float) -> float:
        now = monotonic()
        if now - self._last > CALM_SECONDS:
            self._ceiling = FIRST_SECONDS
        delay = self.random.uniform(0, min(self._ceiling, cap))
        self._ceiling = min(self._ceiling * FACTOR, cap)
        self._last = now + delay
        return delay
