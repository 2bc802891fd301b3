"""The client that controllers use: reads from caches, writes that are seen at once.

Reads come from the informer of the kind if there is one, and from the server with `live=True` or
when the client has no caches at all. Writes are create, server-side apply, patch with a
precondition, status and delete; there is no PUT, because a typed object holds only the fields it
models. Each write passes the fence (leadership) and becomes visible to reads when it returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quintant.runtime import codec
from quintant.runtime.client.applied import Applied, apply_body, status_body
from quintant.runtime.client.merge import difference
from quintant.runtime.client.rest import APPLY, JSON_PATCH, MERGE, PAGE_SIZE, Patch, Rest
from quintant.runtime.client.subresource import Subresource
from quintant.runtime.client.transport import Call
from quintant.runtime.clock import Chance
from quintant.runtime.errors import ConfigError, NotFound, Status
from quintant.runtime.object import K, Model, Object, ObjectMeta, Request
from quintant.runtime.resource import Resource, resource_of
from quintant.runtime.watch.caches import Caches
from quintant.runtime.watch.follow import await_state, follow
from quintant.runtime.watch.informer import Change
from quintant.runtime.watch.scope import Scope, selects

MANAGER = "quintant"


def unfenced() -> None:
    """The fence of a client that needs no leadership."""


@dataclass(frozen=True, slots=True)
class Client:
    """Typed access to the API server, for one field manager."""

    rest: Rest
    caches: Caches | None = None
    manager: str = MANAGER
    """The field manager of every write: the controller's name, and stable for ever."""
    fence: Callable[[], None] = unfenced
    """Raises NotLeader when this process may no longer write."""
    dry_run: bool = False
    chance: Chance = field(default_factory=Chance)
    applied: Applied = field(default_factory=Applied)

    def named(self, manager: str) -> Client:
        """The same client, writing as another field manager."""
        return replace(self, manager=manager, applied=Applied())

    async def get(self, kind: type[K], name: str, namespace: str = "", *, live: bool = False) -> K:
        """Read one object; NotFound if it is absent."""
        found = await self.find(kind, name, namespace, live=live)
        if found is None:
            raise _not_found(resource_of(kind), name)
        return found

    async def find(
        self, kind: type[K], name: str, namespace: str = "", *, live: bool = False
    ) -> K | None:
        """Read one object; None if it is absent."""
        key = Request(name, namespace)
        if live or self.caches is None:
            try:
                return await self.rest.get(kind, key)
            except NotFound:
                return None
        informer = self.caches.of(kind)
        if not informer.synced:
            await informer.wait_synced()
        return informer.get(key)

    async def list(
        self,
        kind: type[K],
        namespace: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
    ) -> Sequence[K]:
        """Read many objects; an empty namespace means all, an index is a (name, value) pair."""
        if live or self.caches is None:
            if index is not None:
                raise ConfigError("an index can only be read from a cache", hint="drop live=True")
            return await self._list_live(Scope(kind, namespace, labels or {}, fields or {}))
        if fields:
            raise ConfigError("a cache has no field selectors", hint="use an index, or live=True")
        informer = self.caches.of(kind)
        if not informer.synced:
            await informer.wait_synced()
        objects = informer.store.by_index(*index) if index else informer.store
        return [obj for obj in objects if _selected(obj, namespace, labels or {})]

    def watch(
        self,
        kind: type[K],
        namespace: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Change[K]]:
        """Follow a kind for ever: what is there first, then every change; heals by itself."""
        return follow(self.rest, Scope(kind, namespace, labels or {}, fields or {}), self.chance)

    async def create(self, obj: K) -> K:
        """Create an object; AlreadyExists if its name is taken."""
        self.fence()
        return self._stored(obj, await self.rest.create(obj, self._query()))

    async def apply(self, obj: K, *, force: bool = True) -> K:
        """Make the server's object agree with every field set here (server-side apply).

        Fields this manager applied before and no longer sets are removed. Nothing is sent when
        the same body was applied before and the object has not changed since. An object with a
        uid is applied to that very object: Conflict if it is gone, Invalid if it was replaced.
        """
        self.fence()
        body = apply_body(obj)
        known = self._cached(obj)
        if known is not None and self.applied.holds(known, body):
            return known
        patch = Patch(APPLY, body, idempotent=True)
        query = self._query(force=force)
        stored = self._stored(obj, await self.rest.patch(type(obj), obj.key, patch, query=query))
        self.applied.note(stored, body)
        return stored

    async def patch(self, new: K, *, since: K, sub: str = "") -> K:
        """Send the difference of two versions; Conflict if the object is not `since` any more.

        With `sub="status"` it goes to the subresource, which takes nothing but the status.
        """
        self.fence()
        change = difference(new, since)
        if not change:
            return new
        change.setdefault("metadata", {})["resourceVersion"] = since.metadata.resource_version
        patch = Patch(MERGE, codec.encode(change), idempotent=True)
        raw = await self.rest.patch(type(new), new.key, patch, sub=sub, query=self._query())
        return self._stored(new, raw)

    async def set_status(self, obj: K, status: Model) -> K:
        """Make the status say this, through the subresource; nothing is sent if it does already.

        Only the fields set here are owned, so several controllers can each own theirs.
        """
        self.fence()
        resource = resource_of(type(obj))
        if not resource.status:
            raise ConfigError(
                f"{resource.kind} has no status subresource",
                hint="declare it: @resource(..., status=True)",
            )
        if getattr(self._cached(obj) or obj, "status", None) == status:
            return obj
        patch = Patch(APPLY, status_body(obj, status), idempotent=True)
        query = self._query(force=True)
        raw = await self.rest.patch(type(obj), obj.key, patch, sub="status", query=query)
        return self._stored(obj, raw)

    async def amend(
        self, kind: type[Object], meta: ObjectMeta, operations: Sequence[Mapping[str, Any]]
    ) -> None:
        """Send a JSON patch; guard it with test operations, for it has no other precondition.

        It needs no typed object, so it works on one that does not fit its type.
        """
        self.fence()
        patch = Patch(JSON_PATCH, codec.encode(operations))
        key = Request(meta.name, meta.namespace)
        raw = await self.rest.patch(kind, key, patch, query=self._query())
        if self.caches is not None and not self.dry_run:
            self.caches.rewrote(resource_of(kind), raw)

    async def delete(
        self, obj: Object, *, foreground: bool = False, unchanged: bool = False
    ) -> None:
        """Delete this very object, not a namesake; it is no error if it is gone already.

        `foreground` waits for dependants; `unchanged` refuses (Conflict) if it changed since read.
        """
        self.fence()
        meta = obj.metadata
        preconditions = {"uid": meta.uid} if meta.uid else {}
        if unchanged:
            preconditions["resourceVersion"] = meta.resource_version
        options = {
            "propagationPolicy": "Foreground" if foreground else "Background",
            "preconditions": preconditions,
            **({"dryRun": ["All"]} if self.dry_run else {}),
        }
        try:
            raw = await self.rest.delete(type(obj), obj.key, options)
        except NotFound:
            raw = b""
        self._deleted(obj, raw)

    def sub(self, obj: Object, name: str) -> Subresource:
        """A subresource of an object, such as "scale", as plain data."""
        return Subresource(self.rest, resource_of(type(obj)), obj.key, name, self.fence)

    async def raw(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Any request at all; the path may carry a query."""
        if method not in ("GET", "HEAD"):
            self.fence()
        return (await self.rest.send(Call(method, path, headers=headers or {}, body=body))).body

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
        scope = Scope(kind, namespace, fields={"metadata.name": name})
        async with asyncio.timeout(timeout):
            return await await_state(self.rest, scope, self.chance, until)

    async def _list_live(self, scope: Scope[K]) -> Sequence[K]:
        found: Sequence[K] = ()
        query = {**scope.query, "limit": str(PAGE_SIZE)}
        more: dict[str, str] = {}
        while True:
            page = await self.rest.page(scope.kind, scope.namespace, query | more)
            found = [*found, *(codec.decode(scope.kind, raw) for raw in page.items or ())]
            if not page.metadata.continue_token:
                return found
            more = {"continue": page.metadata.continue_token}

    def _query(self, *, force: bool = False) -> dict[str, str]:
        query = {"fieldManager": self.manager}
        if force:
            query["force"] = "true"
        if self.dry_run:
            query["dryRun"] = "All"
        return query

    def _cached(self, obj: K) -> K | None:
        return self.caches.seen(type(obj), obj.key) if self.caches is not None else None

    def _stored(self, obj: K, raw: bytes) -> K:
        stored = codec.decode(type(obj), raw)
        if self.caches is not None and not self.dry_run:
            self.caches.wrote(stored, raw)
        return stored

    def _deleted(self, obj: Object, raw: bytes) -> None:
        if self.caches is None or self.dry_run:
            return
        meta = codec.decode_meta(raw) if raw else None
        if meta is not None and meta.deletion_timestamp:
            remaining = codec.decode(type(obj), raw)
            self.caches.wrote(remaining, raw)
        else:
            self.caches.erased(resource_of(type(obj)), obj.metadata)


def _selected(obj: Object, namespace: str, labels: Mapping[str, str]) -> bool:
    meta = obj.metadata
    if namespace and meta.namespace != namespace:
        return False
    return selects(labels, meta.labels)


def _not_found(resource: Resource, name: str) -> NotFound:
    message = f'{resource.full_name} "{name}" not found'
    return NotFound(Status(status="Failure", message=message, reason="NotFound", code=404))
