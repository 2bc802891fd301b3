"""What another API server holds, kept here by watching it: for whoever reads without a request.

Each kind is listed and watched. Entries carry the revisions that the server gave them. Kinds that
it does not serve are left out, and so are those that are never stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct

from quintant.client.transport import ApiRequest, Transport
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot, Table
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, TransportError
from quintant.testing.explore.simulation.objects import IGNORED_TABLES

AGAIN_SECONDS = 0.2
"""Real seconds, before a kind that is not served yet is asked for again."""
SERVED_SECONDS = 30.0
"""Real seconds, after which a custom kind has to be served."""
_BESIDE = IGNORED_TABLES | {
    "customresourcedefinitions.apiextensions.k8s.io",
    "apiservices.apiregistration.k8s.io",
    # Named by the address that was allotted to a Service.
    "ipaddresses.networking.k8s.io",
}
"""Tables that nobody compares."""

Document = dict[str, Any]


class _ListMeta(Struct, rename="camel"):
    resource_version: str = "0"


class _Listed(Struct):
    metadata: _ListMeta
    items: list[Document] = []


class _Event(Struct):
    type: str
    object: Document


_list = msgspec.json.Decoder(_Listed)
_event = msgspec.json.Decoder(_Event)


class MirrorStore(RevisionStore):
    """A store whose revisions another one gives."""

    def put_at(self, table: Table, key: str, content: StoredEntry, revision: int) -> None:
        """Store an entry as it was stored there."""
        newest, self.revision = self.revision, revision - 1
        self.put(table, key, content)
        self.revision = max(newest, revision)

    def delete_at(self, table: Table, key: str, revision: int) -> None:
        """Remove an entry, as it was removed there."""
        newest, self.revision = self.revision, revision - 1
        self.delete(table, key)
        self.revision = max(newest, revision)


class Mirror:
    """What another server holds."""

    def __init__(self, catalog: Catalog, admin: Transport, pace: float) -> None:
        """`catalog` has the kinds; `pace` is how many seconds of ours a real one has."""
        self.catalog: Catalog = catalog
        self.store: MirrorStore = MirrorStore()
        self.compacted: int = 0
        """The revision before which a program finds no history."""
        self._admin, self._pace = admin, pace

    def snapshot(self) -> Snapshot:
        """Remember everything."""
        return self.store.snapshot()

    def compact(self) -> None:
        """Have history begin now."""
        self.compacted = self.store.revision

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the server for as long as the context lasts; entered once all is here."""
        async with asyncio.TaskGroup() as group:
            kinds = [each for each in self.catalog.tables() if _is_stored(each)]
            following = []
            try:
                for kind, revision in zip(kinds, await self._list_all(kinds), strict=True):
                    if revision is not None:
                        following.append(group.create_task(self._follow(kind, revision)))
                yield
            finally:
                for task in following:
                    task.cancel()

    async def _list_all(self, kinds: Iterable[Kind]) -> list[str | None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._list_served(each)) for each in kinds]
        return [each.result() for each in tasks]

    async def _list_served(self, kind: Kind) -> str | None:
        """List a kind; None if the server does not serve it. A custom one takes a while."""
        began = monotonic()
        while True:
            revision = await self._list(kind)
            if revision is not None or not kind.custom:
                return revision
            if monotonic() - began > SERVED_SECONDS * self._pace:
                raise ConfigError(
                    f"the server does not serve {kind.table}",
                    because=f"{SERVED_SECONDS:g} s after its definition was applied",
                    hint="kubectl describe the definition: its condition Established says why",
                )
            await asyncio.sleep(AGAIN_SECONDS * self._pace)

    async def _list(self, kind: Kind) -> str | None:
        answer = await self._admin.request(ApiRequest("GET", kind.resource.path("")))
        if answer.status != 200:
            return None
        listed = _list.decode(answer.body)
        found = {_key(kind, each): each for each in listed.items}
        table, revision = self.store.table(kind.table), int(listed.metadata.resource_version)
        for key in [each for each in table.entries if each not in found]:
            self.store.delete_at(table, key, revision)
        for key, document in sorted(found.items(), key=lambda it: _revision(it[1])):
            self._put(kind, key, document)
        return listed.metadata.resource_version

    async def _follow(self, kind: Kind, revision: str) -> None:
        """Watch a kind for ever, from a revision on."""
        while True:
            try:
                revision = await self._watch(kind, revision)
            except (TransportError, _Expired):
                revision = await self._list(kind) or revision

    async def _watch(self, kind: Kind, revision: str) -> str:
        query = {"watch": "1", "resourceVersion": revision, "allowWatchBookmarks": "true"}
        call = ApiRequest("GET", kind.resource.path(""), query)
        async with self._admin.stream(call) as stream:
            if stream.status != 200:
                raise _Expired
            async for line in whole_lines(stream.chunks):
                event = _event.decode(line)
                if event.type == "ERROR":
                    raise _Expired
                self._note(kind, event)
                revision = str(_revision(event.object))
        return revision

    def _note(self, kind: Kind, event: _Event) -> None:
        if event.type == "BOOKMARK":
            return
        key, table = _key(kind, event.object), self.store.table(kind.table)
        if event.type != "DELETED":
            self._put(kind, key, event.object)
        elif key in table.entries:
            self.store.delete_at(table, key, _revision(event.object))

    def _put(self, kind: Kind, key: str, document: Document) -> None:
        table, revision = self.store.table(kind.table), _revision(document)
        known = table.entries.get(key)
        if known is None or known.rv < revision:
            self.store.put_at(table, key, stored_json.pack(kind, document, revision), revision)


class _Expired(Exception):
    """A watch cannot go on from where it was."""


async def whole_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream that is cut anywhere, each with its end."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"


def _is_stored(kind: Kind) -> bool:
    return not (kind.create_only or kind.computed or kind.table in _BESIDE)


def _key(kind: Kind, document: Mapping[str, Any]) -> str:
    meta = document["metadata"]
    return kind.key(meta.get("namespace", ""), meta["name"])


def _revision(document: Mapping[str, Any]) -> int:
    return int(document["metadata"]["resourceVersion"])
