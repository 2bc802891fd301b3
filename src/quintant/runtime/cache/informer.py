"""One kind, followed once, for everybody in the process.

An informer owns a store, an overlay and one reflector per namespace. It turns what the reflectors
report into changes (old, new) and hands each to every handler, in one synchronous step with the
store. Handlers only enqueue, so there is no buffer that could grow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from quintant.client.rest import Rest
from quintant.core import codec
from quintant.core.clock import Random
from quintant.core.errors import Undecodable
from quintant.core.object import K, ObjectMeta, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.indexer import Indexer
from quintant.runtime.cache.overlay import Overlay, version_reached
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.watch.managed_fields import FieldManagers, ManagedFieldsStore
from quintant.runtime.watch.observer import REASONS, CacheObserver
from quintant.runtime.watch.reflector import Reflector
from quintant.runtime.watch.reflector_target import InitialState
from quintant.runtime.watch.scope import WatchScope, selects
from quintant.runtime.watch.timeouts import Timers
from quintant.runtime.watch.watch_states import WatchOutcome

if TYPE_CHECKING:  # loaded by managers that are sharded
    from quintant.runtime.cache.partial.foreign import ForeignObjects

log: Final = get_logger()


class ObjectChange(NamedTuple, Generic[K]):
    """What happened to one object. `old` and `new` are never both None."""

    old: K | None
    new: K | None
    initial: bool = False
    """Part of the first state read, not news."""
    final: bool = True
    """For a deletion: `old` is the last state there was, not merely the last one seen."""


class UndecodableObject(NamedTuple):
    """An object that exists and does not fit its type."""

    meta: ObjectMeta
    why: str


ChangeHandler = Callable[[ObjectChange[K]], None]


class Informer(Generic[K]):
    """A shared, always-true local copy of a kind."""

    selected = False
    """Whether the namespaces that it follows come and go."""
    foreign: ForeignObjects | None = None
    """What it knows of objects that other members of a sharded manager hold."""

    def __init__(
        self,
        rest: Rest,
        kind: type[K],
        *,
        random: Random,
        namespaces: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        observer: CacheObserver | None = None,
        managers: FieldManagers | None = None,
        timers: Timers = Timers(),
    ) -> None:
        self.kind = kind
        self.resource: Final = resource_of(kind)
        self.labels: Mapping[str, str] = labels or {}
        self.fields: Mapping[str, str] = fields or {}
        self.store: Indexer[K] = Indexer()
        self.overlay: Overlay[K] = Overlay(self.store)
        self._ahead = self.overlay.list_keys()
        self.managed: ManagedFieldsStore = ManagedFieldsStore(
            kind, managers or FieldManagers(), self.store.get
        )
        """What our field managers applied before this process began."""
        self.undecodable: dict[Request, UndecodableObject] = {}
        """Objects that exist and do not fit their type."""
        self.optional = False
        """Whether the server may not serve the kind: there are no objects of it then."""
        self.missing: bool = False
        """Whether it does not, by its last word."""
        self._observer = observer
        self._handlers: list[ChangeHandler[K]] = []
        self._undecodable_handlers: list[Callable[[Request], None]] = []
        self._rest, self._random, self._timers = rest, random, timers
        watched = namespaces if self.resource.namespaced and namespaces else ("",)
        self.namespaces: tuple[str, ...] = tuple(watched)
        """Those it follows; an empty one stands for all."""
        self._by_namespace: dict[str, Reflector[K]] = {}
        self.reflectors: tuple[Reflector[K], ...] = ()
        self._awaited: set[str] = set()
        self._synced = asyncio.Event()
        self._begin()

    def _begin(self) -> None:
        self._by_namespace = {name: self._reflector(name) for name in self.namespaces}
        self.reflectors = tuple(self._by_namespace.values())
        self._awaited = set(self.namespaces)

    def _reflector(self, namespace: str) -> Reflector[K]:
        scope = WatchScope(self.kind, namespace, self.labels, self.fields)
        return Reflector(self._rest, scope, self, self._random, self._timers, self.managed)

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
        return min((reflector.alive_at for reflector in self.reflectors), default=0.0)

    @property
    def trouble(self) -> str:
        """What is wrong with a stream now, in the server's words; empty when all are healthy."""
        return "; ".join(r.trouble for r in self.reflectors if r.trouble)

    @property
    def absent(self) -> bool:
        """Whether the kind may be missing, and is."""
        return self.optional and self.missing

    def covers_namespace(self, namespace: str) -> bool:
        """Whether the objects of a namespace are among those followed."""
        return "" in self._by_namespace or namespace in self._by_namespace

    def get(self, key: Request) -> K | None:
        """An object by its key, as far as the watch or our own writes know of it."""
        if self._observer is not None and key in self._ahead:
            self._observer.overlaid()
        return self.store.get(key)

    def subscribe(self, handler: ChangeHandler[K]) -> None:
        """Hear of every change from now on, and of what is there already as initial.

        A handler is called in the middle of a change: it may look at the store, and must not wait.
        """
        for key in self._known():
            obj = self.overlay.delivered(key)
            if obj is not None:
                handler(ObjectChange(None, obj, initial=True))
        self._handlers.append(handler)

    def unsubscribe(self, handler: ChangeHandler[K]) -> None:
        self._handlers.remove(handler)

    def on_undecodable(self, handler: Callable[[Request], None]) -> None:
        """Hear of objects that do not fit their type, and again when that is over."""
        for key in self.undecodable:
            handler(key)
        self._undecodable_handlers.append(handler)

    def decode(self, raw: bytes) -> K | None:
        """An object in this informer's projection; None when it does not fit."""
        try:
            return codec.decode(self.kind, raw)
        except Undecodable:
            return None

    def record_write(self, obj: K) -> None:
        """Show an object that we have just written, if it belongs here and is news."""
        reflector = self._by_namespace.get("") or self._by_namespace.get(obj.metadata.namespace)
        if reflector is None or version_reached(reflector.version, obj.metadata.resource_version):
            return  # nobody follows it, or the watch has told all that there was to tell
        if not selects(self.labels, obj.metadata.labels):
            self.overlay.record_write(obj, selected=False)
        elif not self.fields or self.store.get(obj.key) is not None:
            # Fields are the server's to select by: only what it has sent is known to belong here.
            self.overlay.record_write(obj)

    def record_delete(self, key: Request, uid: str, version: str) -> None:
        """Hide an object that we have just deleted, last known at `version`, if it belongs here."""
        if self.covers_namespace(key.namespace):
            self.overlay.record_delete(key, uid, version)

    def replace(self, namespace: str, state: InitialState[K]) -> None:
        initial, self.missing = namespace in self._awaited, False
        over = [
            key
            for key in self.undecodable
            if _within(namespace, key) and key not in state.undecodable
        ]
        for key in over:
            del self.undecodable[key]
        for entry in state.undecodable.values():
            self.report_undecodable(entry.error, entry.meta, deleted=False)
        # Of what is read for the first time, nothing is known but our own writes.
        known = tuple(self.overlay.list_keys()) if initial else self._known()
        for key in known:
            if _within(namespace, key) and not state.has(key):
                self._vanish(key, state.version)
        for key, obj in state.objects.items():
            self._take(key, obj, initial=initial or key in state.gained)
        for key in over:
            self._announce(key)
        self._awaited.discard(namespace)
        if not self._awaited:
            self._synced.set()

    def upsert(self, obj: K) -> None:
        key = obj.key
        mended = bool(self.undecodable) and self.undecodable.pop(key, None) is not None
        self._take(key, obj, initial=False)
        if mended:
            self._announce(key)

    def delete(self, obj: K) -> None:
        key, meta = obj.key, obj.metadata
        self.undecodable.pop(key, None)
        old = self.overlay.delivered(key)
        self.overlay.observe_delete(key, meta.uid, meta.resource_version)
        self.managed.forget(meta.uid)
        if old is not None:
            self._deliver(ObjectChange(obj if old.metadata.uid == meta.uid else old, None))

    def report_undecodable(self, error: Undecodable, meta: ObjectMeta, *, deleted: bool) -> None:
        key = Request(meta.name, meta.namespace)
        last_good = self.overlay.delivered(key)
        if deleted or (last_good is not None and last_good.metadata.uid != meta.uid):
            self._vanish(key, meta.resource_version)
        known = self.undecodable.pop(key, None)
        if not deleted:
            self.undecodable[key] = UndecodableObject(meta, error.why)
            self._complain(error, meta, known)
        self._announce(key)

    def _complain(
        self, error: Undecodable, meta: ObjectMeta, known: UndecodableObject | None
    ) -> None:
        reported = known is not None and (known.meta.uid, known.meta.generation)
        if reported != (meta.uid, meta.generation):
            log.error(
                "skipped undecodable object",
                kind=self.resource.kind,
                object=str(Request(meta.name, meta.namespace)),
                why=error.why,
            )

    def _announce(self, key: Request) -> None:
        for handler in self._undecodable_handlers:
            handler(key)

    def report_restart(self, outcome: WatchOutcome) -> bool:
        if outcome is WatchOutcome.MISSING:
            self.missing = True
            if self.optional:
                self._awaited.clear()
                self._synced.set()
        if self._observer is not None:
            self._observer.restarted(self.resource.full_name, REASONS.get(outcome, "error"))
        return outcome is WatchOutcome.MISSING and self.optional

    def _take(self, key: Request, obj: K, *, initial: bool) -> None:
        old, meta = self.overlay.delivered(key), obj.metadata
        if old is not None and old.metadata.uid != meta.uid:
            self.overlay.observe_delete(key, old.metadata.uid, old.metadata.resource_version)
            self._deliver(ObjectChange(old, None, final=False))
            old = None
        if old is not None and old.metadata.resource_version == meta.resource_version:
            return
        self.overlay.observe_update(key, obj)
        self._deliver(ObjectChange(old, obj, initial))

    def _vanish(self, key: Request, version: str) -> None:
        old, shown = self.overlay.delivered(key), self.store.get(key)
        self.overlay.observe_absence(key, version)
        if old is None and self.store.get(key) is None:
            # What we wrote is gone, and the watch never told of it: its end is news all the same.
            old = shown
        if old is not None:
            self.managed.forget(old.metadata.uid)
            self._deliver(ObjectChange(old, None, final=False))

    def _deliver(self, change: ObjectChange[K]) -> None:
        for handler in self._handlers:
            try:
                handler(change)
            except Exception:
                # Handlers run their author's predicates and mappings inside the watch loop: what
                # one of them cannot digest must reach the others, and must not end the stream.
                log.exception("handler failed", kind=self.resource.kind, change=_named(change))

    def _known(self) -> Iterable[Request]:
        """All keys in the order they came: who hears of them must not depend on their hashes."""
        return dict.fromkeys((*self.store.list_keys(), *self.overlay.list_keys()))


def _within(namespace: str, key: Request) -> bool:
    return not namespace or key.namespace == namespace


def _named(change: ObjectChange[K]) -> str:
    seen = change.new or change.old
    return str(seen.key) if seen is not None else ""
