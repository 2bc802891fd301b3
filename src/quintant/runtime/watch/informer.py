"""One kind, followed once, for everybody in the process.

An informer owns a store, an overlay and one reflector per namespace. It turns what the reflectors
report into changes (old, new) and hands each to every handler, in one synchronous step with the
store. Handlers only enqueue, so there is no buffer that could grow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal, NamedTuple, Protocol

from quintant.runtime import codec
from quintant.runtime.client.rest import Rest
from quintant.runtime.clock import Chance
from quintant.runtime.errors import Undecodable
from quintant.runtime.logs import get_logger
from quintant.runtime.object import K, ObjectMeta, Request
from quintant.runtime.resource import resource_of
from quintant.runtime.watch.overlay import Overlay
from quintant.runtime.watch.reflector import Reflector, Scope, State
from quintant.runtime.watch.states import Outcome
from quintant.runtime.watch.store import Store
from quintant.runtime.watch.timers import Timers

log = get_logger()


Restart = Literal["timeout", "idle", "410", "error", "eof"]
REASONS: Mapping[Outcome, Restart] = {
    Outcome.ENDED: "timeout",
    Outcome.IDLE: "idle",
    Outcome.EXPIRED: "410",
    Outcome.SHORT: "eof",
}


class Change(NamedTuple, Generic[K]):
    """What happened to one object. `old` and `new` are never both None."""

    old: K | None
    new: K | None
    initial: bool = False
    """Part of the first state read, not news."""
    final: bool = True
    """For a deletion: `old` is the last state there was, not merely the last one seen."""


Handler = Callable[[Change[K]], None]


class Observer(Protocol):
    """Who counts what an informer does."""

    def restarted(self, kind: str, reason: Restart) -> None:
        """A watch was opened again."""

    def overlaid(self) -> None:
        """A read would have been stale without the overlay."""


class Informer(Generic[K]):
    """A shared, always-true local copy of a kind."""

    def __init__(
        self,
        rest: Rest,
        kind: type[K],
        *,
        chance: Chance,
        namespaces: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        observer: Observer | None = None,
        timers: Timers = Timers(),
    ) -> None:
        self.kind = kind
        self.resource = resource_of(kind)
        self.labels, self.fields = labels or {}, fields or {}
        self.store: Store[K] = Store()
        self.overlay = Overlay(self.store, hit=observer.overlaid if observer else lambda: None)
        self.undecodable: dict[Request, ObjectMeta] = {}
        """Objects that exist and do not fit their type."""
        self._observer = observer
        self._handlers: list[Handler[K]] = []
        self._misfit_handlers: list[Callable[[Request], None]] = []
        self._complaints: set[tuple[str, int]] = set()
        places = namespaces if self.resource.namespaced and namespaces else ("",)
        self.reflectors = tuple(
            Reflector(rest, Scope(kind, place, self.labels, self.fields), self, chance, timers)
            for place in places
        )
        self._awaited = set(places)
        self._synced = asyncio.Event()

    async def run(self) -> None:
        """Follow the kind until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for reflector in self.reflectors:
                    group.create_task(reflector.run())
        finally:
            self.overlay.close()

    @property
    def synced(self) -> bool:
        """Whether the whole initial state has been delivered to every handler."""
        return not self._awaited

    async def wait_synced(self) -> None:
        """Return once the initial state is there."""
        await self._synced.wait()

    @property
    def alive_at(self) -> float:
        """Loop time of the last byte of the quietest stream; 0 before the first."""
        return min(reflector.alive_at for reflector in self.reflectors)

    @property
    def trouble(self) -> str:
        """What is wrong with a stream now, in the server's words; empty when all are healthy."""
        return "; ".join(r.trouble for r in self.reflectors if r.trouble)

    def subscribe(self, handler: Handler[K]) -> None:
        """Hear of every change from now on, and of what is there already as initial."""
        for obj in self.store:
            handler(Change(None, obj, initial=True))
        self._handlers.append(handler)

    def unsubscribe(self, handler: Handler[K]) -> None:
        self._handlers.remove(handler)

    def on_undecodable(self, handler: Callable[[Request], None]) -> None:
        """Hear of objects that do not fit their type."""
        self._misfit_handlers.append(handler)

    def decode(self, raw: bytes) -> K | None:
        """An object in this informer's projection; None when it does not fit."""
        try:
            return codec.decode(self.kind, raw)
        except Undecodable:
            return None

    def covers(self, obj: K) -> bool:
        """Whether an object we wrote belongs into this cache, as far as can be told here."""
        if self.store.get(obj.key) is not None:
            return True
        places = {reflector.scope.namespace for reflector in self.reflectors}
        labels = obj.metadata.labels
        return (
            not self.fields
            and all(labels.get(name) == value for name, value in self.labels.items())
            and ("" in places or obj.metadata.namespace in places)
        )

    def replaced(self, namespace: str, state: State[K]) -> None:
        initial = namespace in self._awaited
        kept = state.objects.keys() | {_key(misfit.meta) for misfit in state.misfits}
        self._forget_misfits(namespace)
        for misfit in state.misfits:
            self.misfit(misfit.error, misfit.meta, deleted=False)
        for key in [key for key in self._known(namespace) if key not in kept]:
            self._vanish(key, state.version)
        for obj in state.objects.values():
            self._take(obj, initial=initial)
        self._awaited.discard(namespace)
        if not self._awaited:
            self._synced.set()

    def upserted(self, obj: K) -> None:
        self.undecodable.pop(obj.key, None)
        self._take(obj, initial=False)

    def removed(self, obj: K) -> None:
        self.undecodable.pop(obj.key, None)
        old = self.overlay.delivered(obj.key)
        self.overlay.gone(obj.key, obj.metadata.uid)
        if old is not None:
            self._deliver(Change(obj if old.metadata.uid == obj.metadata.uid else old, None))

    def misfit(self, error: Undecodable, meta: ObjectMeta, *, deleted: bool) -> None:
        key = _key(meta)
        if deleted:
            self.undecodable.pop(key, None)
            self._vanish(key, meta.resource_version)
            return
        self.undecodable[key] = meta
        complaint = (meta.uid, meta.generation)
        if complaint not in self._complaints:
            self._complaints.add(complaint)
            log.error(
                "skipped undecodable object",
                kind=self.resource.kind,
                object=str(key),
                why=error.why,
            )
        for handler in self._misfit_handlers:
            handler(key)

    def restarted(self, outcome: Outcome) -> None:
        if self._observer is not None:
            self._observer.restarted(self.resource.full_name, REASONS.get(outcome, "error"))

    def _take(self, obj: K, *, initial: bool) -> None:
        old = self.overlay.delivered(obj.key)
        if old is not None and old.metadata.uid != obj.metadata.uid:
            self.overlay.gone(obj.key, old.metadata.uid)
            self._deliver(Change(old, None, final=False))
            old = None
        if old is not None and old.metadata.resource_version == obj.metadata.resource_version:
            return
        self.overlay.confirm(obj)
        self._deliver(Change(old, obj, initial))

    def _vanish(self, key: Request, version: str) -> None:
        old = self.overlay.delivered(key)
        self.overlay.missing(key, version)
        if old is not None:
            self._deliver(Change(old, None, final=False))

    def _deliver(self, change: Change[K]) -> None:
        for handler in self._handlers:
            handler(change)

    def _known(self, namespace: str) -> list[Request]:
        known = {*self.store.requests(), *self.overlay.requests()}
        return [key for key in known if not namespace or key.namespace == namespace]

    def _forget_misfits(self, namespace: str) -> None:
        for key in [key for key in self.undecodable if not namespace or key.namespace == namespace]:
            del self.undecodable[key]


def _key(meta: ObjectMeta) -> Request:
    return Request(meta.name, meta.namespace)
