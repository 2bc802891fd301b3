"""Notices when the event loop is late, and says who was running.

Everything shares one loop, so one blocking call holds up every reconcile, watch and renewal. A
timer compares when it rang with when it was due. A blocked loop cannot report itself while it is
blocked, so the worst lag is remembered for a while afterwards, for probes and metrics to see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NoReturn

from quintant.core.clock import monotonic
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import Metrics

# Often enough to catch a blocking call of a third of a second, seldom enough to cost nothing.
BEAT_SECONDS = 0.25
# Later than this is worth a line: reconciles that await never are.
LATE_SECONDS = 0.1
# The same suspects are named again only after this long.
REPEAT_SECONDS = 60.0
# How long a lag is remembered: a kubelet asks every 10 s by default.
MEMORY_SECONDS = 10.0

Busy = Callable[[], Sequence[str]]
"""Names what runs now and what ended since it was last asked; asked on every beat."""

log = get_logger()


class Watchdog:
    """Measures the lag of the loop it runs on."""

    def __init__(self, metrics: Metrics, busy: Busy) -> None:
        self._metrics, self._busy = metrics, busy
        self._due: float | None = None
        self._worst = self._worst_at = 0.0
        self._named: Sequence[str] = ()
        self._named_at = -REPEAT_SECONDS

    @property
    def lag(self) -> float:
        """The worst lag of the last seconds, that of a beat overdue right now included."""
        now = monotonic()
        overdue = now - self._due if self._due is not None else 0.0
        remembered = self._worst if now - self._worst_at <= MEMORY_SECONDS else 0.0
        return max(overdue, remembered, 0.0)

    async def run(self) -> NoReturn:
        """Beat until cancelled."""
        while True:
            self._due = monotonic() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            self._beat(monotonic() - self._due)

    def _beat(self, late: float) -> None:
        now = monotonic()
        if late >= self._worst or now - self._worst_at > MEMORY_SECONDS:
            self._worst, self._worst_at = late, now
        self._metrics.lagged(self.lag)
        suspects = self._busy()
        if late > LATE_SECONDS:
            self._say(late, suspects, now)

    def _say(self, late: float, suspects: Sequence[str], now: float) -> None:
        if suspects == self._named and now - self._named_at < REPEAT_SECONDS:
            return
        self._named, self._named_at = suspects, now
        log.warning(
            "event loop was blocked",
            seconds=round(late, 3),
            running=", ".join(suspects) or "no reconcile",
            hint="move blocking calls to asyncio.to_thread",
        )
