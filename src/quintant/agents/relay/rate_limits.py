"""How many requests an app, and each visitor of it, may make: so many per second, after a burst.

Tunnels bring the limits of their app, and the last that joined is right. A limit is one number per
app or visitor: when its bucket is full again. A request moves that on by the time that one takes to
come back, and is refused if it were further away than a whole burst. Pure: time is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from quintant.wire.portal import RequestRate, RequestRates

VISITORS = 65_536
"""Visitors that are remembered, of all apps; beyond it those who came first begin anew."""
_WHOLE = ""
"""Stands for all visitors of an app together; no address is empty."""
# Seconds: what sums of fractions of seconds are off by, at most.
_ROUNDING = 1e-9
Key = tuple[str, str]


class RateRefusal(NamedTuple):
    """Whose limit is used up, and for how long."""

    reason: str
    """`visitor_rate` or `app_rate`."""
    seconds: int
    """Whole ones, at least one: when it is worth trying again."""


class RequestLimiter:
    """What is left to each app and visitor of what their tunnels allow."""

    def __init__(self) -> None:
        self._limits: dict[str, RequestRates] = {}
        self._full: dict[Key, float] = {}

    def __len__(self) -> int:
        return len(self._full)

    def configure(self, app: str, limits: RequestRates | None) -> None:
        """Take the limits that a tunnel of an app brings; None if it brings none."""
        if limits is None:
            self._limits.pop(app, None)
        else:
            self._limits[app] = limits

    def refuse(self, app: str, address: str, now: float) -> RateRefusal | None:
        """Count a request; why it is refused, in which case it does not count."""
        limits = self._limits.get(app)
        if limits is None:
            return None
        limited = [
            (reason, key, limit)
            for reason, key, limit in (
                ("visitor_rate", (app, address), limits.visitor),
                ("app_rate", (app, _WHOLE), limits.app),
            )
            if limit is not None
        ]
        after = {key: self._after(key, limit, now) for _, key, limit in limited}
        for reason, key, limit in limited:
            wait = after[key] - now - limit.burst / limit.rate
            if wait > _ROUNDING:
                return RateRefusal(reason, max(1, math.ceil(wait)))
        self._remember(after)
        return None

    def sweep(self, now: float, known: Callable[[str], bool]) -> None:
        """Forget who has all of it again, and apps that are no more."""
        self._full = {key: full for key, full in self._full.items() if full > now}
        self._limits = {app: limits for app, limits in self._limits.items() if known(app)}

    def _after(self, key: Key, limit: RequestRate, now: float) -> float:
        return max(self._full.get(key, now), now) + 1 / limit.rate

    def _remember(self, after: dict[Key, float]) -> None:
        for key, full in after.items():
            self._full.pop(key, None)
            self._full[key] = full
        while len(self._full) > VISITORS:
            del self._full[next(iter(self._full))]
