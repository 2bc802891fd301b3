"""One step for one key: reconcile its object, hold it, clean up after it, or note its deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, Protocol, cast

from msgspec import Struct

from quintant.core.clock import Clock, Random
from quintant.core.object import K, ObjectMeta, Request
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.informer import Informer, UndecodableObject
from quintant.runtime.cache.staleness import ControllerViews, Staleness
from quintant.runtime.controller.daemons import END_SECONDS, Daemons
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.orphans import OrphanSweep
from quintant.runtime.controller.ownership import KeyOwnerships
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.observe.tracing import Tracer
from quintant.runtime.reconcile import finalizer as final
from quintant.runtime.reconcile.blocking_calls import BlockingCalls
from quintant.runtime.reconcile.context import (
    Context,
    KeyContext,
    KeyReconciler,
    Reconciler,
    Recorder,
)
from quintant.runtime.reconcile.finalizer import ReconcileStep
from quintant.runtime.reconcile.result import Result, checked_result
from quintant.runtime.reconcile.status_writer import StatusWriter
from quintant.runtime.reconcile.stuck_cleanup import StuckCleanups, reference
from quintant.runtime.workqueue.key_queue import KeyQueue

log: Final = logs.get_logger()

# What is reported as left behind where `leaves` says nothing.
SOMETHING = "whatever it stands for outside the cluster"


class ControllerServices(Struct, frozen=True):
    """What every controller of a process shares."""

    caches: Caches
    client: Client
    clock: Clock
    random: Random
    metrics: Metrics
    recorder: Recorder
    statuses: StatusWriter
    blocking: BlockingCalls
    staleness: Staleness
    tracer: Tracer | None = None
    lease_left: Callable[[], float] | None = None
    """Seconds until the lease is in doubt; None where there is none."""
    ownerships: KeyOwnerships | None = None
    """Whose the keys are; None: all of them are this process's own."""
    cluster: str = ""
    """The cluster that caches and client are of; empty at home."""
    routes: KeyRoutes | None = None
    """Where keys of other clusters go, at home; None where there is but one cluster."""
    client_of: ClientFinder | None = None
    """The client of a cluster by its name, for a controller; None where there is but one."""


ClientFinder = Callable[[str, str], Client]
"""From the names of a cluster and a controller to a client; NotEngaged where there is none."""


class KeyRoutes(Protocol):
    """Who knows the queues of a controller in all clusters."""

    def queue(self, controller: str, home: KeyQueue) -> KeyQueue:
        """One that takes keys of all clusters; those at home go to `home`."""

    def known_keys(self, controller: str) -> Iterable[Request]:
        """The keys of a controller in all clusters but home."""


