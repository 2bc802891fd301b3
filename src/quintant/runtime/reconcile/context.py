"""What a reconciler is given beside its object: a client, a logger, and shorthands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from msgspec import Struct

from quintant.api.events import EventType, PlannedEvent
from quintant.api.meta import ObjectReference
from quintant.client.fence import FENCE_KEY
from quintant.core.clock import Clock, Random, seconds_of
from quintant.core.errors import Conflict, NotEngaged, Status, Terminal
from quintant.core.object import Custom, K, Object, Request, S, St
from quintant.core.owner import owner_name_of, owner_of, owner_uid_of
from quintant.core.resource import resource_of
from quintant.runtime.apply.control import NAME_TAKEN, check_owner
from quintant.runtime.apply.diff import ChildConflict
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.staleness import ControllerViews, check_within
from quintant.runtime.observe.logs import Logger
from quintant.runtime.reconcile.blocking_calls import BlockingCalls
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result
from quintant.runtime.reconcile.status_writer import StatusWriter

OWNER_INDEX = "quintant/controller-uid"
"""The index, kept for every owned kind, of children by their controller's uid."""

# How long a reconcile waits for caches that are behind: a worker is held meanwhile.
WAIT_SECONDS = 10.0

K_co = TypeVar("K_co", bound=Object, covariant=True)
K_contra = TypeVar("K_contra", bound=Object, contravariant=True)
Obj = TypeVar("Obj", bound=Object)
P = ParamSpec("P")
T = TypeVar("T")


class Recorder(Protocol):
    """Where events go."""

    def event(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        note: str,
        *,
        action: str = "",
    ) -> None:
        """Never waits, never raises."""

    async def confirm(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        note: str,
        *,
        action: str = "",
    ) -> None:
        """Waits until the API server has it."""


