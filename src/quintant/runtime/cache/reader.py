"""Typed reads, from the caches or from the server, and the waits built on watches.

A read comes from the informer of its kind if the client has caches, and from the server with
`live=True` or without caches. It never starts an informer: who reads a kind from a cache declares
that it is watched.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from quintant.client.pod_logs import read_log_lines
from quintant.client.rest import PAGE_SIZE, Rest, located
from quintant.client.rest_mapper import RestMapper
from quintant.core import codec
from quintant.core.clock import Clock, Random, SystemClock
from quintant.core.dynamic import Unstructured, dynamic
from quintant.core.errors import (
    ConfigError,
    Details,
    Expired,
    NotFound,
    NotHeld,
    Status,
    TransportError,
)
from quintant.core.object import K, Object
from quintant.core.resource import resource_of
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.follow import wait_for_state, watch_changes
from quintant.runtime.cache.indexer import Indexer
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.watch.scope import WatchScope, selects


@dataclass(frozen=True, slots=True)
class Reader:
    """Typed reads of an API server."""

    rest: Rest
    caches: Caches | None = None
    random: Random = field(default_factory=Random, kw_only=True)
    most_pages: int | None = field(default=None, kw_only=True)
    """The longest list that is read from the server, in pages; None reads all there is."""
    clock: Clock = field(default_factory=SystemClock, kw_only=True)
    """Whose time a side task goes by, as a reconciler goes by its context's."""
    mapper: RestMapper = field(default_factory=RestMapper, kw_only=True)
    """What is known of kinds that have no class."""

    async def dynamic(
        self, api_version: str, kind: str, *, fields: Sequence[str] = ()
    ) -> type[Unstructured]:
        """The class of a kind that needs none: `await client.dynamic("batch/v1", "Job")`.

        The server says its plural and scope, once; ConfigError if it serves no such kind. `fields`
        are top-level ones beyond spec, status and data.
        """
        found = await self.mapper.find(self.rest, api_version, kind)
        return dynamic(
            api_version, kind, plural=found.plural, namespaced=found.namespaced, fields=fields
        )

    async def get(self, kind: type[K], name: str, namespace: str = "", *, live: bool = False) -> K:
        """Read one object; NotFound if it is absent."""
        found = await self.find(kind, name, namespace, live=live)
        if found is None:
            raise _not_found(kind, name)
        return found

    async def find(
        self, kind: type[K], name: str, namespace: str = "", *, live: bool = False
    ) -> K | None:
        """Read one object; None if it is absent."""
        key = located(resource_of(kind), name, namespace)
        if not live and self.caches is not None:
            return (await self._informer(kind, key.namespace, self.caches)).get(key)
        try:
            return await self.rest.get(kind, key)
        except NotFound:
            return None

    async def find_any(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        """`find`, for a name that anybody may have: what another member holds is read live."""
        try:
            return await self.find(kind, name, namespace)
        except NotHeld:
            return await self.find(kind, name, namespace, live=True)

    async def list(
        self,
        kind: type[K],
        namespace: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
        held: bool = False,
    ) -> Sequence[K]:
        """Read many objects; an empty namespace means all, an index is a (name, value) pair.

        A label with an empty value selects the objects that have it at all. In a sharded manager,
        NotHeld where other members hold some of what is asked for; `held` asks for our part alone.
        """
        if live or self.caches is None:
            if index is not None:
                raise ConfigError("an index can only be read from a cache", hint="drop live=True")
            return await self._list_live(WatchScope(kind, namespace, labels or {}, fields or {}))
        if fields:
            raise ConfigError("a cache has no field selectors", hint="use an index, or live=True")
        informers = self.caches.informers_for(kind, namespace)
        for informer in informers:
            if not informer.synced:
                await informer.wait_synced()
            if informer.foreign and not held and informer.foreign.has_any(namespace):
                raise NotHeld(informer.resource.kind, namespace=namespace)
        objects = _followed([informer.store for informer in informers], index)
        if namespace:
            objects = [obj for obj in objects if obj.metadata.namespace == namespace]
        if labels:
            objects = [obj for obj in objects if selects(labels, obj.metadata.labels)]
        return list(objects)

    def is_served(self, kind: type[Object]) -> bool:
        """Whether the server serves a kind that is watched as optional, by its last word."""
        return self.caches is None or not self.caches.informer_for(kind).missing

    def watch(
        self,
        kind: type[K],
        namespace: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> AsyncIterator[ObjectChange[K]]:
        """Follow a kind for ever: what is there first, then every change; heals by itself."""
        return watch_changes(
            self.rest, WatchScope(kind, namespace, labels or {}, fields or {}), self.random
        )

    def logs(
        self,
        pod: Object,
        container: str = "",
        *,
        follow: bool = False,
        tail: int | None = None,
        previous: bool = False,
    ) -> AsyncIterator[str]:
        """What a container of a pod printed, line by line; the container, if it has but one.

        With `follow` it continues until the container ends, with `tail` it begins so many lines
        before the end, with `previous` it is about the run before the last restart.
        """
        query = {
            "container": container,
            "follow": "true" if follow else "",
            "previous": "true" if previous else "",
            "tailLines": "" if tail is None else str(tail),
        }
        return read_log_lines(
            self.rest, pod, {name: value for name, value in query.items() if value}
        )

    async def wait(self, obj: K, until: Callable[[K | None], bool], timeout: float) -> K | None:
        """Follow one object until a condition holds; TimeoutError after `timeout` seconds.

        The condition sees None when the object is absent; what it accepted is returned.
        """
        return await self.wait_for(type(obj), *obj.key, until=until, timeout=timeout)

    async def wait_for(
        self,
        kind: type[K],
        name: str,
        namespace: str = "",
        *,
        until: Callable[[K | None], bool],
        timeout: float,
    ) -> K | None:
        """`wait`, for an object that may not exist yet."""
        key = located(resource_of(kind), name, namespace)
        scope = WatchScope(kind, key.namespace, fields={"metadata.name": name})
        async with asyncio.timeout(timeout):
            return await wait_for_state(self.rest, scope, self.random, until)

    async def _informer(self, kind: type[K], namespace: str, caches: Caches) -> Informer[K]:
        informer = caches.informer_for(kind, namespace)
        if not informer.synced:
            await informer.wait_synced()
        return informer

    async def _list_live(self, scope: WatchScope[K]) -> Sequence[K]:
        try:
            return await self._pages(scope, {"limit": str(PAGE_SIZE)})
        except Expired:
            # The server forgot where we were between two pages; all at once it cannot.
            return await self._pages(scope, {})

    async def _pages(self, scope: WatchScope[K], query: Mapping[str, str]) -> Sequence[K]:
        found: list[K] = []
        more: Mapping[str, str] = {}
        for _ in count() if self.most_pages is None else range(self.most_pages):
            page_query = {**scope.query, **query, **more}
            page = await self.rest.list_page(scope.kind, scope.namespace, page_query)
            found += (codec.decode(scope.kind, raw) for raw in page.items or ())
            if not page.metadata.continue_token:
                return found
            more = {"continue": page.metadata.continue_token}
        raise TransportError(f"a list of {scope} has more than {self.most_pages} pages")


def _followed(stores: Sequence[Indexer[K]], index: tuple[str, str] | None) -> Iterable[K]:
    """What is held, or filed by those that have the index; an object of several stores once."""
    if index is not None and len(stores) > 1:
        stores = [store for store in stores if store.has_index(index[0])] or stores[:1]
    held = [store if index is None else store.by_index(*index) for store in stores]
    return held[0] if len(held) == 1 else {obj.key: obj for one in held for obj in one}.values()


def _not_found(kind: type[Object], name: str) -> NotFound:
    """What the server says of an object that it does not have."""
    resource = resource_of(kind)
    message = f'{resource.full_name} "{name}" not found'
    details = Details(name=name, group=resource.group, kind=resource.plural)
    return NotFound(Status("Failure", message, "NotFound", details, 404))
