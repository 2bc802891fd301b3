"""A controller at work: keys out of the queue, reconciled; retries, and the resync of all keys.

    informer ──change──> sources ──key──> queue ──> worker ──> step ──> outcome
                                           ^                              │
                                           └───── retry, or call again ───┘

One key is with one worker at a time. Whatever a reconciler does (raise, hang, return nonsense),
the key is settled or retried, and the other keys go on.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, Generic

from msgspec import Struct

from quintant.client.api_time import ApiTime
from quintant.client.fence import FENCE_KEY
from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError, Terminal, TooManyRequests, leaf_errors
from quintant.core.object import K, Request
from quintant.core.resource import resource_of
from quintant.runtime.controller.blocking_keys import (
    BLOCKED_SECONDS,
    MOST_BLOCKS,
    BlockingKeys,
    RunningReconcile,
)
from quintant.runtime.controller.declaration import Declaration, GiveUp
from quintant.runtime.controller.event_handlers import connect_sources
from quintant.runtime.controller.freshness import FreshnessGuard
from quintant.runtime.controller.hot_loops import HotLoops
from quintant.runtime.controller.ownership import KeyOwnership
from quintant.runtime.controller.reconcile import ControllerServices, KeyRoutes, ReconcileHandler
from quintant.runtime.controller.retries import Retries, gave_up
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Outcome
from quintant.runtime.observe.tracing import LATER, RETRY, ControllerTracing
from quintant.runtime.reconcile.result import (
    ReconcileOutcome,
    ReconcileTimeout,
    Result,
    checked_result,
    classify_reconcile_error,
)
from quintant.runtime.source.failures import being_cancelled, keep_running
from quintant.runtime.source.long_calls import LongCalls
from quintant.runtime.source.own_task import forget_cancellations
from quintant.runtime.source.sources import BusySource, Source, SourceContext, every
from quintant.runtime.workqueue.key_queue import ClusterQueue, KeyQueue
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY, WorkItem, Workqueue

log: Final = logs.get_logger()

# Objects are looked at again so often even if nothing happened, spread over a tenth of the time.
RESYNC_JITTER = 0.1
BLOCKS_LOOP = "BlocksEventLoop"
"""The reason of the event on an object whose reconcile stops all others."""

# By name: the hash of an enum's member is a function in Python.
_LABELS: dict[str, Outcome] = {
    "SUCCESS": "success",
    "AGAIN": "requeue_after",
    "CONFLICT": "conflict",
}


class _Turn:
    """Awaited, lets everybody else have a turn: `asyncio.sleep(0)` at a third of its calls."""

    def __await__(self) -> Generator[None, None, None]:
        yield


TURN = _Turn()


class _Ending(Struct, frozen=True):
    outcome: ReconcileOutcome
    result: Result | None = None
    error: Exception | None = None
    delay: float | None = None
    """Seconds until the next try, if a retry policy has said so."""

    @property
    def errors(self) -> list[BaseException]:
        """What was raised, one by one."""
        return leaf_errors(self.error) if self.error is not None else []

    @property
    def why(self) -> str:
        return "; ".join(_named(error) for error in self.errors)

    @property
    def retry_after(self) -> float:
        """How many seconds of patience a busy server asked for."""
        delays = (err.retry_after for err in self.errors if isinstance(err, TooManyRequests))
        return max(delays, default=0.0)


class Controller(Generic[K]):
    """One declaration, bound to caches and a client."""

    def __init__(self, declaration: Declaration[K], services: ControllerServices) -> None:
        self.declaration = declaration
        self.name: str = declaration.name
        self._services = services
        self._kind = resource_of(declaration.kind) if declaration.kind is not None else None
        self._metrics = services.metrics.controller(declaration.name, declaration.workers)
        self.queue: Workqueue[Request] = Workqueue(
            services.metrics.queue_observer(declaration.name),
            self._rank if declaration.priority is not None else None,
        )
        services.metrics.add_queue(declaration.name, self.queue)
        self._retries = Retries(
            declaration.name, declaration.retry, declaration.retry_policy, declaration.rate_limiter
        )
        self.bucket: Final = self._retries.bucket
        """What the retries of all keys together wait for."""
        tracer, wake = services.tracer, self.queue.add
        self._tracing = tracing = (
            ControllerTracing(tracer, self.name, services.cluster) if tracer else None
        )
        self._incoming = self._new_incoming()
        # A deletion is new work: what failed before it must not delay the cleanup.
        self._events = connect_sources(
            declaration, services.caches, self._incoming, self._going, tracing
        )
        informers = filter(None, (self._events.primary, *self._events.related))
        self.views: Final = services.staleness.views(informers)
        """What its reconciles read, as old as it may be."""
        within, held = declaration.fresh, services.metrics.stale_holds
        self._freshness = (
            FreshnessGuard(
                self.name, self.views, within, services.staleness.boottime, held(self.name)
            )
            if within is not None
            else None
        )
        self._handler = ReconcileHandler(
            declaration,
            self._events.primary,
            self._events.orphans,
            services,
            tracing.noting(wake, "its finalizer") if tracing else wake,
            self.views,
        )
        self.hot_loops: HotLoops = HotLoops(declaration.name)
        services.metrics.add_hot_loops(declaration.name, self.hot_loops)
        self._running: dict[asyncio.Task[Any], RunningReconcile] = {}
        self._blocking = BlockingKeys()
        self._ended = asyncio.Event()
        self._ended.set()
        owners = services.ownerships
        self._ownership = owners.of(declaration.name) if owners is not None else None

    async def run(self, resync: float, grace: Callable[[], float] = lambda: 0.0) -> None:
        """Work until the queue is shut down; the caches are complete by now.

        `grace` says how many seconds sources may take for what they have under way.
        """
        context = SourceContext(
            self._incoming,
            self._all_keys,
            self._services.random,
            grace,
            self._metrics.source_failed,
            self._services.client.rest,
        )
        if self._events.orphans is not None:
            for key in self._events.orphans.owners():
                self._incoming.add(key, priority=LOW_PRIORITY)
        self._ended.clear()
        try:
            await self._work_with(context, resync)
        finally:
            self._ended.set()

    async def _work_with(self, context: SourceContext, resync: float) -> None:
        async with asyncio.TaskGroup() as sources:
            tasks = [
                sources.create_task(keep_running(source, context))
                for source in self._sources(resync)
            ]
            try:
                self._begin_daemons(sources, tasks)
                async with asyncio.TaskGroup() as workers:
                    for _ in range(self.declaration.workers):
                        workers.create_task(self._work())
            finally:
                if self._handler.daemons is not None:
                    await self._handler.daemons.close(context.grace())
            for task in tasks:
                task.cancel()

    def _begin_daemons(self, group: asyncio.TaskGroup, tasks: list[asyncio.Task[None]]) -> None:
        daemons, left = self._handler.daemons, self._services.lease_left
        if daemons is None:
            return
        daemons.open()
        if left is not None:
            tasks.append(group.create_task(daemons.follow_lease(left, self.resync)))

    async def stop(self) -> None:
        """Take no new keys, and wait for those under way, and for what sources have under way."""
        self.queue.shut_down()
        await self.queue.drain()
        await self._ended.wait()

    def failures(self, key: Request) -> int:
        """How many times in a row a key has failed."""
        return self._retries.failures(key)

    def resync(self) -> None:
        """Look at every known object again, as the periodic resync does, below live changes."""
        for key in self.known_keys():
            self.queue.add(key, priority=LOW_PRIORITY)

    def known_keys(self) -> Iterable[Request]:
        """The keys of its objects, as far as its caches have seen them."""
        known, cluster = self._events.known_keys(), self._services.cluster
        return known if not cluster else [key.in_cluster(cluster) for key in known]

    def _all_keys(self) -> Iterable[Request]:
        """Those that sources know of: of every cluster, at home."""
        routes = self._services.routes
        return self.known_keys() if routes is None else self._keys_everywhere(routes)

    def _keys_everywhere(self, routes: KeyRoutes) -> Iterator[Request]:
        yield from self.known_keys()
        yield from routes.known_keys(self.name)

    def _new_incoming(self) -> KeyQueue:
        """What takes the keys that watches and sources add."""
        services = self._services
        if services.cluster:
            return ClusterQueue(self.queue, services.cluster)
        return services.routes.queue(self.name, self.queue) if services.routes else self.queue

    def _going(self, key: Request) -> None:
        cluster = self._services.cluster
        self._retries.forget(key.in_cluster(cluster) if cluster else key)

    def begin_keys(self, wanted: Callable[[Request], bool]) -> None:
        """Look at every known key that is `wanted`: it is this process's own from now on."""
        primary = self._events.primary
        unfit = primary.undecodable if primary is not None else ()
        for key in (*self.known_keys(), *unfit):
            if wanted(key):
                self.queue.add(key, priority=LOW_PRIORITY)

    def wake_keys(self, keys: Iterable[Request]) -> None:
        """Look at keys, below live changes."""
        for key in keys:
            self.queue.add(key, priority=LOW_PRIORITY)

    def forget_keys(self, wanted: Callable[[Request], bool]) -> None:
        """Drop what is remembered about keys that are `wanted`: they are another process's."""
        for key in [*self.known_keys()]:
            if wanted(key):
                self._retries.forget(key)
                self._handler.forget(key)

    def forget_all(self) -> None:
        """Drop what is remembered about every key: its cluster is none of ours any more."""
        for key in {*self.known_keys(), *self.queue.keys()}:
            self._retries.forget(key)
            self._handler.forget(key)

    def calls_under_way(self) -> Iterable[Request]:
        """The keys of which a source has work of its own under way."""
        for calls in self._long_calls():
            yield from calls.under_way()

    def divide(self, members: int) -> None:
        """Keep to this process's part of limits that so many members share."""
        if self.bucket is not None:
            self.bucket.divide(members)
        for calls in self._long_calls():
            calls.divide(members)

    def _long_calls(self) -> Iterator[LongCalls[Any]]:
        return (each for each in self.declaration.sources if isinstance(each, LongCalls))

    async def handle(self, key: Request) -> Result | None:
        """Do what one key needs, outside of the queue; raises what the user's code raises."""
        return await self._handler.handle(key)

    @property
    def idle(self) -> bool:
        """Whether nothing is ready or under way; what waits for its time does not count."""
        busy = any(isinstance(on, BusySource) and on.busy for on in self.declaration.sources)
        return not (busy or len(self.queue) or self.queue.processing_count())

    def reconcile_of(self, task: asyncio.Task[Any]) -> RunningReconcile | None:
        """The reconcile that a task runs, or None; any thread may ask."""
        return self._running.get(task)

    def works_on(self, reconcile: RunningReconcile) -> bool:
        """Whether a reconcile is one of this controller, in its cluster."""
        return (reconcile.controller, reconcile.key.cluster) == (self.name, self._services.cluster)

    def blocked_loop(self, key: Request) -> None:
        """The reconcile of this key held up the whole process: too often, and it has to wait."""
        times = self._blocking.count(key, monotonic())
        if times < MOST_BLOCKS:
            return
        log.error(
            "reconcile blocks the event loop and is tried once an hour",
            controller=self.name,
            object=str(key),
            times=times,
        )
        self._event(
            key,
            BLOCKS_LOOP,
            f"its reconcile held up the whole operator {times} times for more than "
            f"{BLOCKED_SECONDS:g} s, and is tried once an hour now; the operator's log has "
            "what it was at: look for a value in this object that is larger than it should be",
        )

    def _sources(self, resync: float) -> Iterable[Source]:
        # In another cluster they would be run twice: those at home wake the keys of all clusters.
        if not self._services.cluster:
            yield from self.declaration.sources
        if self.declaration.resync:
            yield every(resync, RESYNC_JITTER)

    async def _work(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "workers are tasks"
        while (lease := await self.queue.get()) is not None:
            try:
                guarded = self._freshness is not None or self._blocking.blocks
                if guarded and (wait := self._wait(lease.key)):
                    self.queue.add(lease.key, after=wait, priority=lease.priority, ranked=True)
                elif self._ownership is None:
                    await self._handle(task, lease)
                else:
                    await self._handle_owned(self._ownership, task, lease)
            finally:
                self.queue.done(lease.key)
            if task.cancelling():  # a part of it failed: the worker is not to end
                forget_cancellations(task)
            # A reconcile that awaits nothing must still let watches and timers have their turn.
            await TURN

    def _wait(self, key: Request) -> float:
        """Seconds that a key has to wait: it stops all others, or the caches are too old."""
        if self._blocking.blocks and (wait := self._blocking.wait(key, monotonic())):
            return wait
        return self._freshness.wait() if self._freshness is not None else 0.0

    async def _handle_owned(
        self, ownership: KeyOwnership, task: asyncio.Task[Any], lease: WorkItem[Request]
    ) -> None:
        """Work on a key if it is this process's; its writes carry whose it was when it began."""
        limit = asyncio.Timeout(None)
        held = ownership.begin(lease.key, lambda: _expire(limit))
        if held is None:
            if self._forget_gone(lease.key) and self._handler.daemons is not None:
                await self._handler.daemons.stop(lease.key)
            return
        before = FENCE_KEY.set(held)
        try:
            async with limit:
                await self._handle(task, lease)
        except (TimeoutError, asyncio.CancelledError):
            if not limit.expired():
                raise
            log.warning("reconcile cut short", controller=self.name, object=str(lease.key))
        finally:
            FENCE_KEY.reset(before)
            ownership.end(held, lease.key)

    def _forget_gone(self, key: Request) -> bool:
        """Drop what is left of a key that is not ours once its object is gone; whether it is."""
        primary = self._events.primary
        if primary is None or primary.store.get(key.local) is not None:
            return False
        self._retries.forget(key)
        self._handler.forget(key)
        return True

    async def _handle(self, task: asyncio.Task[Any], lease: WorkItem[Request]) -> None:
        key, started = lease.key, monotonic()
        self._running[task] = RunningReconcile(self.name, key)
        active = self._metrics.active
        active.value += 1
        id = self._services.random.id()
        try:
            with logs.reconciling(self.name, str(key), id), ApiTime() as api_time:
                if self._tracing is None:
                    ending = await self._attempt(lease, started)
                else:
                    ending = await self._traced(self._tracing, lease, started, id)
        finally:
            active.value -= 1
            del self._running[task]
            ended = monotonic()
            self.hot_loops.count(key, ended)
        label = _LABELS.get(ending.outcome._name_, "error")
        self._metrics.reconciled(label, ended - started, api_time.seconds)

    async def _traced(
        self, tracing: ControllerTracing, lease: WorkItem[Request], started: float, id: str
    ) -> _Ending:
        with tracing.reconcile(lease.key, id) as span:
            ending = await self._attempt(lease, started)
            result = ending.result
            after = result.seconds if result is not None else None
            span.ended(_LABELS.get(ending.outcome._name_, "error"), ending.why, after)
        if not ending.outcome.resets_failures:
            tracing.note(lease.key, RETRY)
        elif after is not None:
            tracing.note(lease.key, LATER)
        return ending

    async def _attempt(self, lease: WorkItem[Request], started: float) -> _Ending:
        ending = await self._try(lease.key, started)
        if ending.error is not None and ending.outcome is not ReconcileOutcome.CONFLICT:
            error = ending.error
            ending = self._judged(lease.key, ending, error)
            await self._handler.report_failure(lease.key, error)
        self._conclude(lease, ending)
        return ending

    def _judged(self, key: Request, ending: _Ending, error: Exception) -> _Ending:
        """A failure as the retry policy sees it."""
        if ending.outcome is ReconcileOutcome.TERMINAL or ending.retry_after:
            return ending
        decision = self._retries.decide(key, error)
        if isinstance(decision, GiveUp):
            failures = self._retries.failures(key) + 1
            terminal = gave_up(error, ending.why, failures, decision)
            return _Ending(ReconcileOutcome.TERMINAL, error=terminal)
        return _Ending(ending.outcome, error=error, delay=decision)

    def _rank(self, key: Request, priority: int) -> int:
        """The priority of a key as the program's own function says; as it was if that fails."""
        function, kind = self.declaration.priority, self.declaration.kind
        assert function is not None, "a queue without a function has no rank"
        obj = self._services.caches.find_anywhere(kind, key.local) if kind is not None else None
        try:
            return operator.index(function(key, obj, priority))
        except Exception:
            # It runs inside watches and workers: what it cannot rank must not end them.
            log.exception("a priority function failed", controller=self.name, object=str(key))
            return priority

    async def _try(self, key: Request, started: float) -> _Ending:
        try:
            async with asyncio.Timeout(started + self.declaration.timeout) as limit:
                result = checked_result(await self._handler.handle(key), "the reconciler")
            again = result is not None and result.seconds is not None
            return _Ending(ReconcileOutcome.AGAIN if again else ReconcileOutcome.SUCCESS, result)
        except (Exception, asyncio.CancelledError) as error:
            return self._failure(key, error, late=limit.expired())

    def _failure(self, key: Request, error: BaseException, *, late: bool) -> _Ending:
        """What a reconcile that raised comes to; the worker outlives all but its own end."""
        match error:
            case TimeoutError() | asyncio.CancelledError() if late:
                text = f"took longer than {self.declaration.timeout:g} s"
                return _Ending(ReconcileOutcome.TIMEOUT, error=ReconcileTimeout(text))
            case asyncio.CancelledError() if not being_cancelled():
                text = "the reconciler cancelled itself"  # it awaited something cancelled
                return _Ending(ReconcileOutcome.ERROR, error=RuntimeError(text))
            case Exception():
                return _Ending(classify_reconcile_error(error, key, self._kind), error=error)
        raise error

    def _conclude(self, lease: WorkItem[Request], ending: _Ending) -> None:
        key, priority, result = lease.key, lease.priority, ending.result
        if ending.error is not None:
            self._failed(lease, ending)
        else:
            self._retries.forget(key)
        if result is not None and result.seconds is not None:
            wanted = priority if result.priority is None else result.priority
            self.queue.add(key, after=result.seconds, priority=wanted, ranked=True)

    def _failed(self, lease: WorkItem[Request], ending: _Ending) -> None:
        self._count(ending.outcome)
        _say(ending)
        if ending.outcome.resets_failures:
            self._retries.forget(lease.key)
        else:
            # A time that the server named is no guess of ours, and does not double.
            delay = ending.retry_after
            if not delay:
                counted = self._retries.delay(lease.key)
                delay = counted if ending.delay is None else ending.delay
            self.queue.add(lease.key, after=delay, priority=lease.priority, ranked=True)
        self._announce(lease.key, ending.errors)

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
        for error in errors:
            if isinstance(error, Terminal) and error.event:
                self._event(key, error.reason, str(error))

    def _event(self, key: Request, reason: str, note: str) -> None:
        """A warning on the object of a key, if it is one that is there."""
        primary = self._events.primary
        obj = primary.store.get(key.local) if primary is not None else None
        if obj is not None:
            self._handler.context(key, obj).event(reason, note, type="Warning")


def _expire(limit: asyncio.Timeout) -> None:
    """End what runs within a limit of time, now; what ends already is left to it."""
    with suppress(RuntimeError):
        limit.reschedule(monotonic())


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
