"""Notices when the event loop is late, and says who was running.

Everything shares one loop, so one blocking call holds up every reconcile, watch and renewal. A
timer compares when it rang with when it was due. Time in which the machine ran others is no fault
of ours, and is taken off. The worst lag is remembered for a while, for probes and metrics to see; a
loop that is blocked now is reported by a thread (`loop_monitor`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NoReturn

from quintant.core.clock import monotonic
from quintant.runtime.controller.blocking_keys import BLOCKED_SECONDS, RunningReconcile
from quintant.runtime.manager.loop_monitor import BlockedSample
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import Metrics

# Often enough to catch a blocking call of half a second, seldom enough to cost nothing.
BEAT_SECONDS = 0.25
# Later than this is worth a line. A busy machine, or many short reconciles at once, make a loop
# late by some tenths of a second.
LATE_SECONDS = 0.5
# The same suspect is named again only after this long.
REPEAT_SECONDS = 60.0
# How long a lag is remembered: a kubelet asks every 10 s by default.
MEMORY_SECONDS = 10.0

Beat = Callable[[], BlockedSample | None]
"""Reports to a monitor that the loop runs; returns what held it up since the last report."""
Waited = Callable[[], float]
"""Seconds since it was last asked in which the thread of the loop waited for a processor."""
Blocked = Callable[[RunningReconcile], None]
"""Hears of a reconcile that alone held the loop up for more than `BLOCKED_SECONDS`."""

log: Final = get_logger()


class Watchdog:
    """Measures the lag of the loop it runs on."""

    def __init__(self, metrics: Metrics, beat: Beat, waited: Waited, blocked: Blocked) -> None:
        self._metrics, self._beat, self._waited = metrics, beat, waited
        self._blocked = blocked
        self._due: float | None = None
        self._worst = self._worst_at = 0.0
        self._named = ""
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
            self._rang(monotonic() - self._due)

    def _rang(self, late: float) -> None:
        now, waited = monotonic(), self._waited()
        sample = self._beat()
        late = max(0.0, late - waited)
        if late >= self._worst or now - self._worst_at > MEMORY_SECONDS:
            self._worst, self._worst_at = late, now
        self._due = None
        self._metrics.lagged(self.lag)
        # What was not observed was no block: many short steps, or a process that was stopped.
        if late > LATE_SECONDS and sample is not None:
            self._say(late, sample, now)
            self._blame(late, sample)

    def _blame(self, late: float, sample: BlockedSample) -> None:
        if sample.reconcile is not None and min(late, sample.seconds) >= BLOCKED_SECONDS:
            self._blocked(sample.reconcile)

    def _say(self, late: float, sample: BlockedSample, now: float) -> None:
        if sample.running == self._named and now - self._named_at < REPEAT_SECONDS:
            return
        self._named, self._named_at = sample.running, now
        log.warning(
            "event loop was blocked",
            seconds=round(late, 3),
            running=sample.running or "no task",
            stack=sample.stack,
            hint="call what blocks with ctx.in_thread(...)",
        )
