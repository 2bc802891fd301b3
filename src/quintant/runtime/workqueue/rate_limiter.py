"""Workqueue rate limiting: how long a failed key waits before it is tried again.

Each key has its own count of failures and waits twice as long after each; success forgets the
count. An overall bucket can be added, so that many failing keys together stay below a rate.
A controller asks `when(key)` once per failure and passes the answer to `queue.add(after=...)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from quintant.client.token_bucket import TokenBucket

# Seconds before the first retry: enough for a cache to catch up with a write, too short to notice.
FIRST_SECONDS = 0.005

# Seconds between retries at most: a key that fails all day is still tried four times an hour.
CAP_SECONDS = 1000.0

# Doublings after which any sensible first delay is beyond any cap; more would overflow a float.
MOST_DOUBLINGS = 64

T = TypeVar("T", bound=Hashable)
T_contra = TypeVar("T_contra", contravariant=True)


class RateLimiter(Protocol[T_contra]):
    """Counts failures by key, and says how long each waits; `.rate_limiter` takes one."""

    def when(self, key: T_contra, /) -> float:
        """Count one more failure of `key`, and say how many seconds it should wait."""

    def forget(self, key: T_contra, /) -> None:
        """Start `key` over: it succeeded, is gone, or will not be retried."""


class ExponentialRateLimiter(Generic[T]):
    """Delays that double with each failure of a key, from `first` up to `cap` seconds."""

    def __init__(
        self,
        *,
        first: float = FIRST_SECONDS,
        cap: float = CAP_SECONDS,
        bucket: TokenBucket | None = None,
    ) -> None:
        self._first = first
        self._cap = cap
        self._bucket = bucket
        self._failures: Counter[T] = Counter()

    def when(self, key: T) -> float:
        """Count one more failure of `key`, and say how many seconds it should wait."""
        doublings = min(self._failures[key], MOST_DOUBLINGS)
        self._failures[key] += 1
        delay = min(self._first * 2.0**doublings, self._cap)
        return max(delay, self._bucket.reserve() or 0.0) if self._bucket else delay

    def forget(self, key: T) -> None:
        """Start `key` over: it succeeded, is gone, or will not be retried."""
        self._failures.pop(key, None)

    def failures(self, key: T) -> int:
        """How many times `key` has failed since it was last forgotten."""
        return self._failures[key]
