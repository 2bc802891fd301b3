"""Deleting what an owner in another namespace has left: what the garbage collector cannot do.

    child changes, owner is deleted, resync ──key──> sweep ──live look at the owner──> delete

A child that is labelled wakes its owner's key, whether the owner exists or not. So whatever an
owner left while no controller was running is found when the next one reads its caches, and what a
reconcile made for an owner that was deleted meanwhile is found when the watch brings it. A cache
may be behind: that an owner is gone is for the server to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Generic

from quintant.core.errors import NotFound
from quintant.core.object import K, Metadata, Object, Request
from quintant.core.owner import OWNER_UID, owner_name, owner_name_of, owner_uid_of
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.informer import Informer
from quintant.runtime.observe import logs

log: Final = logs.get_logger()

ORPHAN_INDEX = "quintant/labelled-owner"
"""The index, kept for every owned kind, of labelled children by the name of their owner."""


def labelled_owner(child: Object) -> Iterable[str]:
    """The index function behind ORPHAN_INDEX."""
    # Most children stand beside their owner, and every change of one passes here.
    name = owner_name_of(child) if OWNER_UID in child.metadata.labels else ""
    return (name,) if name else ()


class OrphanSweep(Generic[K]):
    """The labelled children of the objects of one controller."""

    def __init__(self, primary: Informer[K], owned: Sequence[Informer[Any]]) -> None:
        self._primary = primary
        self._owned = tuple(dict.fromkeys(owned))
        self._resource = resource_of(primary.kind)
        self.labelled: tuple[dict[str, Request | dict[Request, None]], ...] = tuple(
            each.store.index(ORPHAN_INDEX).filed for each in self._owned
        )
        """The labelled children of each kind; while all are empty, there is nothing to sweep."""

    def owners(self) -> Iterator[Request]:
        """The keys of owners that the cache does not have, and of which there are children."""
        owners = {name for each in self._owned for name in each.store.index(ORPHAN_INDEX).values()}
        for owner in sorted(owners):
            _, namespace, name = owner.split("/")
            ours = owner == owner_name(self._resource, name, namespace)
            if ours and self._primary.store.get(Request(name, namespace)) is None:
                yield Request(name, namespace)

    async def sweep(self, key: Request, client: Client) -> None:
        """Delete the children of this name whose owner, by its uid, is not there any more.

        What changed since it was looked at is a Conflict, and looked at again.
        """
        known = self._primary.store.get(key)
        uid = known.metadata.uid if known is not None else ""
        suspects = [child for child in self._children(key) if owner_uid_of(child) != uid]
        if not suspects or not self._primary.covers_namespace(key.namespace):
            return
        living = await self._living(key, client)
        for child in suspects:
            if owner_uid_of(child) != living:
                await client.delete(child, unchanged=True)
                kind = resource_of(type(child)).kind
                log.info("deleted orphan", kind=kind, object=str(child.key), owner=str(key))

    def _children(self, key: Request) -> Iterator[Object]:
        owner = owner_name(self._resource, key.name, key.namespace)
        for informer in self._owned:
            for child in informer.store.by_index(ORPHAN_INDEX, owner):
                if not child.deleting:
                    yield child

    async def _living(self, key: Request, client: Client) -> str:
        """The uid of the owner as the server has it; empty if it is gone."""
        view = Metadata[self._primary.kind]  # type: ignore[name-defined]
        try:
            return (await client.rest.get(view, key)).metadata.uid
        except NotFound as error:
            if error.details.name != key.name:
                raise  # not the owner is missing, but its kind: that says nothing of owners
            return ""