class ReconcileHandler(Generic[K]):
    """Decides from the cache what a key needs, and does it."""

    def __init__(
        self,
        declared: Declaration[K],
        primary: Informer[K] | None,
        orphans: OrphanSweep[K] | None,
        services: ControllerServices,
        wake: Callable[[Request], None],
        views: ControllerViews,
    ) -> None:
        self.daemons: Daemons[K] | None = self._new_daemons(declared, primary, services)
        """A task per object; None where the controller has none."""
        self.views = views
        """What its reconciles read, as old as it may be."""
        self._declared, self._primary, self._services = declared, primary, services
        self._orphans = orphans
        self._wake = wake
        find = services.client_of
        self._reach = (lambda cluster: find(cluster, declared.name)) if find is not None else None
        self._client = services.client.with_field_manager(declared.name)
        services.caches.managers.add(declared.name)
        self._log = log.bind()
        self._names = declared.finalizer.names if declared.finalizer is not None else ()
        self._blocked = StuckCleanups(self._client, services.recorder, services.clock)
        services.metrics.add_blocked_cleanups(declared.name, self._blocked)

    async def handle(self, key: Request) -> Result | None:
        """Do what one key needs; raises what the user's code raises."""
        local = key
        # A key of home is its own, and nothing is called for it.
        if type(key) is not Request or self._services.cluster:
            if key.cluster != self._services.cluster:
                log.error("dropped a key of another cluster", object=str(key))
                return None
            local = key.local
        if self._primary is None:
            reconcile = cast(KeyReconciler, self._declared.reconcile)
            return await reconcile(key, self._key_context(key))
        if self._orphans is not None and any(self._orphans.labelled):
            await self._orphans.sweep(local, self._client)
        unfit = self._primary.undecodable.get(local)
        if unfit is not None and unfit.meta.deletion_timestamp is not None:
            return await self._hold_unfit(self._primary, unfit)
        obj = self._primary.get(local)
        daemons = self.daemons
        if daemons is not None and (obj is None or obj.deleting) and not await daemons.stop(key):
            return Result(after=END_SECONDS)
        if obj is not None:
            held = self._declared.finalizer
            wanted = held is None or held.wants(obj)
            step = final.next_step(obj.metadata, self._names, wanted)
            if step is ReconcileStep.RECONCILE:
                if daemons is not None and not await daemons.keep(key, obj):
                    return Result(after=END_SECONDS)
                reconcile_object: Reconciler[K] = self._declared.reconcile  # type: ignore[assignment]
                return await reconcile_object(obj, self.context(key, obj))
            return await self._present(key, obj, step)
        if unfit is None:
            await self._gone(key)
        return None

    def _new_daemons(
        self, declared: Declaration[K], primary: Informer[K] | None, services: ControllerServices
    ) -> Daemons[K] | None:
        if declared.daemon is None or primary is None:
            return None
        metrics = services.metrics.daemons(declared.name)
        store = primary.store
        return Daemons(
            declared.name,
            declared.daemon,
            lambda key: store.get(key.local),
            self.context,
            services.random,
            metrics,
        )

    async def report_failure(self, key: Request, error: Exception) -> None:
        """Report a step that failed to the user, if it keeps an object from going; never raises."""
        obj = self._primary.store.get(key.local) if self._primary is not None else None
        if obj is not None and final.next_step(obj.metadata, self._names) is ReconcileStep.CLEAN_UP:
            await self._blocked.report_failure(type(obj), obj.metadata, error)

    def context(self, key: Request, obj: K) -> Context[K]:
        """What a reconciler of this object is given."""
        services = self._services
        return Context(
            key,
            obj,
            self._client,
            self._log,
            services.clock,
            services.random,
            services.recorder,
            services.statuses,
            services.blocking,
            self.views,
            self._reach,
        )

    async def _present(self, key: Request, obj: K, step: ReconcileStep) -> Result | None:
        match step:
            case ReconcileStep.ADD_FINALIZER:
                await final.add_finalizer(self._client, obj, *self._names)
                # No change of generation announces the new finalizer, so we wake ourselves.
                self._wake(key)
            case ReconcileStep.DROP_FINALIZER:
                await final.drop_finalizer(self._client, obj, *self._names)
                self._wake(key)
            case ReconcileStep.CLEAN_UP:
                return await self._clean(key, obj)
            case ReconcileStep.RELEASE:
                await self._release(type(obj), obj.metadata, obj)
            case ReconcileStep.IGNORE:
                pass
        return None

    async def _clean(self, key: Request, obj: K) -> Result | None:
        held = self._declared.finalizer
        assert held is not None, "next_step says CLEAN_UP only where there is a finalizer"
        result = checked_result(await held.cleanup(obj, self.context(key, obj)), "the cleanup")
        self._blocked.recovered(obj.key)
        if result is None or result.seconds is None:
            await self._let_go(type(obj), obj.metadata)
            return None
        return result

    async def _hold_unfit(self, primary: Informer[K], unfit: UndecodableObject) -> Result | None:
        """Nothing can be cleaned up that no typed function can be given: it stays until mended."""
        meta = unfit.meta
        match final.next_step(meta, self._names):
            case ReconcileStep.CLEAN_UP:
                if not await self._blocked.report_unfit(primary.kind, meta, unfit.why):
                    return Result(after=final.BLOCKED_SECONDS)
            case ReconcileStep.RELEASE:
                last = primary.get(Request(meta.name, meta.namespace))
                await self._release(primary.kind, meta, last)
        return None

    async def _release(self, kind: type[K], meta: ObjectMeta, last: K | None) -> None:
        """Let an object go without cleanup, as asked; `last` is its last state that fits."""
        held = self._declared.finalizer
        left = held.leaves(last) if held is not None and held.leaves and last is not None else ""
        note = f"let go without cleanup, as asked; left behind: {left or SOMETHING}"
        # Once it is gone, nothing else tells what stays.
        await self._services.recorder.confirm(
            reference(kind, meta), "Warning", "Released", note, action="Cleanup"
        )
        await self._let_go(kind, meta)

    async def _let_go(self, kind: type[K], meta: ObjectMeta) -> None:
        await final.remove_finalizer(self._client, kind, meta, *self._names)
        self._blocked.forget(Request(meta.name, meta.namespace))

    async def _gone(self, key: Request) -> None:
        self._blocked.forget(key.local)
        for holder in self._declared.keeps:
            holder.forget(key)
        if self._declared.on_deleted is not None:
            pending: Any = self._declared.on_deleted(key)
            if pending is not None:
                await pending

    def forget(self, key: Request) -> None:
        """Drop what is remembered about a key that another process works on from now on."""
        self._blocked.forget(key.local)
        for holder in self._declared.keeps:
            holder.forget(key)
        if self._declared.on_released is not None:
            self._declared.on_released(key)

    def _key_context(self, key: Request) -> KeyContext:
        services = self._services
        return KeyContext(
            key,
            self._client,
            self._log,
            services.clock,
            services.random,
            services.recorder,
            services.statuses,
            services.blocking,
            self.views,
            self._reach,
        )
