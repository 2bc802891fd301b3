"""One number among the processes: a child under it, and another one whenever that has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Final

from msgspec import Struct

from quintant.cli.processes.child import FAILURES, Child
from quintant.cli.processes.health import ChildView, ProbeAnswer
from quintant.cli.processes.process_metrics import ProcessMetrics
from quintant.cli.processes.restarts import restart_delay
from quintant.core.clock import monotonic
from quintant.runtime.manager.health import ProbeKind
from quintant.runtime.observe.logs import get_logger

ASK_SECONDS = 1.0
"""Between two questions how a child is."""
PROBE_SECONDS = 2.0
"""A kubelet waits one second; an answer that takes longer than this is none."""
SCRAPE_SECONDS = 5.0
"""Prometheus waits ten."""
NOT_STARTED = "without having begun"

log: Final = get_logger()


class ChildActions(Struct, frozen=True):
    """What keeps children."""

    start: Callable[[int], Awaitable[Child]]
    """A new life of the child of a number."""
    bury: Callable[[str], Coroutine[None, None, None]]
    """What a life was among the members, by its identity."""


class ChildSlot:
    """One number, and the life it has now."""

    def __init__(self, number: int, actions: ChildActions, metrics: ProcessMetrics) -> None:
        self.number = number
        self.name: str = str(number)
        self.code: int | None = None
        """What its last life ended with."""
        self._actions, self._metrics = actions, metrics
        self._child: Child | None = None
        self._stopping = asyncio.Event()
        self._ended, self._delay, self._starts_at = "", 0.0, 0.0
        self._live: ProbeAnswer | None = None
        self._ready: ProbeAnswer | None = None

    def view(self) -> ChildView:
        """What is known of it now."""
        left = self._starts_at - monotonic()
        runs = self._child is not None
        return ChildView(runs, self._ended, left, self._live, self._ready)

    async def keep(self, tasks: asyncio.TaskGroup) -> None:
        """Keep a child until it was asked to stop; cancelled, kill it. `tasks` has the burials."""
        while not self._stopping.is_set():
            began = monotonic()
            child = await self._start()
            if child is not None:
                await self._live_with(child)
                if self._stopping.is_set():
                    return
                tasks.create_task(self._actions.bury(child.identity))
            self._delay = restart_delay(self._delay, monotonic() - began)
            self._log_end(child)
            await self._wait()

    def stop(self) -> None:
        """Ask the child to stop in order; there is no other one."""
        self._stopping.set()
        if self._child is not None:
            self._child.terminate()

    async def ask(self) -> None:
        """Ask the child how it is, again and again."""
        while True:
            if (child := self._child) is not None:
                await self._probe(child)
            await asyncio.sleep(ASK_SECONDS)

    async def get(self, path: str) -> bytes | None:
        """What the child shows under a path; None if it does not."""
        if (child := self._child) is None:
            return None
        try:
            status, body = await child.get(path, SCRAPE_SECONDS)
        except FAILURES:
            return None
        return body if status == 200 else None

    async def _start(self) -> Child | None:
        try:
            self._child = await self._actions.start(self.number)
        except OSError as error:
            self._ended = f"{NOT_STARTED}: {error.strerror or error}"
            return None
        log.info("started process", process=self.name, pid=self._child.pid)
        if self._stopping.is_set():
            self._child.terminate()  # there was nobody to be told when the stop came
        return self._child

    async def _live_with(self, child: Child) -> None:
        try:
            self.code = await child.wait()
        except asyncio.CancelledError:
            await child.kill()
            raise
        self._child = self._live = self._ready = None
        self._ended = f"with {self.code}" if self.code >= 0 else f"by signal {-self.code}"
        self._metrics.answered(self.name, answers=False)

    async def _wait(self) -> None:
        self._starts_at = monotonic() + self._delay
        with suppress(TimeoutError):
            async with asyncio.timeout(self._delay):
                await self._stopping.wait()
        if not self._stopping.is_set():
            self._metrics.restarted(self.name)

    async def _probe(self, child: Child) -> None:
        live = await _answer(child, ProbeKind.LIVENESS)
        ready = await _answer(child, ProbeKind.READINESS)
        if child is self._child:
            self._metrics.answered(self.name, answers=live is not None)
            self._live, self._ready = live or self._live, ready or self._ready

    def _log_end(self, child: Child | None) -> None:
        log.error(
            "process ended",
            process=self.name,
            how=self._ended,
            starts_in=f"{self._delay:g}s",
            last_lines=list(child.last_lines) if child is not None else [],
        )


async def _answer(child: Child, probe: ProbeKind) -> ProbeAnswer | None:
    try:
        status, body = await child.get(f"/{probe.value}", PROBE_SECONDS)
    except FAILURES:
        return None
    return ProbeAnswer(status == 200, body.decode("utf-8", "replace"), monotonic())