class Context(Struct, Generic[K_co], frozen=True):
    """One reconcile: its key, its object, and the means to act."""

    request: Request
    """Name and namespace of the object."""
    obj: K_co
    """The object this reconcile is about."""
    client: Client
    """Reads from the caches, writes as this controller's field manager."""
    log: Logger
    clock: Clock
    random: Random
    recorder: Recorder
    statuses: StatusWriter
    blocking: BlockingCalls
    views: ControllerViews
    reach: Callable[[str], Client] | None = None
    """Finds the client of another cluster, where there are several."""

    @property
    def epoch(self) -> int:
        """Since when the key is this process's own, as a number that only grows: for systems
        outside that refuse a smaller one than they have seen. 0 without shards."""
        key = FENCE_KEY.get()
        return key.epoch if key is not None else 0

    def client_of(self, cluster: str) -> Client:
        """The client of another cluster of the manager; an empty name is home.

        Its writes pass the fence of home, too. NotEngaged where the manager does not work there.
        """
        return _client_of(self.reach, cluster)

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that blocks in a thread, and return what it returns or raises.

        A thread cannot be cancelled: a reconcile that runs out of time ends when the call does.
        """
        return await self.blocking.run(function, *args, **kwargs)

    async def fresh(
        self, within: float | timedelta, *, wait: float | timedelta = WAIT_SECONDS
    ) -> None:
        """Wait until every cache of this controller is surely no older than `within`.

        StaleCache if one still is after `wait` seconds, and Conflict if this object has changed
        meanwhile: either way the reconcile comes again. The server is asked how far it is.
        """
        caches, key = self.client.caches, self.obj.key
        before = caches.find_anywhere(type(self.obj), key) if caches is not None else None
        await self.views.wait_within(check_within("fresh", within), seconds_of(wait))
        if caches is not None and caches.find_anywhere(type(self.obj), key) is not before:
            message = f"{key} has changed while its caches caught up"
            raise Conflict(Status(code=409, reason="Conflict", message=message))

    async def apply(self, child: Obj, *, force: bool = True, adopt: bool = False) -> Obj:
        """Make the server's object agree with every field set here.

        A child that is `owned` is not taken from another owner: Terminal (NameTaken) if the caches
        know an object of its name that has another controller, or none. `adopt` takes it over.
        """
        if not adopt:
            self._respect(child)
        labels = child.metadata.labels
        if labels and owner_name_of(child) and owner_uid_of(child) == self.obj.metadata.uid:
            await self._check_owner(child)
        return await self.client.apply(child, force=force)

    async def _check_owner(self, child: Object) -> None:
        """Conflict if a child in another namespace would be made for an owner that is gone."""
        caches = self.client.caches
        if caches is None or caches.find_anywhere(type(child), child.key) is None:
            await check_owner(self.client, self.obj)

    def _respect(self, child: Object) -> None:
        uid, caches = owner_uid_of(child), self.client.caches
        held = caches.find_anywhere(type(child), child.key) if uid and caches is not None else None
        if held is None and uid and caches is not None:
            _respect_foreign(caches, child, uid)
        if held is None or owner_uid_of(held) == uid:
            return
        wanted, holder = owner_of(child), owner_of(held)
        assert wanted is not None, "it has an owner's uid"
        refusal = ChildConflict(held, child)
        if held.deleting or (holder and holder.is_namesake_of(wanted)):
            # The child of one that had our name before: it goes, and there is nothing to report.
            raise Conflict(Status(code=409, reason="Conflict", message=f"{refusal}, and is going"))
        raise Terminal(f"{refusal}: delete that object, or choose another name", reason=NAME_TAKEN)

    async def set_status(self: Context[Custom[S, St]], status: St) -> None:
        """Make the object's status say this; nothing is sent if it does already."""
        await self.client.set_status(self.obj, status)  # type: ignore[arg-type]

    async def update_status(
        self: Context[Custom[S, St]], change: Callable[[St | None], St]
    ) -> St | None:
        """Change a status that other controllers of this process write too; none is lost.

        `change` gets the newest status and may run again, so it must be pure. Returns the status as
        it is stored, or None if the object is gone.
        """
        stored = await self.statuses.update(type(self.obj), self.request, change)
        return stored.status if stored is not None else None

    async def record(self: Context[Custom[S, St]], change: Callable[[St | None], St]) -> St:
        """Write down in the status what is about to be done outside, before it is done.

        `change` gets the newest status and may run again, so it must be pure. When this returns,
        the server has it, and this object is still the one that is reconciled: neither gone, nor
        being deleted, nor with another spec. Otherwise Conflict is raised, and the reconcile comes
        again with what is so. Returns the status as it is stored.
        """
        return await self.statuses.record(self.obj, change)

    async def conclude(self: Context[Custom[S, St]], conclusion: Conclusion[St]) -> Result | None:
        """End a reconcile: write the status if it differs, record the events, raise the error.

        Returns when to reconcile again, so it is the last line: `return await ctx.conclude(…)`.
        A write that fails (Conflict, NotFound) is raised, and no event is recorded.
        """
        if conclusion.change is None:
            if conclusion.status is not None:
                await self.set_status(conclusion.status)
        elif conclusion.changes(self.obj.status):
            await self.update_status(conclusion.change)
        self.tell(*conclusion.events)
        return conclusion.result()

    async def owned(self, kind: type[K]) -> Sequence[K]:
        """The children of a kind that this object controls; the kind is declared with `.owns`."""
        # Whoever holds a key holds the children of its object.
        return await self.client.list(kind, index=(OWNER_INDEX, self.obj.metadata.uid), held=True)

    def event(
        self,
        reason: str,
        note: str,
        *,
        type: EventType = "Normal",
        action: str = "",
        regarding: Object | None = None,
    ) -> None:
        """Record what happened, for the user, once per transition. Never waits, never raises."""
        about = regarding if regarding is not None else self.obj
        self.recorder.event(about, type, reason, note, action=action)

    async def confirm_event(self, event: PlannedEvent) -> None:
        """Report what nothing else will tell, such as what stays outside of an object that goes,
        and wait until the API server has it. Call it before the write that ends the object; it
        raises while the server is away, and is written once however often it is called."""
        await self.recorder.confirm(
            self.obj, event.type, event.reason, event.note, action=event.action
        )

    def tell(self, *events: PlannedEvent) -> None:
        """Record planned events, in this order, once they have come true."""
        for event in events:
            self.event(event.reason, event.note, type=event.type, action=event.action)


