"""Doing what the diff says, through a client: the only part of it that writes.

Everything is written by server-side apply, creations too: a field that was POSTed stays when it is
no longer desired, one that was applied goes. Apply cannot be told to create only, so each name is
looked up live before it is taken. Nothing is done twice: a pass that finds the world as desired
writes nothing, and one cut short anywhere is continued by the next. Nothing is deleted by an old
view: before that, the server is asked whether the owner still says what was decided by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from quintant.core.errors import Conflict, Invalid, Status, Terminal
from quintant.core.object import K, Object, ObjectMeta
from quintant.core.owner import owner_name_of
from quintant.core.resource import resource_of
from quintant.core.turns import in_turns
from quintant.runtime.apply.diff import (
    Adopts,
    ChildChanges,
    ChildConflict,
    ChildUpdate,
    DiffRules,
    Drifted,
    E,
    compare,
    prepare,
)
from quintant.runtime.apply.revision import MARK, RevisionMark

NAME_TAKEN = "NameTaken"
"""Reason of the Terminal raised when somebody else holds a desired child's name."""

IMMUTABLE = "ChildImmutable"
"""Reason of the Terminal raised when the server lets a child be replaced only, not changed."""

# How API servers word a refusal to change a field, in the causes of a 422.
REFUSALS = ("immutable", "may not change", "cannot change", "updates to")

Operations = Sequence[Mapping[str, Any]]
Strays = Callable[[Any, Any], Operations]


class ChildClient(Protocol):
    """What is asked of a client."""

    async def find(
        self, kind: type[K], name: str, namespace: str = "", *, live: bool = False
    ) -> K | None: ...

    async def apply(self, obj: K, *, force: bool = True) -> K: ...

    async def json_patch(
        self, kind: type[Object], meta: ObjectMeta, operations: Operations
    ) -> None: ...

    async def delete(self, obj: Object, *, foreground: bool = False) -> None: ...


class Policy(Struct, frozen=True):
    """How the children of one kind are kept. Make one value per kind, beside its builder."""

    update: Literal["apply", "replace", "leave"] = "apply"
    """`apply` changes a child in place. `replace` does too, and deletes it where the server says
    that a field is immutable; its deletion wakes the reconciler, which creates it anew. `leave`
    leaves `ChildChanges.update` to the caller, who may want to roll pods within a budget."""
    delete: Literal["background", "foreground", "leave"] = "background"
    """How surplus children go. `leave` keeps them, as volumes and public addresses should be."""
    mark: RevisionMark = MARK
    drifted: Drifted | None = None
    """Asked `(have, want)` where revisions agree; True restores what somebody edited."""
    strays: Strays | None = None
    """Asked `(have, want)` where revisions agree, and after an update: the JSON patch that removes
    what somebody added, guarded by a test of the version; empty if there is nothing."""
    adopts: Adopts | None = None
    """Asked `(have, want)` of an object that has a child's name and no controller; True takes it
    over, as what was made by hand or by another program before. None takes over nothing."""
    across_namespaces: bool = False
    """Whether children may be in other namespaces than their owner: they are labelled then."""


async def control(
    client: ChildClient,
    desired: Iterable[K],
    existing: Iterable[E],
    *,
    by: Object,
    policy: Policy = Policy(),
) -> ChildChanges[K, E | K]:
    """Make the children of `by` as desired; returns what was decided.

    Creates first, then updates, in the order of ordinals; then deletes, last ordinal first. What
    the policy leaves is in the answer for the caller to do. Raises Terminal when everything else
    is done and a child is refused (NAME_TAKEN) or cannot be changed (IMMUTABLE).
    """
    children = [child async for child in in_turns(_prepared(desired, by, policy))]
    changes = await _decide(client, children, tuple(existing), by, policy)
    if any(map(owner_name_of, changes.create)):
        await check_owner(client, by)
    for child in changes.create:
        await client.apply(child, force=False)
    stuck = [it for it in changes.update if not await _updated(client, it, policy, by)]
    if policy.delete != "leave" and changes.delete:
        await check_current(client, by)
        for surplus in changes.delete:
            await client.delete(surplus, foreground=policy.delete == "foreground")
    _complain(changes.refused, stuck)
    return changes


