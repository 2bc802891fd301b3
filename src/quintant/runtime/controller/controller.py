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
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic

from quintant.core.object import K, Request
from quintant.runtime.controller.attempt import ReconcileAttempts
from quintant.runtime.controller.blocking_keys import RunningReconcile
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.event_handlers import connect_sources
from quintant.runtime.controller.freshness import FreshnessGuard
from quintant.runtime.controller.hot_loops import HotLoops
from quintant.runtime.controller.reconcile import ControllerServices, KeyRoutes, ReconcileHandler
from quintant.runtime.controller.retries import Retries
from quintant.runtime.controller.workers import ReconcileWorkers
from quintant.runtime.observe import logs
from quintant.runtime.observe.tracing import ControllerTracing
from quintant.runtime.reconcile.result import Result
from quintant.runtime.source.failures import keep_running
from quintant.runtime.source.long_calls import LongCalls
from quintant.runtime.source.sources import BusySource, Source, SourceContext, every
from quintant.runtime.workqueue.key_queue import ClusterQueue, KeyQueue
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY, Workqueue

log: Final = logs.get_logger()

# Objects are looked at again so often even if nothing happened, spread over a tenth of the time.
RESYNC_JITTER = 0.1


class Controller(Generic[K]):
    """One declaration, bound to caches and a client."""

    def __init__(self, declaration: Declaration[K], services: ControllerServices) -> None:
        self.declaration = declaration
        self.name: str = declaration.name
        self._services = services
        metrics, name = services.metrics, declaration.name
        self._metrics = metrics.controller(name, declaration.workers)
        rank = self._rank if declaration.priority is not None else None
        self.queue: Workqueue[Request] = Workqueue(metrics.queue_observer(name), rank)
        metrics.add_queue(name, self.queue)
        self._retries = Retries(
            name, declaration.retry, declaration.retry_policy, declaration.rate_limiter
        )
        self.bucket: Final = self._retries.bucket
        """What the retries of all keys together wait for."""
        tracer, wake = services.tracer, self.queue.add
        tracing = ControllerTracing(tracer, name, services.cluster) if tracer else None
        self._incoming = self._new_incoming()
        # A deletion is new work: what failed before it must not delay the cleanup.
        self._events = connect_sources(
            declaration, services.caches, self._incoming, self._going, tracing
        )
        informers = filter(None, (self._events.primary, *self._events.related))
        self.views: Final = services.staleness.views(informers)
        """What its reconciles read, as old as it may be."""
        self._handler = ReconcileHandler(
            declaration,
            self._events.primary,
            self._events.orphans,
            services,
            tracing.noting(wake, "its finalizer") if tracing else wake,
            self.views,
        )
        self.hot_loops: HotLoops = HotLoops(name)
        metrics.add_hot_loops(name, self.hot_loops)
        self._workers = self._new_workers(tracing)
        self._ended = asyncio.Event()
        self._ended.set()

    def _new_workers(self, tracing: ControllerTracing | None) -> ReconcileWorkers[K]:
        services, owners = self._services, self._services.ownerships
        attempts = ReconcileAttempts(
            self.declaration,
            self._events.primary,
            self._handler,
            self.queue,
            self._retries,
            self._metrics,
        )
        return ReconcileWorkers(
            name=self.name,
            queue=self.queue,
            attempts=attempts,
            metrics=self._metrics,
            random=services.random,
            tracing=tracing,
            freshness=self._freshness_guard(),
            ownership=owners.of(self.name) if owners is not None else None,
            hot_loops=self.hot_loops,
        )

    def _freshness_guard(self) -> FreshnessGuard | None:
        within, services = self.declaration.fresh, self._services
        if within is None:
            return None
        held = services.metrics.stale_holds(self.name)
        return FreshnessGuard(self.name, self.views, within, services.staleness.boottime, held)

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
                        workers.create_task(self._workers.work())
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
        return self._workers.running.get(task)

    def works_on(self, reconcile: RunningReconcile) -> bool:
        """Whether a reconcile is one of this controller, in its cluster."""
        return (reconcile.controller, reconcile.key.cluster) == (self.name, self._services.cluster)

    def blocked_loop(self, key: Request) -> None:
        """The reconcile of this key held up the whole process."""
        self._workers.count_block(key)

    def _sources(self, resync: float) -> Iterable[Source]:
        # In another cluster they would be run twice: those at home wake the keys of all clusters.
        if not self._services.cluster:
            yield from self.declaration.sources
        if self.declaration.resync:
            yield every(resync, RESYNC_JITTER)

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
