"""A token bucket: how a stream of work is held to a rate, after a burst.

Used where there is a limit of our own: on the retries of a controller, and on the requests of a
client. It keeps one number, the time up to which tokens are paid for, and never a queue.
"""

from __future__ import annotations

import math

from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError


class TokenBucket:
    """`burst` at once, then `rate` per second, first come first served."""

    def __init__(self, rate: float, burst: int = 1) -> None:
        check_rate(rate, burst)
        self._rate, self._burst = rate, burst
        self._paid_until = -math.inf
        self.divide(1)

    def divide(self, by: int) -> None:
        """Let this be one of so many buckets that share rate and burst."""
        rate, burst = self._rate / by, max(1.0, self._burst / by)
        self._interval = 1 / rate
        self._allowance = burst / rate

    def reserve(self, within: float = math.inf) -> float | None:
        """Take a token, and say how many seconds to wait for it.

        None, and no token is taken, if that would be longer than `within`.
        """
        now = monotonic()
        paid = max(self._paid_until, now) + self._interval
        wait = max(0.0, paid - now - self._allowance)
        if wait > within:
            return None
        self._paid_until = paid
        return wait


def check_rate(rate: float, burst: int) -> None:
    """ConfigError unless there can be a bucket like that."""
    if not (0 < rate < math.inf and burst >= 1):
        raise ConfigError(
            f"a rate of {rate} per second after a burst of {burst} makes no sense",
            because="the rate must be above zero, and the burst at least one",
        )
