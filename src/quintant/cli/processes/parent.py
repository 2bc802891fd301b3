"""The parent of several processes: it serves their probes and series, and keeps every one of them.

start: ports, children
stop:  not ready, SIGTERM to every child, SIGKILL to those that do not end; ports last
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from quintant.cli.processes.health import liveness_trouble, readiness_trouble
from quintant.cli.processes.merged_metrics import merge
from quintant.cli.processes.process_metrics import ProcessMetrics
from quintant.cli.processes.slot import ChildActions, ChildSlot
from quintant.core.clock import monotonic
from quintant.core.gather import each
from quintant.metrics import Registry
from quintant.metrics.process import ProcessCollector
from quintant.runtime.manager.health import HealthChecks
from quintant.runtime.manager.probes import METRICS, BoundPage, ProbeServer
from quintant.runtime.observe.logs import get_logger

STOP_SECONDS = 20.0
"""What a child may take to stop beyond its grace: releasing ranges, writes that were sent."""
PARENT = "parent"

log: Final = get_logger()


class Parent:
    """So many children, until it is cancelled."""

    def __init__(
        self, processes: int, actions: ChildActions, grace: float, pages: Iterable[str] = ()
    ) -> None:
        """`pages` are the words under which children show something beside their metrics."""
        self._metrics = ProcessMetrics(map(str, range(processes)))
        self._slots = [ChildSlot(number, actions, self._metrics) for number in range(processes)]
        self._grace = grace
        self._health = HealthChecks()
        self._pages: dict[str, BoundPage] = {word: partial(self._page, word) for word in pages}
        for slot in self._slots:
            name = f"process-{slot.name}"
            self._health.add_readiness_check(name, partial(_ready, slot))
            self._health.add_liveness_check(name, partial(_live, slot))

    @property
    def stopped_in_order(self) -> bool:
        """Whether every child ended as it was asked to."""
        return all(slot.code == 0 for slot in self._slots)

    async def run(self, probes: str, metrics: str) -> None:
        """Serve, and keep every child, until cancelled; cancelled again, stop at once."""
        server = ProbeServer(self._health, self, self._pages)
        async with server.serve(probes, metrics), asyncio.TaskGroup() as group:
            kept = [group.create_task(slot.keep(group)) for slot in self._slots]
            for slot in self._slots:
                group.create_task(slot.ask())
            try:
                await asyncio.Future()
            finally:
                await self._stop(kept)

    async def render(self) -> bytes:
        """The series of all processes, and our own."""
        answers = await self._get(METRICS)
        series = {slot.name: text for slot, text in answers if text is not None}
        own = {PARENT: Registry((ProcessCollector(),)).render()}
        return merge({**own, **series}) + Registry((self._metrics,)).render()

    async def _page(self, word: str, path: str) -> bytes | None:
        """What a child shows: of what pages list, every child holds all, or shows its own part."""
        answers = await self._get(f"{word}/{quote(path)}")
        return next((body for _, body in answers if body is not None), None)

    async def _get(self, path: str) -> Sequence[tuple[ChildSlot, bytes | None]]:
        return await each(self._slots, lambda slot: slot.get(f"/{path}"), limit=len(self._slots))

    async def _stop(self, kept: Iterable[asyncio.Task[None]]) -> None:
        self._health.stopping = True
        log.info("stopping", processes=len(self._slots))
        for slot in self._slots:
            slot.stop()
        _, left = await asyncio.wait(kept, timeout=self._grace + STOP_SECONDS)
        if left:
            log.warning("processes did not stop", processes=len(left))


def _ready(slot: ChildSlot) -> str:
    return readiness_trouble(slot.view(), monotonic())


def _live(slot: ChildSlot) -> str:
    return liveness_trouble(slot.view(), monotonic())