class KeyContext(Struct, frozen=True):
    """A reconcile of a controller without a kind of its own: the key is all there is."""

    request: Request
    client: Client
    log: Logger
    clock: Clock
    random: Random
    recorder: Recorder
    statuses: StatusWriter
    blocking: BlockingCalls
    views: ControllerViews
    reach: Callable[[str], Client] | None = None
    """Finds the client of another cluster, where there are several."""

    @property
    def epoch(self) -> int:
        """Since when the key is this process's own, as a number that only grows: for systems
        outside that refuse a smaller one than they have seen. 0 without shards."""
        key = FENCE_KEY.get()
        return key.epoch if key is not None else 0

    def client_of(self, cluster: str) -> Client:
        """The client of another cluster, as `Context.client_of` finds it."""
        return _client_of(self.reach, cluster)

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that blocks in a thread, as `Context.in_thread` does."""
        return await self.blocking.run(function, *args, **kwargs)

    async def fresh(
        self, within: float | timedelta, *, wait: float | timedelta = WAIT_SECONDS
    ) -> None:
        """Wait until every cache of this controller is no older, as `Context.fresh` does."""
        await self.views.wait_within(check_within("fresh", within), seconds_of(wait))

    async def conclude(self, obj: Custom[Any, St], conclusion: Conclusion[St]) -> Result | None:
        """End what a reconcile does about one object, as `Context.conclude` does.

        A key that stands for several objects concludes each, and returns what is due first.
        """
        if conclusion.change is None:
            if conclusion.status is not None:
                await self.client.set_status(obj, conclusion.status)  # type: ignore[arg-type]
        elif conclusion.changes(obj.status):
            await self.statuses.update(type(obj), obj.key, conclusion.change)
        self.tell(obj, *conclusion.events)
        return conclusion.result()

    def event(
        self,
        regarding: Object | ObjectReference,
        reason: str,
        note: str,
        *,
        type: EventType = "Normal",
        action: str = "",
    ) -> None:
        """Record what happened to an object, or to a part that a reference names.

        Never waits, never raises.
        """
        self.recorder.event(regarding, type, reason, note, action=action)

    def tell(self, regarding: Object | ObjectReference, *events: PlannedEvent) -> None:
        """Record planned events about an object, in this order."""
        for event in events:
            self.event(regarding, event.reason, event.note, type=event.type, action=event.action)


class Reconciler(Protocol[K_contra]):
    """Brings the world in line with one object; any callable of this shape will do."""

    async def __call__(self, obj: K_contra, ctx: Context[K_contra], /) -> Result | None: ...


class KeyReconciler(Protocol):
    """Brings the world in line with one key."""

    async def __call__(self, request: Request, ctx: KeyContext, /) -> Result | None: ...


def _client_of(reach: Callable[[str], Client] | None, cluster: str) -> Client:
    if reach is None:
        raise NotEngaged(cluster)
    return reach(cluster)


def _respect_foreign(caches: Caches, child: Object, uid: str) -> None:
    """Refuse a child whose name is that of an object which another member holds."""
    if caches.find_foreign(type(child), child.key, uid):
        raise Terminal(
            f"{resource_of(type(child)).kind} {child.key} exists and is held by another member: "
            "delete that object, or choose another name",
            reason=NAME_TAKEN,
        )
