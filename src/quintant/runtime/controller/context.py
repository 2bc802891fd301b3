"""What a reconciler is given beside its object: a client, a logger, and shorthands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, ParamSpec, Protocol, TypeVar

from msgspec import Struct

from quintant.api.events import EventType, PlannedEvent
from quintant.api.meta import ObjectReference
from quintant.core.clock import Clock, Random
from quintant.core.errors import Conflict, Status, Terminal
from quintant.core.object import Custom, K, Object, Request, S, St
from quintant.core.owner import owner_name_of, owner_of, owner_uid_of
from quintant.runtime.apply.control import NAME_TAKEN, check_owner
from quintant.runtime.apply.diff import ChildConflict
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.blocking_calls import BlockingCalls
from quintant.runtime.controller.result import Result
from quintant.runtime.controller.status_writer import StatusWriter
from quintant.runtime.observe.logs import Logger

OWNER_INDEX = "quintant/controller-uid"
"""The index, kept for every owned kind, of children by their controller's uid."""

K_co = TypeVar("K_co", bound=Object, covariant=True)
K_contra = TypeVar("K_contra", bound=Object, contravariant=True)
Obj = TypeVar("Obj", bound=Object)
P = ParamSpec("P")
T = TypeVar("T")


class Recorder(Protocol):
    """Where events go; never waits, never raises."""

    def event(
        self,
        regarding: Object | ObjectReference,
        type: EventType,
        reason: str,
        note: str,
        *,
        action: str = "",
    ) -> None: ...


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

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that blocks in a thread, and return what it returns or raises.

        A thread cannot be cancelled: a reconcile that runs out of time ends when the call does.
        """
        return await self.blocking.run(function, *args, **kwargs)

    async def apply(self, child: Obj, *, force: bool = True, adopt: bool = False) -> Obj:
        """Make the server's object agree with every field set here.

        A child that is `owned` is not taken from anybody: Terminal (NameTaken) if the caches know
        an object of its name that has another controller, or none. `adopt` takes it over.
        """
        if not adopt:
            self._respect(child)
        if owner_name_of(child) and owner_uid_of(child) == self.obj.metadata.uid:
            await self._check_owner(child)
        return await self.client.apply(child, force=force)

    async def _check_owner(self, child: Object) -> None:
        """Conflict if a child in another namespace would be made for an owner that is gone."""
        caches = self.client.caches
        if caches is None or caches.find_anywhere(type(child), child.key) is None:
            await check_owner(self.client, self.obj)

    def _respect(self, child: Object) -> None:
        wanted, caches = owner_of(child), self.client.caches
        held = (
            caches.find_anywhere(type(child), child.key) if wanted and caches is not None else None
        )
        if wanted is None or held is None:
            return
        holder = owner_of(held)
        if holder is not None and holder.uid == wanted.uid:
            return
        refusal = ChildConflict(held, child)
        if held.deleting or (holder and holder.is_namesake_of(wanted)):
            # The child of one that had our name before: it goes, and there is nothing to tell.
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

    async def owned(self, kind: type[K]) -> Sequence[K]:
        """The children of a kind that this object controls; the kind is declared with `.owns`."""
        return await self.client.list(kind, index=(OWNER_INDEX, self.obj.metadata.uid))

    def event(
        self,
        reason: str,
        note: str,
        *,
        type: EventType = "Normal",
        action: str = "",
        regarding: Object | None = None,
    ) -> None:
        """Tell the user what happened, once per transition. Never waits, never raises."""
        about = regarding if regarding is not None else self.obj
        self.recorder.event(about, type, reason, note, action=action)

    def tell(self, *events: PlannedEvent) -> None:
        """Tell the user what was planned, in this order, once it has come true."""
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
    blocking: BlockingCalls

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that blocks in a thread, as `Context.in_thread` does."""
        return await self.blocking.run(function, *args, **kwargs)

    def event(
        self,
        regarding: Object | ObjectReference,
        reason: str,
        note: str,
        *,
        type: EventType = "Normal",
        action: str = "",
    ) -> None:
        """Tell the user what happened to an object, or to a part that a reference names.

        Never waits, never raises.
        """
        self.recorder.event(regarding, type, reason, note, action=action)

    def tell(self, regarding: Object | ObjectReference, *events: PlannedEvent) -> None:
        """Tell the user what was planned about an object, in this order."""
        for event in events:
            self.event(regarding, event.reason, event.note, type=event.type, action=event.action)


class Reconciler(Protocol[K_contra]):
    """Brings the world in line with one object; any callable of this shape will do."""

    async def __call__(self, obj: K_contra, ctx: Context[K_contra], /) -> Result | None: ...


class KeyReconciler(Protocol):
    """Brings the world in line with one key."""

    async def __call__(self, request: Request, ctx: KeyContext, /) -> Result | None: ...
