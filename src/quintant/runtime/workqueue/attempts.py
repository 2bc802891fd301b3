"""When things that a reconciler tries by itself are to be tried again, each on its own.

The queue delays keys whose reconcile failed (`backoff`). Within a key there may be many things that
fail by themselves: the peers of a network, the nodes of a chain, devices. A reconciler keeps one
`Attempts` for them, asks which are due, and returns `Result(after=…)` until the next one is.

It is memory, and may be lost: after a restart everything is due at once. Moments are those of
`monotonic()`, and are given, so that decisions about them can be tested without a loop.
"""

from __future__ import annotations

from collections.abc import Container, Hashable
from typing import Generic, TypeVar

from quintant.core.clock import Random
from quintant.runtime.workqueue.rate_limiter import ExponentialRateLimiter

# Something outside that starts is there within seconds; one that is down should not be hammered.
FIRST_SECONDS = 0.5
CAP_SECONDS = 30.0
# Things that failed together are not tried together for ever.
JITTER = 0.2

T = TypeVar("T", bound=Hashable)


class Attempts(Generic[T]):
    """How often each thing failed, and when it is due again: `first` to `cap` seconds, doubling."""

    def __init__(
        self, *, first: float = FIRST_SECONDS, cap: float = CAP_SECONDS, jitter: float = JITTER
    ) -> None:
        self._limiter: ExponentialRateLimiter[T] = ExponentialRateLimiter(first=first, cap=cap)
        self._jitter = jitter
        self._due: dict[T, float] = {}

    def due(self, key: T) -> float:
        """The moment from which `key` may be tried; the beginning of time if nothing is known."""
        return self._due.get(key, float("-inf"))

    def failures(self, key: T) -> int:
        """How many times `key` has failed since it was last forgotten."""
        return self._limiter.failures(key)

    def failed(self, key: T, now: float, random: Random, *, after: float | None = None) -> None:
        """Count a failure, and wait longer than before it; or for `after` seconds."""
        delay = self._limiter.when(key)
        self._due[key] = now + random.jitter(delay if after is None else after, self._jitter)

    def wait(self, key: T, until: float) -> None:
        """Leave `key` alone until a moment, without counting a failure."""
        self._due[key] = until

    def forget(self, key: T) -> None:
        """Start `key` over: it succeeded, or is another one now."""
        self._limiter.forget(key)
        self._due.pop(key, None)

    def retain(self, keys: Container[T]) -> None:
        """Forget all but these."""
        for key in [each for each in self._due if each not in keys]:
            self.forget(key)
