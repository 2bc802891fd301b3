"""PodControllerRefManager: children by owner reference, adopted and released by labels.

A controller keeps the children it controls as long as its selector matches their labels, adopts
those that match and have no controller, and releases its own that no longer match. Of two that
select the same child, the first to adopt it keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from quintant.api.meta import LabelSelector
from quintant.core.errors import NotFound
from quintant.core.object import Object, replace
from quintant.core.owner import controller_of, owned
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import OWNER_INDEX

ORPHANS = "orphans"
"""The index of objects without a controller, by their namespace."""
SELECTORS = "selectors"
"""The index of controllers by a label that their children have for certain."""

C = TypeVar("C", bound=Object)


class LabelSelectingSpec(Protocol):
    """The spec of what selects its children."""

    @property
    def selector(self) -> LabelSelector: ...


class LabelSelecting(Protocol):
    """What selects its children."""

    @property
    def spec(self) -> LabelSelectingSpec: ...


class ClaimedChildren(Struct, Generic[C], frozen=True):
    """What a controller makes of the children it could have."""

    kept: tuple[C, ...] = ()
    adopted: tuple[C, ...] = ()
    released: tuple[C, ...] = ()


def orphan_index(child: Object) -> Iterable[str]:
    """The index function of ORPHANS."""
    return () if controller_of(child) else (child.metadata.namespace,)


def selector_index(controller: LabelSelecting) -> Iterable[str]:
    """The index function of SELECTORS: one label of those it asks for, or all of the namespace."""
    wanted = sorted(controller.spec.selector.match_labels.items())
    return (_label(controller, *wanted[0]) if wanted else _label(controller),)


def adopters_of(child: Object) -> Iterable[str]:
    """What those who may adopt a child are filed under; nothing if it has a controller."""
    return () if controller_of(child) else selectors_of(child)


def selectors_of(child: Object) -> Iterable[str]:
    """What those whose selector may match an object are filed under."""
    return (_label(child), *(_label(child, *label) for label in child.metadata.labels.items()))


def match_children(
    selector: LabelSelector, mine: Iterable[C], orphans: Iterable[C]
) -> ClaimedChildren[C]:
    """Decide about the children of a controller, and about those without one."""
    kept: list[C] = []
    released: list[C] = []
    for child in mine:
        (kept if selector.matches(child.metadata.labels) else released).append(child)
    adopted = (
        child for child in orphans if not child.deleting and selector.matches(child.metadata.labels)
    )
    return ClaimedChildren(tuple(kept), tuple(adopted), tuple(released))


async def claim_children(
    client: Client,
    owner: Object,
    selector: LabelSelector,
    kind: type[C],
    only: Callable[[C], bool] = lambda _: True,
) -> list[C]:
    """The children of an owner, once those that should be are its own, and no others are.

    `only` are looked at. The kind is declared with `.owns(kind, index={ORPHANS: orphaned})`.
    Conflict if a child changed meanwhile: the next try sees it as it is.
    """
    mine = await client.list(kind, index=(OWNER_INDEX, owner.metadata.uid))
    orphans = await client.list(kind, index=(ORPHANS, owner.metadata.namespace))
    claims = match_children(selector, filter(only, mine), filter(only, orphans))
    for child in claims.released:
        await _release(client, child, owner)
    if not claims.adopted or not await _still_exists(client, owner):
        return list(claims.kept)
    adopted = [await _adopt(client, child, owner) for child in claims.adopted]
    return [*claims.kept, *filter(None, adopted)]


async def _adopt(client: Client, child: C, owner: Object) -> C | None:
    try:
        return await client.patch(owned(child, by=owner), since=child)
    except NotFound:
        return None


async def _release(client: Client, child: C, owner: Object) -> None:
    others: Sequence[object] = tuple(
        reference
        for reference in child.metadata.owner_references
        if reference.uid != owner.metadata.uid
    )
    free = replace(child, metadata=replace(child.metadata, owner_references=others))
    with suppress(NotFound):
        await client.patch(free, since=child)


async def _still_exists(client: Client, owner: Object) -> bool:
    """Ask the server whether an owner is there to stay: a cache may not know of its end."""
    found = await client.find(type(owner), *owner.key, live=True)
    return found is not None and found.metadata.uid == owner.metadata.uid and not found.deleting


def _label(obj: Object | LabelSelecting, key: str = "", value: str = "") -> str:
    assert isinstance(obj, Object)
    return f"{obj.metadata.namespace}/{key}={value}" if key else f"{obj.metadata.namespace}/"
