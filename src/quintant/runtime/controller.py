"""A controller at work: changes in, keys through the queue, reconciles out.

    informer ──change──> predicate ──> mapper ──> queue ──> worker ──> reconcile ──> verdict
                                                    ^                                   │
                                                    └──────── retry, or call again ─────┘

One key is with one worker at a time. Whatever a reconciler does (raise, hang, return nonsense),
the key is settled or retried, and the other keys go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, cast

from quintant.runtime import finalizer as final
from quintant.runtime import logs
from quintant.runtime.blocked import report_blocked
from quintant.runtime.client.client import Client
from quintant.runtime.clock import Chance, Clock, monotonic
from quintant.runtime.context import OWNER_INDEX, Context, KeyContext, Reconciler, Recorder
from quintant.runtime.declaration import ByIndex, Declaration, Mapper, Watch, owner_uid
from quintant.runtime.errors import Terminal
from quintant.runtime.finalizer import Turn
from quintant.runtime.limiter import Limiter
from quintant.runtime.metrics import Metrics, Outcome
from quintant.runtime.object import K, Object, Request
from quintant.runtime.queue import LOW_PRIORITY, Lease, Queue
from quintant.runtime.result import Nonsense, ReconcileTimeout, Result, Verdict, judge
from quintant.runtime.sources import Feed, Source, every
from quintant.runtime.status import StatusWriter
from quintant.runtime.watch.caches import Caches
from quintant.runtime.watch.informer import Change, Informer

log = logs.get_logger()

# Objects are looked at again so often even if nothing happened, spread over a tenth of the time.
RESYNC_JITTER = 0.1

_LABELS: dict[Verdict, Outcome] = {
    Verdict.SUCCESS: "success",
    Verdict.AGAIN: "requeue_after",
    Verdict.CONFLICT: "conflict",
}


@dataclass(frozen=True, slots=True)
class Services:
    """What every controller of a process shares."""

    caches: Caches
    client: Client
    clock: Clock
    chance: Chance
    metrics: Metrics
    recorder: Recorder
    statuses: StatusWriter


@dataclass(frozen=True, slots=True)
class _Ending:
    verdict: Verdict
    result: Result | None = None
    error: Exception | None = None


class Controller(Generic[K]):
    """One declaration, bound to caches and a client."""

    def __init__(self, declaration: Declaration[K], services: Services) -> None:
        self.declaration, self.name = declaration, declaration.name
        self._services = services
        self._client = services.client.named(declaration.name)
        self._metrics = services.metrics.controller(declaration.name, declaration.workers)
        self.queue: Queue[Request] = Queue(services.metrics.observer(declaration.name))
        services.metrics.queue(declaration.name, self.queue)
        retry = declaration.retry
        self._limiter: Limiter[Request] = Limiter(first=retry.first, cap=retry.cap)
        self._log = log.bind()
        self._running: set[Request] = set()
        self._seen: set[Request] = set()
        self.primary: Informer[K] | None = None
        self.informers: list[Informer[Any]] = []
        self._subscribe()

    async def run(self, resync: float) -> None:
        """Work until the queue is shut down; the caches are complete by now."""
        async with asyncio.TaskGroup() as sides:
            tasks = [sides.create_task(source(self._feed())) for source in self._sources(resync)]
            async with asyncio.TaskGroup() as workers:
                for _ in range(self.declaration.workers):
                    workers.create_task(self._work())
            for task in tasks:
                task.cancel()

    def busy(self) -> list[str]:
        """What is being reconciled now, or was since this was last asked."""
        seen, self._seen = self._seen, set(self._running)
        return [f"{self.name} {key}" for key in seen]

    async def stop(self) -> None:
        """Take no new keys, and wait for those under way."""
        self.queue.shutdown()
        await self.queue.drain()

    def _subscribe(self) -> None:
        declared, caches = self.declaration, self._services.caches
        if declared.kind is not None:
            primary = caches.declare(declared.kind, labels=declared.labels, fields=declared.fields)
            for name, function in declared.indexes.items():
                primary.store.add_index(name, function)
            primary.subscribe(self._on_primary)
            primary.on_undecodable(self.queue.add)
            self.primary = primary
            self.informers.append(primary)
        for watch in declared.watches:
            informer = caches.declare(watch.kind, labels=watch.labels, fields=watch.fields)
            if watch.owned and not informer.store.has_index(OWNER_INDEX):
                informer.store.add_index(OWNER_INDEX, owner_uid)
            informer.subscribe(self._on_related(watch))
            self.informers.append(informer)

    def _on_primary(self, change: Change[K]) -> None:
        if _vital(change) or _admits(self.declaration.when, change):
            seen = change.new if change.new is not None else cast(K, change.old)
            self.queue.add(seen.key, priority=LOW_PRIORITY if change.initial else 0)

    def _on_related(self, watch: Watch) -> Callable[[Change[Any]], None]:
        mapper = self._mapper(watch.to)

        def enqueue(change: Change[Any]) -> None:
            if not _admits(watch.when, change):
                return
            priority = LOW_PRIORITY if change.initial else 0
            for side in (change.old, change.new):
                if side is not None:
                    for request in mapper(side):
                        self.queue.add(request, priority=priority)

        return enqueue

    def _mapper(self, to: Mapper[Any] | ByIndex[Any]) -> Mapper[Any]:
        if not isinstance(to, ByIndex):
            return to
        index = cast(Informer[K], self.primary).store.index(to.index)

        def requests(obj: Object) -> Iterable[Request]:
            return [key for value in to.values(obj) for key in index.keys(value)]

        return requests

    def _sources(self, resync: float) -> Iterable[Source]:
        yield from self.declaration.sources
        if self.declaration.resync and self.primary is not None:
            yield every(resync, RESYNC_JITTER)

    def _feed(self) -> Feed:
        known = self.primary.store.requests if self.primary is not None else tuple
        return Feed(self.queue, known, self._services.chance)

    async def _work(self) -> None:
        while (lease := await self.queue.get()) is not None:
            try:
                await self._handle(lease)
            finally:
                self.queue.done(lease.key)
            # A reconcile that awaits nothing must still let watches and timers have their turn.
            await asyncio.sleep(0)

    async def _handle(self, lease: Lease[Request]) -> None:
        key, started = lease.key, monotonic()
        self._running.add(key)
        self._seen.add(key)
        self._metrics.active(1)
        try:
            with logs.reconciling(self.name, str(key), self._services.chance.id()):
                ending = await self._attempt(key)
                self._conclude(lease, ending)
        finally:
            self._metrics.active(-1)
            self._running.discard(key)
        label = _LABELS.get(ending.verdict, "error")
        self._metrics.reconciled(label, monotonic() - started)

    async def _attempt(self, key: Request) -> _Ending:
        try:
            async with asyncio.timeout(self.declaration.timeout) as limit:
                result = await self.take(key)
            return _ended(result)
        except TimeoutError as error:
            if limit.expired():
                late = ReconcileTimeout(f"took longer than {self.declaration.timeout:g} s")
                return _Ending(Verdict.TIMEOUT, error=late)
            return _Ending(judge(error, key), error=error)
        except asyncio.CancelledError:
            if _being_cancelled():
                raise
            # The reconciler awaited something cancelled; the worker must outlive that.
            return _Ending(Verdict.ERROR, error=RuntimeError("the reconciler cancelled itself"))
        except Exception as error:
            # The worker loop owns recovery: one bad reconcile must not stop the others.
            return _Ending(judge(error, key), error=error)

    async def take(self, key: Request) -> Result | None:
        """Give one key its turn: reconcile it, clean up after it, or note that it is gone."""
        if self.primary is None:
            return await self._reconcile_key(key)
        obj = self.primary.store.get(key)
        if obj is None:
            await self._absent(key)
            return None
        match final.turn(obj.metadata, self._finalizer_name):
            case Turn.RECONCILE:
                reconcile = cast(Reconciler[K], self.declaration.reconcile)
                return await reconcile(obj, self._context(obj))
            case Turn.ADD:
                await final.add(self._client, obj, cast(str, self._finalizer_name))
                # No change of generation announces the new finalizer, so we wake ourselves.
                self.queue.add(key)
            case Turn.CLEAN:
                return await self._clean(obj)
            case Turn.RELEASE:
                self._context(obj).event(
                    "Released", "let go without cleanup, as asked", type="Warning", action="Cleanup"
                )
                await self._release(obj)
            case Turn.LEAVE:
                pass
        return None

    async def _reconcile_key(self, key: Request) -> Result | None:
        services = self._services
        context = KeyContext(
            key, self._client, self._log, services.clock, services.chance, services.recorder
        )
        return await cast(Any, self.declaration.reconcile)(key, context)  # type: ignore[no-any-return]

    async def _clean(self, obj: K) -> Result | None:
        held = self.declaration.finalizer
        assert held is not None, "turn() says CLEAN only where there is a finalizer"
        try:
            result = await held.cleanup(obj, self._context(obj))
        except Exception as error:
            await report_blocked(self._context(obj), error)
            raise
        if result is None or result.seconds is None:
            await self._release(obj)
            return None
        return result

    async def _release(self, obj: K) -> None:
        await final.remove(self._client, type(obj), obj.metadata, cast(str, self._finalizer_name))

    async def _absent(self, key: Request) -> None:
        primary = cast(Informer[K], self.primary)
        meta = primary.undecodable.get(key)
        if meta is not None:
            if final.turn(meta, self._finalizer_name) in (Turn.CLEAN, Turn.RELEASE):
                self._log.warning("released undecodable object without cleanup")
                await final.remove(
                    self._client, primary.kind, meta, cast(str, self._finalizer_name)
                )
            return
        self._limiter.forget(key)
        if self.declaration.gone is not None:
            pending = self.declaration.gone(key)
            if pending is not None:
                await pending

    def _conclude(self, lease: Lease[Request], ending: _Ending) -> None:
        key, priority = lease.key, lease.priority
        self._count(ending)
        self._say(ending)
        if ending.verdict.settled:
            self._limiter.forget(key)
        else:
            self.queue.add(key, after=self._limiter.when(key), priority=priority)
        result = ending.result
        if result is not None and result.seconds is not None:
            wanted = priority if result.priority is None else result.priority
            self.queue.add(key, after=result.seconds, priority=wanted)
        self._announce(key, ending.error)

    def _count(self, ending: _Ending) -> None:
        match ending.verdict:
            case Verdict.CONFLICT:
                self._metrics.conflict()
            case Verdict.TERMINAL:
                self._metrics.terminal()
            case Verdict.TIMEOUT:
                self._metrics.timeout()
                self._metrics.error()
            case Verdict.ERROR:
                self._metrics.error()
                self._metrics.panic()
            case Verdict.UNAVAILABLE:
                self._metrics.error()

    def _say(self, ending: _Ending) -> None:
        match ending.verdict:
            case Verdict.CONFLICT:
                self._log.debug("reconcile met a conflict", why=str(ending.error))
            case Verdict.UNAVAILABLE:
                self._log.warning("reconcile will be retried", why=str(ending.error))
            case Verdict.TIMEOUT:
                self._log.error("reconcile timed out", why=str(ending.error))
            case Verdict.TERMINAL:
                self._log.error("reconcile gave up until the object changes", why=str(ending.error))
            case Verdict.ERROR:
                self._log.error("reconcile failed", exc_info=ending.error)

    def _announce(self, key: Request, error: Exception | None) -> None:
        obj = self.primary.store.get(key) if self.primary is not None else None
        if isinstance(error, Terminal) and error.event and obj is not None:
            self._context(obj).event(error.reason, str(error), type="Warning")

    def _context(self, obj: K) -> Context[K]:
        services = self._services
        return Context(
            obj.key,
            obj,
            self._client,
            self._log,
            services.clock,
            services.chance,
            services.recorder,
            services.statuses,
        )

    @property
    def _finalizer_name(self) -> str | None:
        held = self.declaration.finalizer
        return held.name if held is not None else None


def _vital(change: Change[Any]) -> bool:
    """A change that no predicate may hide: the object is gone, or begins to go."""
    if change.new is None:
        return True
    return change.new.deleting and not (change.old is not None and change.old.deleting)


def _admits(predicate: Any, change: Change[Any]) -> bool:
    return predicate is None or bool(predicate(change.old, change.new))


def _ended(result: object) -> _Ending:
    if result is None:
        return _Ending(Verdict.SUCCESS)
    if isinstance(result, Result):
        again = result.seconds is not None
        return _Ending(Verdict.AGAIN if again else Verdict.SUCCESS, result)
    wrong = Nonsense(f"the reconciler returned {type(result).__name__}, not None or Result")
    return _Ending(Verdict.ERROR, error=wrong)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
