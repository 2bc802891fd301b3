"""What a controller is, before it runs: values only, checked when they are declared.

A declaration binds to nothing. The same one runs in production, in a test and in a simulation,
and the permissions it needs can be read off it without a cluster.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Generic, Protocol

from msgspec import Struct, field

from quintant.core.object import K, Object, Request
from quintant.core.owner import OWNER_UID, controller_of, owner_of, owner_uid_of
from quintant.core.resource import Resource, resource_of
from quintant.runtime.cache.indexer import IndexFunction
from quintant.runtime.reconcile.context import Context, K_contra, KeyReconciler, Reconciler
from quintant.runtime.reconcile.finalizer import Finalizer
from quintant.runtime.reconcile.keyed_state import KeyHolder
from quintant.runtime.source.predicates import Predicate
from quintant.runtime.source.sources import Source
from quintant.runtime.workqueue.rate_limiter import CAP_SECONDS, FIRST_SECONDS, RateLimiter

# Reconciles wait for the network most of their time, so a few at once cost nothing.
WORKERS = 4
# A reconcile that takes longer holds a worker for no good reason: it should ask to be called again.
TIMEOUT_SECONDS = 120.0

Mapper = Callable[[K], Iterable[Request]]


class ByIndex(Struct, Generic[K], frozen=True):
    """Maps an object to those that an index of the controlled kind files under its key."""

    index: str
    values: Callable[[K], Iterable[str]]


def by_index(
    index: str, values: Callable[[Any], Iterable[str]] = lambda obj: (str(obj.key),)
) -> ByIndex[Any]:
    """Wake the objects that refer to this one: those an index files under its `namespace/name`."""
    return ByIndex(index, values)


class WatchDeclaration(Struct, frozen=True):
    """A second kind whose changes wake the controller, and which keys they wake."""

    kind: type[Object]
    to: Mapper[Any] | ByIndex[Any]
    when: Predicate[Any] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    owned: bool = False
    indexes: Mapping[str, IndexFunction[Any]] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()
    """The only ones it is followed in; empty is wherever the manager works."""
    optional: bool = False
    """Whether the server may not serve it."""
    shared: bool = False
    """Whether every member of a sharded manager holds all of it."""


class Retry(Struct, frozen=True):
    """How a failing key waits: `first` seconds, doubling, up to `cap`.

    With a `rate`, all failing keys of the controller together are retried that often per second,
    after a `burst`.
    """

    first: float = FIRST_SECONDS
    cap: float = CAP_SECONDS
    rate: float | None = None
    burst: int = 1


class PermissionUse(Struct, frozen=True):
    """A permission the reconciler needs beyond what it watches."""

    kind: type[Object]
    verbs: tuple[str, ...]
    sub: str = ""
    namespaces: tuple[str, ...] = ()
    """The only ones it is needed in; empty is wherever the manager works."""
    names: tuple[str, ...] = ()
    """The only objects it is needed for; empty is all of them."""


class ReconcileFailure(Struct, frozen=True):
    """A reconcile that failed, as a retry policy judges it."""

    request: Request
    error: Exception
    """What was raised; a ReconcileTimeout, where it took too long."""
    failures: int
    """How many times in a row the key has failed, this time included."""


class GiveUp(Struct, frozen=True):
    """Do not try again until the object changes; a Warning event with this reason says so."""

    reason: str = "GaveUp"


class RetryPolicy(Protocol):
    """Decides what follows a failure; any function of this shape will do. It must not wait."""

    def __call__(self, failure: ReconcileFailure, /) -> float | GiveUp | None:
        """Seconds until the next try, or GiveUp; None leaves it to the rate limiter."""


class PriorityFunction(Protocol[K_contra]):
    """Ranks a key when it is added to the queue; any function of this shape will do."""

    def __call__(self, request: Request, obj: K_contra | None, priority: int, /) -> int:
        """The priority, the higher the sooner; `obj` is the cached object, if there is one.

        `priority` is what it would be: 0 for a change, -100 for what nobody waits for.
        """


DaemonFunction = Callable[[K, Context[K]], Awaitable[None]]
"""Runs beside the reconciles for as long as its object lives, or until it returns."""

OnDeleted = Callable[[Request], Awaitable[None] | None]


class Declaration(Struct, Generic[K], frozen=True):
    """One controller: what it controls, what wakes it, and how it works."""

    name: str
    kind: type[K] | None
    """None for a controller whose keys are no objects."""
    reconcile: Reconciler[K] | KeyReconciler
    when: Predicate[K] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    watches: tuple[WatchDeclaration, ...] = ()
    indexes: Mapping[str, IndexFunction[K]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    uses: tuple[PermissionUse, ...] = ()
    finalizer: Finalizer[K] | None = None
    on_deleted: OnDeleted | None = None
    keeps: tuple[KeyHolder, ...] = ()
    """What forgets a key when its object is gone."""
    workers: int = WORKERS
    timeout: float = TIMEOUT_SECONDS
    retry: Retry = Retry()
    rate_limiter: Callable[[], RateLimiter[Request]] | None = None
    """What makes the rate limiter of a run, in place of `retry`."""
    retry_policy: RetryPolicy | None = None
    priority: PriorityFunction[K] | None = None
    daemon: DaemonFunction[K] | None = None
    """A task per object, beside its reconciles."""
    resync: bool = True
    namespaces: tuple[str, ...] = ()
    """The only ones it controls objects in; empty is wherever its manager works."""
    shard_key: Callable[[Request], Request] | None = None
    """What stands for a key when ranges are divided among members; None: the key itself."""
    fresh: float | None = None
    """Seconds that the views it acts on may be behind at most; None: however old they are."""
    shared: bool = False
    """Whether every member of a sharded manager holds all objects that it controls."""
    single: bool = False
    """Whether only one member of a sharded manager runs it."""
    on_released: Callable[[Request], None] | None = None
    """What forgets a key that is another member's from now on."""
    part: str = ""
    """The part of the manager it belongs to, if it can be switched off."""
    home: bool = True
    """Whether it works in the cluster that the manager itself belongs to."""
    others: bool = True
    """Whether it works in the other clusters of the manager, if it has any."""


def owner_requests(owner: Resource, *, every_owner: bool) -> Mapper[Object]:
    """Map a child to its owner: the controller, or every owner of that kind."""

    def requests(child: Object) -> Iterable[Request]:
        held = controller_of(child)
        found = child.metadata.owner_references if every_owner else (held,) if held else ()
        for reference in found:
            group = reference.api_version.rpartition("/")[0]
            if reference.kind == owner.kind and group == owner.group:
                yield Request(reference.name, child.metadata.namespace if owner.namespaced else "")
        labelled = owner_of(child) if OWNER_UID in child.metadata.labels and not held else None
        if labelled and (labelled.group, labelled.kind) == (owner.group, owner.kind):
            yield Request(labelled.name, labelled.namespace)

    return requests


def owner_uid(child: Object) -> Iterable[str]:
    """The index function behind `Context.owned`."""
    uid = owner_uid_of(child)
    return (uid,) if uid else ()


def kind_name(kind: type[Object]) -> str:
    """`Pod`, for messages."""
    return resource_of(kind).kind
