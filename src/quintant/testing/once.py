"""One reconcile as a function: a world in, what was done to it out.

    outcome = reconcile_once(reconcile, greeter)
    assert outcome.writes[0].body["data"] == {"text": "hi"}

The world is put on an in-process server, the reconciler runs once against complete caches, and
what it wrote comes back as plain data. Time is virtual, and nothing is left over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quintant.api.events import EventType
from quintant.api.meta import ObjectReference
from quintant.client.request_info import resource_path
from quintant.client.rest import Rest
from quintant.core.errors import ConfigError
from quintant.core.object import K, Object, replace
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.staleness import Staleness
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration, owner_uid
from quintant.runtime.controller.reconcile import ControllerServices
from quintant.runtime.manager.manager import Manager
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.reconcile.blocking_calls import BlockingCalls
from quintant.runtime.reconcile.context import OWNER_INDEX, Reconciler
from quintant.runtime.reconcile.result import Result
from quintant.runtime.reconcile.status_writer import StatusWriter
from quintant.testing.cluster import InProcessCluster
from quintant.testing.faults.match import writes
from quintant.testing.faults.transport import SentRequest
from quintant.testing.loop import run
from quintant.testing.mutation_detector import CacheMutationDetector


@dataclass(frozen=True, slots=True)
class RecordedWrite:
    """One write: its verb, what it was about, and its body as plain data."""

    verb: str
    resource: str
    name: str
    namespace: str = ""
    sub: str = ""
    body: Any = None


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One event that the reconciler recorded."""

    type: EventType
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class OnceOutcome:
    """What one reconcile returned and did."""

    result: Result | None
    writes: tuple[RecordedWrite, ...] = ()
    events: tuple[RecordedEvent, ...] = ()


def reconcile_once(
    target: Manager | Reconciler[K], obj: K, *, world: Sequence[Object] = ()
) -> OnceOutcome:
    """Run one reconcile of `obj` in a world of other objects; what it raises is raised here.

    `target` is a reconciler, or a manager that controls the kind: then its indexes and finalizers
    count too. Owner references among the objects may use any uid that one of them carries.
    AssertionError if the reconciler changed a cached object in place.
    """
    return run(_once(target, obj, world))


async def _once(target: Manager | Reconciler[K], obj: K, world: Sequence[Object]) -> OnceOutcome:
    cluster, notes = InProcessCluster(), _Notes()
    stored = await _populate(cluster, obj, world)
    kinds = {type(each) for each in world}
    async with _controller(cluster, _declaration(target, type(obj)), kinds, notes) as controller:
        before = len(cluster.faults.calls)
        result = await controller.handle(stored.key)
        sent = list(cluster.faults.calls)[before:]
    return OnceOutcome(result, tuple(_writes(sent)), tuple(notes.notes))


async def _populate(cluster: InProcessCluster, obj: K, world: Sequence[Object]) -> K:
    """Store everything; owner references follow the uids that the server gives."""
    uids: dict[str, str] = {}
    stored = await _store(cluster, obj, uids)
    for other in world:
        await _store(cluster, other, uids)
    return stored


async def _store(cluster: InProcessCluster, obj: K, uids: dict[str, str]) -> K:
    owners = tuple(
        replace(owner, uid=uids.get(owner.uid, owner.uid))
        for owner in obj.metadata.owner_references
    )
    bare = replace(obj.metadata, owner_references=owners, uid="", resource_version="")
    stored = await cluster.create(replace(obj, metadata=replace(bare, deletion_timestamp=None)))
    uids[obj.metadata.uid] = stored.metadata.uid
    status = getattr(obj, "status", None)
    if status is not None:
        stored = await cluster.client.set_status(stored, status)
    if obj.deleting:
        await cluster.client.delete(stored)
    return stored


def _declaration(target: Manager | Reconciler[K], kind: type[K]) -> Declaration[Any]:
    if not isinstance(target, Manager):
        return Declaration("test", kind, target)
    for declared in target.declarations:
        if declared.kind is kind:
            return declared
    raise ConfigError(
        f"manager {target.name!r} does not control {kind.__name__}",
        hint="pass an object of a kind that it controls, or the reconciler itself",
    )


@asynccontextmanager
async def _controller(
    cluster: InProcessCluster, declared: Declaration[Any], kinds: set[type[Object]], notes: _Notes
) -> AsyncIterator[Controller[Any]]:
    environment = cluster.environment()
    await cluster.install(*kinds, *(watch.kind for watch in declared.watches))
    rest = Rest(environment.transport)
    caches = Caches(rest, environment.random)
    client = Client(rest, caches, random=environment.random)
    clock, random = environment.clock, environment.random
    statuses = StatusWriter(client, random)
    services = ControllerServices(
        caches,
        client,
        clock,
        random,
        Metrics(),
        notes,
        statuses,
        BlockingCalls(),
        Staleness(rest, environment.boottime, random),
    )
    controller = Controller(declared, services)
    for kind in kinds:
        informer = caches.declare(kind)
        if not informer.store.has_index(OWNER_INDEX):
            informer.store.add_index(OWNER_INDEX, owner_uid)
    detector = CacheMutationDetector(caches)
    watching = asyncio.gather(*(informer.run() for informer in caches))
    try:  # not a TaskGroup, which would wrap what the reconciler raises
        for informer in caches:
            await informer.wait_synced()
        yield controller
        detector.check()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def _writes(sent: Sequence[SentRequest]) -> Iterator[RecordedWrite]:
    for each in sent:
        if writes(each.call):
            at = resource_path(each.call.path)
            body = msgspec.json.decode(each.call.body) if each.call.body else None
            yield RecordedWrite(each.verb, at.plural, at.name, at.namespace, at.sub, body)


@dataclass(slots=True)
class _Notes:
    """A recorder that only remembers."""

    notes: list[RecordedEvent] = field(default_factory=list)

    def event(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        note: str,
        *,
        action: str = "",
    ) -> None:
        self.notes.append(RecordedEvent(type, reason, note))

    async def confirm(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        note: str,
        *,
        action: str = "",
    ) -> None:
        self.event(regarding, type, reason, note, action=action)
