"""Garbage collection for explored worlds: what is owned goes when its last owner has gone.

The cluster's own collector watches every kind, which takes longer than a whole run here. This one
reads the store, and only when something was deleted, or made for an owner. It asks the API server
as anybody would, so finalizers hold what they hold, and takes its time: who makes again what it
collects must not keep time from passing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec

from quintant.client.rest import MERGE
from quintant.client.transport import JSON, ApiRequest, Transport
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.history import Change, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.testing.explore.simulation.objects import IGNORED_TABLES, StoredMeta, metadata

FOREGROUND = "foregroundDeletion"
# Between a deletion and what follows from it.
PAUSE_SECONDS = 1.0
OWNED = b'"ownerReferences"'
"""What stands in the bytes of every object that has an owner."""


class OwnerCollector:
    """Deletes what belongs to nobody any more."""

    def __init__(self, server: ApiServer, admin: Transport) -> None:
        self._server, self._admin = server, admin
        self._gone = asyncio.Event()
        self._tables = {
            kind.table
            for kind in server.catalog.tables()
            if any(map(_concerns, server.store.table(kind.table).entries.values()))
        }
        """Those that have ever held an owner that waits, or what is owned: most never do."""
        server.store.subscribe(self._note)

    @property
    def busy(self) -> bool:
        """Whether something was deleted that it has not looked after yet."""
        return self._gone.is_set()

    async def run(self) -> None:
        """Collect until cancelled."""
        while True:
            await self._gone.wait()
            await asyncio.sleep(PAUSE_SECONDS)
            self._gone.clear()
            for kind, meta in [*self._unowned()]:
                await self._delete(kind, meta)
            for kind, meta in [*self._waiting_owners()]:
                await self._release(kind, meta)

    def _note(self, table: Table, change: Change) -> None:
        if table.name in IGNORED_TABLES:
            return
        if change.cur is not None and _concerns(change.cur):
            self._tables.add(table.name)
        if _matters(change):
            self._gone.set()

    def _entries(self, mark: bytes) -> Iterator[tuple[Kind, StoredEntry]]:
        """What has some bytes in it, of every kind."""
        for kind in self._server.catalog.tables():
            if kind.table not in self._tables or kind.table in IGNORED_TABLES:
                continue
            for entry in self._server.store.table(kind.table).entries.values():
                if mark in entry.raw:
                    yield kind, entry

    def _unowned(self) -> Iterator[tuple[Kind, StoredMeta]]:
        for kind, entry in self._entries(OWNED):
            meta = metadata(entry)
            if meta.deletion_timestamp is None and self._abandoned(meta):
                yield kind, meta

    def _waiting_owners(self) -> Iterator[tuple[Kind, StoredMeta]]:
        """Owners that wait for their children, and have none any more."""
        for kind, entry in self._entries(FOREGROUND.encode()):
            meta = metadata(entry)
            owned = self._entries(f'"uid":"{meta.uid}"'.encode())
            if _waits_for_children(meta) and all(each is entry for _, each in owned):
                yield kind, meta

    async def _release(self, kind: Kind, meta: StoredMeta) -> None:
        path = kind.resource.path(meta.namespace, meta.name)
        left = [each for each in meta.finalizers if each != FOREGROUND]
        change = {"metadata": {"uid": meta.uid, "finalizers": left}}
        await self._admin.request(
            ApiRequest(
                "PATCH", path, headers={"content-type": MERGE}, body=msgspec.json.encode(change)
            )
        )

    def _abandoned(self, child: StoredMeta) -> bool:
        owners = child.owner_references
        return bool(owners) and not any(self._lives(owner, child) for owner in owners)

    def _lives(self, owner: dict[str, Any], child: StoredMeta) -> bool:
        group = owner["apiVersion"].rpartition("/")[0]
        for kind in self._server.catalog.group(group):
            if kind.resource.kind != owner["kind"]:
                continue
            space = f"{child.namespace}/" if kind.resource.namespaced else ""
            entry = self._server.store.table(kind.table).entries.get(space + owner["name"])
            if entry is not None:
                found = metadata(entry)
                return found.uid == owner["uid"] and not _waits_for_children(found)
        return False

    async def _delete(self, kind: Kind, meta: StoredMeta) -> None:
        path = kind.resource.path(meta.namespace, meta.name)
        options = {"preconditions": {"uid": meta.uid}, "propagationPolicy": "Background"}
        body = msgspec.json.encode(options)
        await self._admin.request(
            ApiRequest("DELETE", path, headers={"content-type": JSON}, body=body)
        )


def _concerns(entry: StoredEntry) -> bool:
    """Whether an object has an owner, or may be one that waits for its children."""
    return OWNED in entry.raw or FOREGROUND.encode() in entry.raw


def _matters(change: Change) -> bool:
    """Whether somebody may be without an owner now, or an owner without children."""
    if change.cur is None or FOREGROUND.encode() in change.cur.raw:
        return True
    return change.prev is None and OWNED in change.cur.raw


def _waits_for_children(owner: StoredMeta) -> bool:
    return owner.deletion_timestamp is not None and FOREGROUND in owner.finalizers
