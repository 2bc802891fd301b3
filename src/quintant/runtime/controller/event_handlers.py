"""From changes to keys: what wakes a controller, and with which key.

Predicates and mappers are the user's, and run inside the watch. One that fails is reported and
disturbs no other handler: a predicate then lets the change through, since one that is looked at
twice does no harm; a mapper has named no key to wake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic

from msgspec import Struct

from quintant.core.object import K, Object, Request
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.controller.declaration import (
    ByIndex,
    Declaration,
    Mapper,
    WatchDeclaration,
    owner_uid,
)
from quintant.runtime.controller.kept_objects import controlled_rule, watched_rule
from quintant.runtime.controller.orphans import ORPHAN_INDEX, OrphanSweep, labelled_owner
from quintant.runtime.observe import logs
from quintant.runtime.observe.tracing import ControllerTracing
from quintant.runtime.reconcile.context import OWNER_INDEX
from quintant.runtime.reconcile.finalizer import ReconcileStep, is_released, next_step
from quintant.runtime.source.predicates import Predicate
from quintant.runtime.workqueue.key_queue import KeyQueue
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY

log: Final = logs.get_logger()


class EventSources(Struct, Generic[K], frozen=True):
    """The informers of one controller, connected to its queue."""

    primary: Informer[K] | None
    related: tuple[Informer[Any], ...]
    orphans: OrphanSweep[K] | None
    """What deletes labelled children whose owner is gone; None without a controlled kind."""
    known_keys: Callable[[], Iterable[Request]]
    """The keys of every controlled object the caches have seen, and of those that are gone and have
    left children; without a controlled kind, those that the objects of the watched ones map to."""


def connect_sources(
    declared: Declaration[K],
    caches: Caches,
    queue: KeyQueue,
    going: Callable[[Request], None],
    tracing: ControllerTracing | None = None,
) -> EventSources[K]:
    """Declare the informers a controller needs, and let their changes fill its queue.

    `going` hears of every object whose deletion begins.
    """
    primary = (
        _primary(declared, declared.kind, caches, queue, going, tracing) if declared.kind else None
    )
    related = tuple(
        _related(declared, watch, primary, caches, queue, tracing) for watch in declared.watches
    )
    if primary is None:
        return EventSources(primary, related, None, lambda: _known(declared, related))
    owned = [each for watch, each in zip(declared.watches, related, strict=True) if watch.owned]
    orphans = OrphanSweep(primary, owned)
    return EventSources(
        primary, related, orphans, lambda: (*primary.store.list_keys(), *orphans.owners())
    )


def _primary(
    declared: Declaration[K],
    kind: type[K],
    caches: Caches,
    queue: KeyQueue,
    going: Callable[[Request], None],
    tracing: ControllerTracing | None,
) -> Informer[K]:
    informer = caches.declare(
        kind,
        labels=declared.labels,
        fields=declared.fields,
        namespaces=declared.namespaces,
        keep=controlled_rule(declared, caches.partition),
    )
    for name, function in declared.indexes.items():
        informer.store.ensure_index(name, function)

    def enqueue(change: ObjectChange[K]) -> None:
        seen = change.new if change.new is not None else change.old
        if seen is None:
            return
        key, ending = seen.key, seen.metadata.deletion_timestamp is not None
        if ending and _going(change):
            going(key)
        if (
            change.new is None
            or (ending and _vital(change))
            or (declared.finalizer is not None and _unheld(declared, change))
            or declared.when is None
            or _admits(declared, declared.when, change)
        ):
            queue.add(key, priority=LOW_PRIORITY if change.initial else 0)
            if tracing is not None:
                tracing.changed(key, kind, change)

    informer.subscribe(enqueue)
    informer.on_undecodable(queue.add)
    return informer


def _related(
    declared: Declaration[K],
    watch: WatchDeclaration,
    primary: Informer[K] | None,
    caches: Caches,
    queue: KeyQueue,
    tracing: ControllerTracing | None,
) -> Informer[Any]:
    informer = caches.declare(
        watch.kind,
        labels=watch.labels,
        fields=watch.fields,
        namespaces=watch.namespaces,
        optional=watch.optional,
        keep=watched_rule(declared, watch, caches.partition),
    )
    owners = {OWNER_INDEX: owner_uid, ORPHAN_INDEX: labelled_owner} if watch.owned else {}
    for name, function in {**owners, **watch.indexes}.items():
        informer.store.ensure_index(name, function)
    mapper = _mapper(watch.to, primary)

    def enqueue(change: ObjectChange[Any]) -> None:
        if watch.when is None or _admits(declared, watch.when, change):
            priority = LOW_PRIORITY if change.initial else 0
            for side in (change.old, change.new):
                if side is not None:
                    for request in _mapped(declared, mapper, side):
                        queue.add(request, priority=priority)
                        if tracing is not None:
                            tracing.changed(request, watch.kind, change)

    informer.subscribe(enqueue)
    return informer


def _known(declared: Declaration[Any], related: Iterable[Informer[Any]]) -> Iterable[Request]:
    """The keys of a controller without a kind, from what its watches have seen."""
    found: dict[Request, None] = {}
    for watch, informer in zip(declared.watches, related, strict=True):
        mapper = _mapper(watch.to, None)
        for obj in informer.store:
            found |= dict.fromkeys(_mapped(declared, mapper, obj))
    return found


def _mapper(to: Mapper[Any] | ByIndex[Any], primary: Informer[Any] | None) -> Mapper[Any]:
    if not isinstance(to, ByIndex):
        return to
    assert primary is not None, "the builder refuses by_index without a controlled kind"
    index = primary.store.index(to.index)

    def requests(obj: Object) -> Iterable[Request]:
        return [key for value in to.values(obj) for key in index.keys(value)]

    return requests


def _vital(change: ObjectChange[Any]) -> bool:
    """A change that no predicate may hide: the object begins to go, or is released."""
    return _going(change) or _released(change)


def _going(change: ObjectChange[Any]) -> bool:
    old, new = change.old, change.new
    return new is not None and new.deleting and (old is None or not old.deleting)


def _released(change: ObjectChange[Any]) -> bool:
    old, new = change.old, change.new
    released = new is not None and new.deleting and is_released(new.metadata)
    return released and (old is None or not is_released(old.metadata))


def _unheld(declared: Declaration[K], change: ObjectChange[K]) -> bool:
    """Whether an object may have to be held or not held from now on: no predicate hides that."""
    held, old, new = declared.finalizer, change.old, change.new
    if held is None or held.when is None or new is None:
        return False
    try:
        wanted = held.wants(new)
        if old is not None and held.wants(old) != wanted:
            return True
        step = next_step(new.metadata, held.names, wanted)
    except Exception:
        # The watch loop owns recovery: a worker decides it once more, and reports what is wrong.
        return True
    return step in (ReconcileStep.ADD_FINALIZER, ReconcileStep.DROP_FINALIZER)


def _admits(
    declared: Declaration[Any], predicate: Predicate[Any], change: ObjectChange[Any]
) -> bool:
    try:
        return bool(predicate(change.old, change.new))
    except Exception:
        # The watch loop owns recovery: a change must not be lost for a defect in a predicate.
        log.exception("predicate failed", controller=declared.name)
        return True


def _mapped(declared: Declaration[Any], mapper: Mapper[Any], side: Object) -> list[Request]:
    try:
        requests = list(mapper(side))
        # A lone Request falls apart into two texts, and a text into its letters.
        if wrong := [request for request in requests if not isinstance(request, Request)]:
            raise TypeError(f"a mapping returns a list of Requests, and this is none: {wrong[0]!r}")
        return requests
    except Exception:
        # The watch loop owns recovery: the other handlers must hear of the change all the same.
        log.exception("mapping failed", controller=declared.name, related=str(side.key))
        return []