async def check_owner(client: ChildClient, by: Object) -> None:
    """Raise Conflict if the server does not know this very owner any more.

    The garbage collector would not see to what is made for it in another namespace.
    """
    live = await client.find(type(by), *by.key, live=True)
    if live is None or live.metadata.uid != by.metadata.uid:
        raise _behind(by, "is gone")


async def check_current(client: ChildClient, by: Object) -> None:
    """Raise Conflict if the server's object has another spec than ours: our cache is behind.

    To be asked before something is taken away that cannot be given back: a process that starts may
    be given an old list.
    """
    live = await client.find(type(by), *by.key, live=True)
    if live is None or live.metadata.uid != by.metadata.uid:
        raise _behind(by, "is gone")
    if live.metadata.generation != by.metadata.generation:
        raise _behind(by, "was changed")


def _behind(by: Object, text: str) -> Conflict:
    message = f"{resource_of(type(by)).kind} {by.key} {text}, and our cache is behind"
    return Conflict(Status(code=409, reason="Conflict", message=message))


def _prepared(desired: Iterable[K], by: Object, policy: Policy) -> Iterator[K]:
    """Children as they are sent; the iterator is slow, as hashes are."""
    return (prepare(it, by, policy.mark, policy.across_namespaces) for it in desired)


async def _decide(
    client: ChildClient, desired: Sequence[K], existing: tuple[E, ...], by: Object, policy: Policy
) -> ChildChanges[K, E | K]:
    """Decide on what is known, and once more on what only the server knew."""

    def decided(known: tuple[E | K, ...]) -> ChildChanges[K, E | K]:
        rules = DiffRules(by, policy.mark, edited, policy.adopts)
        return compare(desired, known, rules)

    edited = _edited(policy)
    changes = decided(existing)
    unseen = [
        found
        for child in changes.create
        if (found := await client.find(type(child), *child.key, live=True)) is not None
    ]
    return decided((*existing, *unseen)) if unseen else changes


def _edited(policy: Policy) -> Drifted | None:
    """Whether somebody changed a child or added to it; None if the policy does not care."""
    checks = [each for each in (policy.drifted, policy.strays) if each is not None]
    return (lambda have, want: any(each(have, want) for each in checks)) if checks else None


async def _updated(
    client: ChildClient, update: ChildUpdate[K, E], policy: Policy, by: Object
) -> bool:
    """Whether the policy is fulfilled; False when the server refuses to change the child."""
    if policy.update == "leave":
        return True
    try:
        live = await client.apply(update.want)
    except Invalid as error:
        _check_identity(error, update.have)
        if not _immutable(error):
            raise
        if policy.update == "apply":
            return False
        await check_current(client, by)
        await client.delete(update.have, foreground=policy.delete == "foreground")
        return True
    if policy.strays is not None:
        # Only now: before, a pod might be left without any container, and be refused.
        await _purge(client, live, policy.strays(live, update.want))
    return True


async def _purge(client: ChildClient, live: Object, operations: Operations) -> None:
    if not operations:
        return
    try:
        await client.json_patch(type(live), live.metadata, operations)
    except Invalid as error:
        # A failed test operation is answered with 422: it has changed since.
        raise Conflict(Status(code=409, reason="Conflict", message=error.message)) from error


def _check_identity(error: Invalid, have: Object) -> None:
    """Raise Conflict where the server complains that the uid is another: our cache is behind."""
    if any(cause.field == "metadata.uid" for cause in error.causes):
        message = f"{resource_of(type(have)).kind} {have.key} was replaced by a namesake"
        raise Conflict(Status(code=409, reason="Conflict", message=message)) from error


def _immutable(error: Invalid) -> bool:
    return any(word in cause.message for cause in error.causes for word in REFUSALS)


def _complain(refused: Iterable[ChildConflict[K, E]], stuck: Iterable[ChildUpdate[K, E]]) -> None:
    if taken := "; ".join(map(str, refused)):
        raise Terminal(f"{taken}: delete that object, or choose another name", reason=NAME_TAKEN)
    if fixed := ", ".join(f"{resource_of(type(it.want)).kind} {it.want.key}" for it in stuck):
        raise Terminal(
            f"{fixed}: a field that differs is immutable; delete the object, "
            "or let its policy be Policy(update='replace')",
            reason=IMMUTABLE,
        )
