"""The workers of a controller: keys out of the queue, one with one worker at a time.

    queue ──key──> worker: may it be worked on? whose is it? ──> attempt ──> done, due, or retried

Whatever comes of one key, its worker goes on with the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Final, Generic

from quintant.client.api_time import ApiTime
from quintant.client.fence import FENCE_KEY
from quintant.core.clock import Random, monotonic
from quintant.core.object import K, Request
from quintant.runtime.controller.attempt import ReconcileAttempts
from quintant.runtime.controller.blocking_keys import (
    BLOCKED_SECONDS,
    MOST_BLOCKS,
    BlockingKeys,
    RunningReconcile,
)
from quintant.runtime.controller.ending import LABELS, ReconcileEnding
from quintant.runtime.controller.freshness import FreshnessGuard
from quintant.runtime.controller.hot_loops import HotLoops
from quintant.runtime.controller.ownership import KeyOwnership
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import ControllerMetrics
from quintant.runtime.observe.tracing import LATER, RETRY, ControllerTracing
from quintant.runtime.source.own_task import forget_cancellations
from quintant.runtime.workqueue.workqueue import WorkItem, Workqueue

log: Final = logs.get_logger()
BLOCKS_LOOP = "BlocksEventLoop"
"""The reason of the event on an object whose reconcile stops all others."""


class _Turn:
    """Awaited, lets everybody else have a turn: `asyncio.sleep(0)` at a third of its calls."""

    def __await__(self) -> Generator[None, None, None]:
        yield


TURN = _Turn()


@dataclass(slots=True, kw_only=True)
class ReconcileWorkers(Generic[K]):
    """What the workers of one controller share."""

    name: str
    """Of the controller."""
    queue: Workqueue[Request]
    attempts: ReconcileAttempts[K]
    metrics: ControllerMetrics
    random: Random
    tracing: ControllerTracing | None
    freshness: FreshnessGuard | None
    """Holds keys while caches are too old; None where they may be of any age."""
    ownership: KeyOwnership | None
    """Whose the keys are; None: all of them are this process's own."""
    hot_loops: HotLoops
    blocking: BlockingKeys = field(default_factory=BlockingKeys)
    running: dict[asyncio.Task[Any], RunningReconcile] = field(default_factory=dict)

    async def work(self) -> None:
        """Be one of them, until the queue is shut down."""
        task = asyncio.current_task()
        assert task is not None, "workers are tasks"
        while (lease := await self.queue.get()) is not None:
            try:
                guarded = self.freshness is not None or self.blocking.blocks
                if guarded and (wait := self._wait(lease.key)):
                    self.queue.add(lease.key, after=wait, priority=lease.priority, ranked=True)
                elif self.ownership is None:
                    await self._handle(task, lease)
                else:
                    await self._handle_owned(self.ownership, task, lease)
            finally:
                self.queue.done(lease.key)
            if task.cancelling():  # a part of it failed: the worker is not to end
                forget_cancellations(task)
            # A reconcile that awaits nothing must still let watches and timers have their turn.
            await TURN

    def count_block(self, key: Request) -> None:
        """The reconcile of this key held up the whole process: too often, and it has to wait."""
        times = self.blocking.count(key, monotonic())
        if times < MOST_BLOCKS:
            return
        log.error(
            "reconcile blocks the event loop and is tried once an hour",
            controller=self.name,
            object=str(key),
            times=times,
        )
        self.attempts.warn(
            key,
            BLOCKS_LOOP,
            f"its reconcile held up the whole operator {times} times for more than "
            f"{BLOCKED_SECONDS:g} s, and is tried once an hour now; the operator's log has "
            "what it was at: look for a value in this object that is larger than it should be",
        )

    def _wait(self, key: Request) -> float:
        """Seconds that a key has to wait: it stops all others, or the caches are too old."""
        if self.blocking.blocks and (wait := self.blocking.wait(key, monotonic())):
            return wait
        return self.freshness.wait() if self.freshness is not None else 0.0

    async def _handle_owned(
        self, ownership: KeyOwnership, task: asyncio.Task[Any], lease: WorkItem[Request]
    ) -> None:
        """Work on a key if it is this process's; its writes carry whose it was when it began."""
        cut = False

        def abort() -> None:
            nonlocal cut
            cut = cut or task.cancel()

        held = ownership.begin(lease.key, abort)
        if held is None:
            if not ownership.expects(lease.key):
                await self.attempts.release(lease.key)
            return
        before = FENCE_KEY.set(held)
        try:
            await self._handle(task, lease)
        except asyncio.CancelledError:
            if not cut:
                raise
            log.warning("reconcile cut short", controller=self.name, object=str(lease.key))
        finally:
            FENCE_KEY.reset(before)
            ownership.end(held, lease.key)
            if cut:
                task.uncancel()

    async def _handle(self, task: asyncio.Task[Any], lease: WorkItem[Request]) -> None:
        key, started = lease.key, monotonic()
        self.running[task] = RunningReconcile(self.name, key)
        active = self.metrics.active
        active.value += 1
        id = self.random.id()
        try:
            with logs.reconciling(self.name, str(key), id), ApiTime() as api_time:
                if self.tracing is None:
                    ending = await self.attempts.attempt(lease, started)
                else:
                    ending = await self._traced(self.tracing, lease, started, id)
        finally:
            active.value -= 1
            del self.running[task]
            ended = monotonic()
            self.hot_loops.count(key, ended)
        label = LABELS.get(ending.outcome._name_, "error")
        self.metrics.reconciled(label, ended - started, api_time.seconds)

    async def _traced(
        self, tracing: ControllerTracing, lease: WorkItem[Request], started: float, id: str
    ) -> ReconcileEnding:
        with tracing.reconcile(lease.key, id) as span:
            ending = await self.attempts.attempt(lease, started)
            result = ending.result
            after = result.seconds if result is not None else None
            span.ended(LABELS.get(ending.outcome._name_, "error"), ending.why, after)
        if not ending.outcome.resets_failures:
            tracing.note(lease.key, RETRY)
        elif after is not None:
            tracing.note(lease.key, LATER)
        return ending
