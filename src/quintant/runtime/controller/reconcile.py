"""One step for one key: reconcile its object, hold it, clean up after it, or note its deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, cast

from msgspec import Struct

from quintant.core.clock import Clock, Random
from quintant.core.object import K, Request
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.informer import Informer
from quintant.runtime.controller import finalizer as final
from quintant.runtime.controller.blocking_calls import BlockingCalls
from quintant.runtime.controller.context import (
    Context,
    KeyContext,
    KeyReconciler,
    Reconciler,
    Recorder,
)
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.finalizer import ReconcileStep
from quintant.runtime.controller.result import Result, checked_result
from quintant.runtime.controller.status_writer import StatusWriter
from quintant.runtime.controller.stuck_cleanup import StuckCleanups
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Metrics

log = logs.get_logger()


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


class ReconcileHandler(Generic[K]):
    """Decides from the cache what a key needs, and does it."""

    def __init__(
        self,
        declared: Declaration[K],
        primary: Informer[K] | None,
        services: ControllerServices,
        wake: Callable[[Request], None],
    ) -> None:
        self._declared, self._primary, self._services = declared, primary, services
        self._wake = wake
        self._client = services.client.with_field_manager(declared.name)
        services.caches.managers.add(declared.name)
        self._log = log.bind()
        self._name = declared.finalizer.name if declared.finalizer is not None else None
        self._blocked = StuckCleanups()

    async def handle(self, key: Request) -> Result | None:
        """Do what one key needs; raises what the user's code raises."""
        if self._primary is None:
            reconcile = cast(KeyReconciler, self._declared.reconcile)
            return await reconcile(key, self._key_context(key))
        obj = self._primary.get(key)
        if obj is None:
            await self._absent(self._primary, key)
            return None
        return await self._present(obj)

    async def report_failure(self, key: Request, error: Exception) -> None:
        """Tell the user of a step that failed, if it keeps an object from going; never raises."""
        obj = self._primary.store.get(key) if self._primary is not None else None
        if obj is not None and final.next_step(obj.metadata, self._name) is ReconcileStep.CLEAN_UP:
            await self._blocked.report(self.context(obj), error)

    def context(self, obj: K) -> Context[K]:
        """What a reconciler of this object is given."""
        services = self._services
        return Context(
            obj.key,
            obj,
            self._client,
            self._log,
            services.clock,
            services.random,
            services.recorder,
            services.statuses,
            services.blocking,
        )

    async def _present(self, obj: K) -> Result | None:
        match final.next_step(obj.metadata, self._name):
            case ReconcileStep.RECONCILE:
                reconcile = cast("Reconciler[K]", self._declared.reconcile)
                return await reconcile(obj, self.context(obj))
            case ReconcileStep.ADD_FINALIZER:
                await final.add_finalizer(self._client, obj, cast(str, self._name))
                # No change of generation announces the new finalizer, so we wake ourselves.
                self._wake(obj.key)
            case ReconcileStep.CLEAN_UP:
                return await self._clean(obj)
            case ReconcileStep.REMOVE_FINALIZER:
                note = "let go without cleanup, as asked"
                self.context(obj).event("Released", note, type="Warning", action="Cleanup")
                await self._release(obj)
            case ReconcileStep.IGNORE:
                pass
        return None

    async def _clean(self, obj: K) -> Result | None:
        held = self._declared.finalizer
        assert held is not None, "next_step says CLEAN_UP only where there is a finalizer"
        result = checked_result(await held.cleanup(obj, self.context(obj)), "the cleanup")
        if result is None or result.seconds is None:
            await self._release(obj)
            return None
        return result

    async def _release(self, obj: K) -> None:
        await final.remove_finalizer(self._client, type(obj), obj.metadata, cast(str, self._name))

    async def _absent(self, primary: Informer[K], key: Request) -> None:
        meta = primary.undecodable.get(key)
        if meta is None:
            await self._gone(key)
        elif final.next_step(meta, self._name) in (
            ReconcileStep.CLEAN_UP,
            ReconcileStep.REMOVE_FINALIZER,
        ):
            self._log.warning("released undecodable object without cleanup")
            await final.remove_finalizer(self._client, primary.kind, meta, cast(str, self._name))

    async def _gone(self, key: Request) -> None:
        self._blocked.forget(key)
        if self._declared.on_deleted is not None:
            pending: Any = self._declared.on_deleted(key)
            if pending is not None:
                await pending

    def _key_context(self, key: Request) -> KeyContext:
        services = self._services
        return KeyContext(
            key,
            self._client,
            self._log,
            services.clock,
            services.random,
            services.recorder,
            services.blocking,
        )
