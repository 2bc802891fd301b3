"""A controller at work: keys out of the queue, reconciled, outcomes drawn.

    informer ──change──> sources ──key──> queue ──> worker ──> step ──> outcome
                                           ^                              │
                                           └───── retry, or call again ───┘

One key is with one worker at a time. Whatever a reconciler does (raise, hang, return nonsense),
the key is settled or retried, and the other keys go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Generic

from msgspec import Struct

from quintant.client.api_time import measure_api_time
from quintant.client.token_bucket import TokenBucket
from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError, Terminal, TooManyRequests, leaf_errors
from quintant.core.object import K, Request
from quintant.core.resource import resource_of
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.event_handlers import connect_sources
from quintant.runtime.controller.hot_loops import HotLoops
from quintant.runtime.controller.rate_limiter import RateLimiter
from quintant.runtime.controller.reconcile import ControllerServices, ReconcileHandler
from quintant.runtime.controller.result import (
    ReconcileOutcome,
    ReconcileTimeout,
    Result,
    checked_result,
    classify_reconcile_error,
)
from quintant.runtime.controller.sources import BusySource, Source, SourceContext, every
from quintant.runtime.controller.workqueue import LOW_PRIORITY, WorkItem, Workqueue
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Outcome
from quintant.runtime.observe.tracing import LATER, RETRY, ControllerTracing

log = logs.get_logger()

# Objects are looked at again so often even if nothing happened, spread over a tenth of the time.
RESYNC_JITTER = 0.1

_LABELS: dict[ReconcileOutcome, Outcome] = {
    ReconcileOutcome.SUCCESS: "success",
    ReconcileOutcome.AGAIN: "requeue_after",
    ReconcileOutcome.CONFLICT: "conflict",
}


class _Ending(Struct, frozen=True):
    outcome: ReconcileOutcome
    result: Result | None = None
    error: Exception | None = None

    @property
    def errors(self) -> list[BaseException]:
        """What was raised, one by one."""
        return leaf_errors(self.error) if self.error is not None else []

    @property
    def why(self) -> str:
        return "; ".join(_named(error) for error in self.errors)

    @property
    def asked(self) -> float:
        """How many seconds of patience a busy server asked for."""
        told = (err.retry_after for err in self.errors if isinstance(err, TooManyRequests))
        return max(told, default=0.0)


class Controller(Generic[K]):
    """One declaration, bound to caches and a client."""

    def __init__(self, declaration: Declaration[K], services: ControllerServices) -> None:
        self.declaration, self.name = declaration, declaration.name
        self._services = services
        self._kind = resource_of(declaration.kind) if declaration.kind is not None else None
        self._metrics = services.metrics.controller(declaration.name, declaration.workers)
        self.queue: Workqueue[Request] = Workqueue(
            services.metrics.queue_observer(declaration.name)
        )
        services.metrics.add_queue(declaration.name, self.queue)
        retry = declaration.retry
        bucket = TokenBucket(retry.rate, retry.burst) if retry.rate is not None else None
        self._limiter: RateLimiter[Request] = RateLimiter(
            first=retry.first, cap=retry.cap, bucket=bucket
        )
        tracer, wake = services.tracer, self.queue.add
        self._tracing = tracing = ControllerTracing(tracer, self.name) if tracer else None
        # A deletion is new work: what failed before it must not delay the cleanup.
        self._events = connect_sources(
            declaration, services.caches, self.queue, self._limiter.forget, tracing
        )
        self._handler = ReconcileHandler(
            declaration,
            self._events.primary,
            self._events.orphans,
            services,
            tracing.noting(wake, "its finalizer") if tracing else wake,
        )
        self.hot_loops = HotLoops(declaration.name)
        services.metrics.add_hot_loops(declaration.name, self.hot_loops)
        self._running: dict[asyncio.Task[Any], Request] = {}
        self._ended = asyncio.Event()
        self._ended.set()

    async def run(self, resync: float, grace: Callable[[], float] = lambda: 0.0) -> None:
        """Work until the queue is shut down; the caches are complete by now.

        `grace` says how many seconds sources may take for what they have under way.
        """
        context = SourceContext(self.queue, self._events.known_keys, self._services.random, grace)
        if self._events.orphans is not None:
            for key in self._events.orphans.owners():
                self.queue.add(key, priority=LOW_PRIORITY)
        self._ended.clear()
        try:
            await self._work_with(context, resync)
        finally:
            self._ended.set()

    async def _work_with(self, context: SourceContext, resync: float) -> None:
        async with asyncio.TaskGroup() as sources:
            tasks = [sources.create_task(source(context)) for source in self._sources(resync)]
            async with asyncio.TaskGroup() as workers:
                for _ in range(self.declaration.workers):
                    workers.create_task(self._work())
            for task in tasks:
                task.cancel()

    async def stop(self) -> None:
        """Take no new keys, and wait for those under way, and for what sources have under way."""
        self.queue.shut_down()
        await self.queue.drain()
        await self._ended.wait()

    def failures(self, key: Request) -> int:
        """How many times in a row a key has failed."""
        return self._limiter.failures(key)

    def resync(self) -> None:
        """Look at every known object again, as the periodic resync does, below live changes."""
        for key in self._events.known_keys():
            self.queue.add(key, priority=LOW_PRIORITY)

    async def handle(self, key: Request) -> Result | None:
        """Do what one key needs, outside of the queue; raises what the user's code raises."""
        return await self._handler.handle(key)

    @property
    def idle(self) -> bool:
        """Whether nothing is ready or under way; what waits for its time does not count."""
        busy = any(isinstance(on, BusySource) and on.busy for on in self.declaration.sources)
        return not (busy or len(self.queue) or self.queue.processing_count())

    def reconcile_of(self, task: asyncio.Task[Any]) -> str:
        """`CONTROLLER KEY` of the reconcile that a task runs, or empty; any thread may ask."""
        key = self._running.get(task)
        return f"{self.name} {key}" if key is not None else ""

    def _sources(self, resync: float) -> Iterable[Source]:
        yield from self.declaration.sources
        if self.declaration.resync:
            yield every(resync, RESYNC_JITTER)

    async def _work(self) -> None:
        while (lease := await self.queue.get()) is not None:
            try:
                await self._handle(lease)
            finally:
                self.queue.done(lease.key)
            # A reconcile that awaits nothing must still let watches and timers have their turn.
            await asyncio.sleep(0)

    async def _handle(self, lease: WorkItem[Request]) -> None:
        key, started = lease.key, monotonic()
        task = asyncio.current_task()
        assert task is not None, "workers are tasks"
        self._running[task] = key
        self._metrics.active(1)
        id = self._services.random.id()
        try:
            with logs.reconciling(self.name, str(key), id), measure_api_time() as api_time:
                if self._tracing is None:
                    ending = await self._attempt(lease)
                else:
                    ending = await self._traced(self._tracing, lease, id)
        finally:
            self._metrics.active(-1)
            del self._running[task]
            self.hot_loops.count(key, monotonic())
        label = _LABELS.get(ending.outcome, "error")
        self._metrics.reconciled(label, monotonic() - started, api_time.seconds)

    async def _traced(
        self, tracing: ControllerTracing, lease: WorkItem[Request], id: str
    ) -> _Ending:
        with tracing.reconcile(lease.key, id) as span:
            ending = await self._attempt(lease)
            result = ending.result
            after = result.seconds if result is not None else None
            span.ended(_LABELS.get(ending.outcome, "error"), ending.why, after)
        if not ending.outcome.resets_failures:
            tracing.note(lease.key, RETRY)
        elif after is not None:
            tracing.note(lease.key, LATER)
        return ending

    async def _attempt(self, lease: WorkItem[Request]) -> _Ending:
        ending = await self._try(lease.key)
        if ending.error is not None and ending.outcome is not ReconcileOutcome.CONFLICT:
            await self._handler.report_failure(lease.key, ending.error)
        self._conclude(lease, ending)
        return ending

    async def _try(self, key: Request) -> _Ending:
        try:
            async with asyncio.timeout(self.declaration.timeout) as limit:
                result = checked_result(await self._handler.handle(key), "the reconciler")
            again = result is not None and result.seconds is not None
            return _Ending(ReconcileOutcome.AGAIN if again else ReconcileOutcome.SUCCESS, result)
        except TimeoutError as error:
            if limit.expired():
                late = ReconcileTimeout(f"took longer than {self.declaration.timeout:g} s")
                return _Ending(ReconcileOutcome.TIMEOUT, error=late)
            return _Ending(classify_reconcile_error(error, key, self._kind), error=error)
        except asyncio.CancelledError:
            if _being_cancelled():
                raise
            # The reconciler awaited something cancelled; the worker must outlive that.
            return _Ending(
                ReconcileOutcome.ERROR, error=RuntimeError("the reconciler cancelled itself")
            )
        except Exception as error:
            # The worker loop owns recovery: one bad reconcile must not stop the others.
            return _Ending(classify_reconcile_error(error, key, self._kind), error=error)

    def _conclude(self, lease: WorkItem[Request], ending: _Ending) -> None:
        key, priority, result = lease.key, lease.priority, ending.result
        self._count(ending.outcome)
        _say(ending)
        if ending.outcome.resets_failures:
            self._limiter.forget(key)
        else:
            # A time that the server named is no guess of ours, and does not double.
            delay = ending.asked or self._limiter.when(key)
            self.queue.add(key, after=delay, priority=priority)
        if result is not None and result.seconds is not None:
            wanted = priority if result.priority is None else result.priority
            self.queue.add(key, after=result.seconds, priority=wanted)
        self._announce(key, ending.errors)

    def _count(self, outcome: ReconcileOutcome) -> None:
        match outcome:
            case ReconcileOutcome.CONFLICT:
                self._metrics.conflict()
            case ReconcileOutcome.TERMINAL:
                self._metrics.terminal()
            case ReconcileOutcome.TIMEOUT:
                self._metrics.timeout()
                self._metrics.error()
            case ReconcileOutcome.ERROR:
                self._metrics.error()
                self._metrics.panic()
            case ReconcileOutcome.UNAVAILABLE:
                self._metrics.error()

    def _announce(self, key: Request, errors: Iterable[BaseException]) -> None:
        primary = self._events.primary
        obj = primary.store.get(key) if primary is not None else None
        for error in errors:
            if isinstance(error, Terminal) and error.event and obj is not None:
                self._handler.context(obj).event(error.reason, str(error), type="Warning")


def _say(ending: _Ending) -> None:
    match ending.outcome:
        case ReconcileOutcome.CONFLICT:
            log.debug("reconcile met a conflict", why=ending.why)
        case ReconcileOutcome.UNAVAILABLE:
            log.warning("reconcile will be retried", why=ending.why)
        case ReconcileOutcome.TIMEOUT:
            log.error("reconcile timed out", why=ending.why)
        case ReconcileOutcome.TERMINAL:
            log.error("reconcile gave up until the object changes", why=ending.why)
        case ReconcileOutcome.ERROR:
            log.error("reconcile failed", why=ending.why, exc_info=ending.error)


def _named(error: BaseException) -> str:
    """What an error says; with its name, where its text alone says little (KeyError: 'a')."""
    ours = isinstance(error, QuintantError | ReconcileTimeout)
    return str(error) if ours else f"{type(error).__name__}: {error}"


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
