"""The fence: what a write passes in the step that hands its bytes to the connection.

    write ──> retries ──> rate limit ──> credentials, dialling ──> fence ──> connection

Between the moment at which a process learns that it may write and the one at which a write leaves,
there may be retries, a wait for the rate limit, a refused token, a TLS handshake. So the fence goes
along with the request (`ApiRequest.fence`), and the transport asks it last, on every try.

A process that was stopped, or whose machine slept, must not trust one clock: the loop's stands
still while a machine sleeps, the wall clock may be set. `LastRenewal` believes the longest time of
three.
"""

from __future__ import annotations

import math
from asyncio import get_running_loop
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from quintant.client.transport import ApiRequest
from quintant.core.clock import Boottime, Clock, monotonic


class Fence(Protocol):
    """Who may refuse a write that is about to leave."""

    def __call__(self, call: ApiRequest | None = None, /) -> None:
        """Raise NotLeader if this process can no longer prove that the write is its own.

        Without a call it is about something outside the API server.
        """


class FenceKey(NamedTuple):
    """What a write is about: the range of the key that is reconciled, and since when it is ours."""

    controller: str
    """Empty for a task beside the controllers."""
    range: int
    epoch: int


FENCE_KEY: ContextVar[FenceKey | None] = ContextVar("fence_key", default=None)
"""Set by workers; the tasks that they begin, and threads, inherit it."""


def write_query(seconds: float) -> dict[str, str]:
    """What has the server give a write up when we do."""
    return {"timeout": f"{seconds:g}s"}


Moment = tuple[float, float, datetime]
"""The same moment by three clocks: the loop's, the one that goes on in sleep, and the wall's."""


class LastRenewal:
    """When a claim was last renewed, and whether that is still good: for so many `seconds`."""

    def __init__(self, clock: Clock, boottime: Boottime, seconds: float) -> None:
        self._clock, self._boottime = clock, boottime
        self._seconds, self._span = seconds, timedelta(seconds=seconds)
        self._loop_time: Callable[[], float] = monotonic
        self.began: Moment = (-math.inf, -math.inf, datetime.min.replace(tzinfo=UTC))
        self._until: Moment = self.began

    def moment(self) -> Moment:
        """What the clocks say now."""
        return self._loop_time(), self._boottime(), self._clock.now()

    def renewed(self, began: Moment) -> None:
        """A renewal succeeded that began then."""
        # Bound once: this is asked before every write.
        self._loop_time = get_running_loop().time
        self.began = loop, boot, wall = began
        self._until = loop + self._seconds, boot + self._seconds, wall + self._span

    def has_expired(self) -> bool:
        """Whether any clock says that it is not good any more."""
        loop, boot, wall = self._until
        return self._loop_time() > loop or self._boottime() > boot or self._clock.now() > wall

    def holds_with(self, other: LastRenewal) -> bool:
        """Whether neither this claim nor another one by the same clocks has expired."""
        loop, boot, wall = self._until
        loop_too, boot_too, wall_too = other._until
        return (
            self._loop_time() <= (loop if loop < loop_too else loop_too)
            and self._boottime() <= (boot if boot < boot_too else boot_too)
            and self._clock.now() <= (wall if wall < wall_too else wall_too)
        )

    def age(self) -> float:
        """Seconds since the last renewal began, by the clock that says most."""
        loop, boot, wall = self.began
        now_loop, now_boot, now_wall = self.moment()
        return max(now_loop - loop, now_boot - boot, (now_wall - wall).total_seconds())
