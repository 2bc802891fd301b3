"""What to do with the children of one kind: desired against existing, decided without I/O.

A child is ours if its owner, by reference or by label, has our uid. Only what is ours is ever
updated or deleted; a name held by somebody else is refused. What nobody controls is refused, too,
unless the caller adopts it. What is on its way out is left alone, and what should take its name
waits. Applying the changes and deciding again gives no changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from msgspec import Struct

from quintant.core.object import K, Object, Request, replace
from quintant.core.owner import Owner, owned, owner_of, owner_uid_of
from quintant.core.resource import resource_of
from quintant.runtime.apply.order import sort_key
from quintant.runtime.apply.revision import MARK, RevisionMark, marked

E = TypeVar("E", bound=Object)
Drifted = Callable[[Any, Any], bool]
Adopts = Callable[[Any, Any], bool]


class ChildDecision(Enum):
    """What becomes of a desired child whose name is held already."""

    UPDATE = auto()  # ours, with another revision or drifted; or nobody's, and adopted
    LEAVE = auto()  # ours, and as desired
    WAIT = auto()  # on its way out
    REFUSE = auto()  # somebody else's


class ChildUpdate(Struct, Generic[K, E], frozen=True):
    """A child to change: as it is, and as it should be."""

    have: E
    want: K


class ChildConflict(Struct, Generic[K, E], frozen=True):
    """A desired child whose name somebody else holds."""

    have: E
    want: K

    @property
    def holder(self) -> Owner | None:
        """Who controls the object that has the name; None if nobody does."""
        return owner_of(self.have)

    def __str__(self) -> str:
        by, there = "no controller", self.have.metadata.namespace
        if self.holder is not None:
            apart = f" of namespace {self.holder.namespace}" * (self.holder.namespace != there)
            by = f"{self.holder.kind} {self.holder.name}{apart}"
        return f"{resource_of(type(self.want)).kind} {self.have.key} exists and belongs to {by}"


class ChildChanges(Struct, Generic[K, E], frozen=True):
    """The decisions, each in the order of ordinals; deletions last ordinal first.

    Desired objects in it carry owner and revision; in an update also the uid of the object they
    replace, so that the write fails if that object is gone.
    """

    create: tuple[K, ...] = ()
    update: tuple[ChildUpdate[K, E], ...] = ()
    delete: tuple[E, ...] = ()
    leave: tuple[E, ...] = ()
    waiting: tuple[K, ...] = ()
    refused: tuple[ChildConflict[K, E], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.create or self.update or self.delete)

    @property
    def settled(self) -> bool:
        """Whether the world is as desired: nothing to write, to wait for, or in the way."""
        return self.empty and not self.waiting and not self.refused


def diff(
    desired: Iterable[K],
    existing: Iterable[E],
    *,
    by: Object,
    mark: RevisionMark = MARK,
    drifted: Drifted | None = None,
    adopts: Adopts | None = None,
    across_namespaces: bool = False,
) -> ChildChanges[K, E]:
    """Decide what to create, update, delete and leave, so that `by` has exactly `desired`.

    All objects are of one kind, though `existing` may be a narrower projection of it: beyond the
    metadata nothing of a live object is looked at. `drifted(have, want)` may look further and ask
    for an update although the revisions agree. `adopts(have, want)` is asked of what nobody
    controls; True takes it over. With `across_namespaces`, children may be in other namespaces than
    `by`. Two objects of one name raise ValueError.
    """
    prepared = (prepare(child, by, mark, across_namespaces) for child in desired)
    return compare(prepared, existing, DiffRules(by, mark, drifted, adopts))


class DiffRules(Struct, frozen=True):
    """What a decision depends on besides the two objects."""

    by: Object
    mark: RevisionMark = MARK
    drifted: Drifted | None = None
    adopts: Adopts | None = None


def compare(prepared: Iterable[K], existing: Iterable[E], rules: DiffRules) -> ChildChanges[K, E]:
    """Decide as `diff` does, on children that are prepared."""
    by, mark = rules.by, rules.mark
    wanted, found = _by_name(prepared, mark), _by_name(existing, mark)
    held = [(found[key], want) for key, want in wanted.items() if key in found]
    fates = [_fate(have, want, rules) for have, want in held]
    surplus = [have for key, have in found.items() if key not in wanted and controlled(have, by)]

    def met(fate: ChildDecision) -> list[tuple[E, K]]:
        return [pair for pair, its in zip(held, fates, strict=True) if its is fate]

    left = [have for have, _ in met(ChildDecision.LEAVE)] + [
        have for have in surplus if have.deleting
    ]
    return ChildChanges(
        create=tuple(want for key, want in wanted.items() if key not in found),
        update=tuple(
            ChildUpdate(have, _over(have, want)) for have, want in met(ChildDecision.UPDATE)
        ),
        delete=tuple(have for have in reversed(surplus) if not have.deleting),
        leave=tuple(sorted(left, key=lambda obj: sort_key(obj, mark.ordinal))),
        waiting=tuple(want for _, want in met(ChildDecision.WAIT)),
        refused=tuple(ChildConflict(have, want) for have, want in met(ChildDecision.REFUSE)),
    )


def controlled(obj: Object, by: Object) -> bool:
    """Whether `by` itself, not a namesake, is the controller of `obj`."""
    return owner_uid_of(obj) == by.metadata.uid != ""


def _fate(have: Object, want: Object, rules: DiffRules) -> ChildDecision:
    if have.deleting or _former(have, rules.by):
        return ChildDecision.WAIT
    if not controlled(have, rules.by):
        adopts = rules.adopts if owner_of(have) is None else None
        return (
            ChildDecision.UPDATE
            if adopts is not None and adopts(have, want)
            else ChildDecision.REFUSE
        )
    if rules.mark.of(have) != rules.mark.of(want):
        return ChildDecision.UPDATE
    return (
        ChildDecision.UPDATE if rules.drifted and rules.drifted(have, want) else ChildDecision.LEAVE
    )


def _former(obj: Object, by: Object) -> bool:
    """Whether an earlier object of the owner's name controls it: garbage, not yet collected."""
    held = owner_of(obj)
    return held is not None and held.uid != by.metadata.uid and held.is_named_as(by)


def prepare(child: K, by: Object, mark: RevisionMark, across_namespaces: bool) -> K:
    """A desired child with its owner and its revision."""
    if not child.metadata.name:
        kind = resource_of(type(child)).kind
        raise ValueError(f"a desired {kind} has no name: after a restart it could not be found")
    return marked(owned(child, by=by, across_namespaces=across_namespaces), mark)


def _over(have: Object, want: K) -> K:
    return replace(want, metadata=replace(want.metadata, uid=have.metadata.uid))


def _by_name(objects: Iterable[E], mark: RevisionMark) -> dict[Request, E]:
    """The objects by name, in the order of their ordinals."""
    named: dict[Request, E] = {}
    for obj in sorted(objects, key=lambda obj: sort_key(obj, mark.ordinal)):
        if named.setdefault(obj.key, obj) is not obj:
            raise ValueError(f"two objects named {obj.key} of kind {resource_of(type(obj)).kind}")
    return named
