"""classifyReferences: what becomes of an object, from its owner references and its owners. Pure.

    an owner is   SOLID    it is there: whoever it owns stays
                  WAITING  it is there, and goes when its dependents have gone
                  ABSENT   nothing is where the reference points, or something else

An object goes when it had owners and none of them is solid; references that are not solid are
removed from one that stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from msgspec import Struct

from quintant.cluster.apiserver.meta.types import DeletionPropagation
from quintant.cluster.controllers.garbage.graph import FOREGROUND, ORPHAN
from quintant.core.enums import fast_members
from quintant.core.object import ObjectMeta, OwnerReference, replace


@fast_members
class OwnerState(Enum):
    """What an owner reference leads to."""

    SOLID = auto()
    WAITING = auto()
    ABSENT = auto()


class StripOwners(Struct, frozen=True):
    """Leave these owner references, and no others."""

    owners: tuple[OwnerReference, ...]


class DeleteObject(Struct, frozen=True):
    """Delete the object; with `unblock`, make its references non-blocking first."""

    propagation: DeletionPropagation
    unblock: bool = False


Action = StripOwners | DeleteObject | None


class KnownDependents(Struct, frozen=True):
    """What the graph knows of an object's dependents."""

    dependents: bool = False
    circular: bool = False
    """Whether a dependent itself waits for its dependents: perhaps for this object."""


def plan(
    meta: ObjectMeta,
    owner_states: Mapping[str, OwnerState],
    known: KnownDependents = KnownDependents(),
) -> Action:
    """What to do with an object that is not being deleted; `owner_states` are by owner's uid."""
    if not meta.owner_references:
        return None
    found = set(owner_states.values())
    if OwnerState.SOLID in found:
        kept = [ref for ref in meta.owner_references if owner_states[ref.uid] is OwnerState.SOLID]
        return None if found == {OwnerState.SOLID} else StripOwners(tuple(kept))
    if OwnerState.WAITING in found and known.dependents:
        return DeleteObject(DeletionPropagation.FOREGROUND, unblock=known.circular)
    return DeleteObject(_inherited(meta))


def without(meta: ObjectMeta, owner: str) -> tuple[OwnerReference, ...]:
    """The owners of an object but one."""
    return tuple(ref for ref in meta.owner_references if ref.uid != owner)


def unblocked(meta: ObjectMeta) -> tuple[OwnerReference, ...]:
    """The same owners, none of which has to wait for the object."""
    return tuple(replace(ref, block_owner_deletion=False) for ref in meta.owner_references)


def _inherited(meta: ObjectMeta) -> DeletionPropagation:
    """How an object asks to be deleted by the finalizers it has already."""
    if ORPHAN in meta.finalizers:
        return DeletionPropagation.ORPHAN
    return (
        DeletionPropagation.FOREGROUND
        if FOREGROUND in meta.finalizers
        else DeletionPropagation.BACKGROUND
    )
