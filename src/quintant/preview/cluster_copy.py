"""A copy of what a manager looks at: an API server in this process, filled as it is asked.

A collection is copied before it is listed or watched; a single object, if that is all that is
asked for: a role that may read one Secret needs no right to list them. What was copied once is not
read again, or it would overwrite what the manager did meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.resource import Resource
from quintant.preview.live_reader import JsonObject, LiveReader, LiveRefusal
from quintant.wire.digits import parse_digits

NAMESPACES = ("", "v1", "namespaces")
NOT_FOUND = 404
UNCOPIED = frozenset(
    {("", "events"), ("events.k8s.io", "events"), ("coordination.k8s.io", "leases")}
)
"""What is written about a manager's work, and begins empty."""


class ObjectId(Struct, frozen=True, order=True):
    """Which object of a cluster."""

    group: str
    plural: str
    namespace: str
    name: str


Objects = Mapping[ObjectId, JsonObject]


class ClusterCopy:
    """The copy, and what it began with."""

    def __init__(self, live: LiveReader, server: ApiServer) -> None:
        self.live = live
        self.server = server
        self.before: dict[ObjectId, StoredEntry] = {}
        """Every object that was copied, as it was."""
        self.live_versions: dict[ObjectId, str] = {}
        """The resourceVersion that each of them had: what is written on the copy has others."""
        self.findings: list[str] = []
        """What could not be copied, and so not be judged."""
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._namespaces: set[tuple[str, str, str]] = set()
        """Group, resource and namespace that were copied whole; an empty namespace is all."""
        self._single: set[ObjectId] = set()
        self._lock = asyncio.Lock()

    async def provide_collection(self, kind: Kind, namespace: str) -> None:
        """Have every object of a namespace, or of all; LiveRefusal if they cannot be read."""
        async with self._lock:
            if self._has(kind, namespace):
                return
            self._begin(kind)
            for item in await self._collection(kind, namespace):
                self._keep(kind, _decoded(item))
            self._namespaces.add((kind.resource.group, kind.resource.plural, namespace))

    async def provide_object(self, kind: Kind, namespace: str, name: str) -> None:
        """Have one object, if the cluster has it; LiveRefusal if that cannot be read."""
        id = ObjectId(kind.resource.group, kind.resource.plural, namespace, name)
        async with self._lock:
            if self._has(kind, namespace) or id in self._single:
                return
            self._begin(kind)
            obj = await self.live.get(kind.resource.path(namespace, name))
            if obj is not None:
                self._keep(kind, obj)
            self._single.add(id)

    async def provide_namespace(self, name: str) -> None:
        """Have the namespace that something is to be written to, if the cluster has it."""
        kind = self.server.catalog.find(*NAMESPACES)
        assert kind is not None, "every server has namespaces"
        try:
            await self.provide_object(kind, "", name)
        except LiveRefusal as refused:
            if not refused.forbidden:
                raise
            self._assume_namespace(name)

    def states(self) -> tuple[Objects, Objects]:
        """How objects were, and how they are now: those that differ, of what was copied or written.

        If one of them is gone, all objects, for others may have hung on it.
        """
        now = {id: entry for kind in self._kinds.values() for id, entry in _scan(self.server, kind)}
        changed = [
            id
            for id in self.before.keys() | now.keys()
            if _stored(self.before.get(id)) != _stored(now.get(id))
        ]
        before, after = self._shown(self.before, changed), self._shown(now, changed)
        if all(uid_of(after.get(id)) == uid_of(obj) for id, obj in before.items()):
            return before, after
        return self._shown(self.before, self.before), self._shown(now, now)

    def resource(self, id: ObjectId) -> Resource:
        """The resource of an object."""
        return self._kinds[id.group, id.plural].resource

    def _shown(self, entries: Mapping[ObjectId, StoredEntry], ids: Iterable[ObjectId]) -> Objects:
        return {
            id: stored_json.unpack(self._kinds[id.group, id.plural], entries[id])
            for id in ids
            if id in entries
        }

    def _has(self, kind: Kind, namespace: str) -> bool:
        group, plural = kind.resource.group, kind.resource.plural
        whole = {(group, plural, ""), (group, plural, namespace)}
        return (group, plural) in UNCOPIED or not whole.isdisjoint(self._namespaces)

    def _begin(self, kind: Kind) -> None:
        """Take away what every new server has of a kind: the live one's is copied.

        The namespaces that every server has stay, and those that were assumed.
        """
        resource = kind.resource
        if (resource.group, resource.plural) in self._kinds:
            return
        self._kinds[resource.group, resource.plural] = kind
        if (resource.group, resource.version, resource.plural) == NAMESPACES:
            self.before |= _scan(self.server, kind)
            return
        table = self.server.store.table(kind.table)
        for key in list(table.entries):
            self.server.store.delete(table, key)

    async def _collection(self, kind: Kind, namespace: str) -> list[bytes]:
        path = kind.resource.path(namespace)
        try:
            return [item async for item in self.live.list(path)]
        except LiveRefusal as refused:
            if not (kind.custom and refused.reply.status == NOT_FOUND):
                raise
            self.findings.append(f"{kind.resource.full_name} is not served by the cluster")
            return []

    def _keep(self, kind: Kind, obj: Any) -> None:
        id = _id_of(kind, obj)
        if id is None:
            self.findings.append(f"an object of {kind.resource.full_name} has no name")
            return
        if id in self._single or self._is_kept(kind, id.namespace):
            return
        self._assume_namespace(id.namespace)
        table, key = self.server.store.table(kind.table), kind.key(id.namespace, id.name)
        try:
            version = str(obj["metadata"].get("resourceVersion") or "")
            # Operators that keep versions of what they read would see a change in each.
            rv = parse_digits(version) or self.server.store.revision + 1
            self.before[id] = entry = stored_json.pack(kind, obj, rv)
            self.server.store.load(table, key, entry)
            self.live_versions[id] = version
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            self.findings.append(f"{id.plural} {id.namespace}/{id.name}: {type(error).__name__}")

    def _is_kept(self, kind: Kind, namespace: str) -> bool:
        """Whether a namespace of the collection was copied before all others were."""
        return (kind.resource.group, kind.resource.plural, namespace) in self._namespaces

    def _assume_namespace(self, name: str) -> None:
        """A namespace in which there are objects is there, whether or not it may be read."""
        kind = self.server.catalog.find(*NAMESPACES)
        assert kind is not None, "every server has namespaces"
        table, key = self.server.store.table(kind.table), kind.key("", name)
        if name and key not in table.entries:
            namespace = {"metadata": {"name": name}, "spec": {}, "status": {"phase": "Active"}}
            self.server.store.put(table, key, stored_json.pack(kind, namespace))


def stored_objects(server: ApiServer, kind: Kind) -> Iterator[JsonObject]:
    """Every object of a kind that a server has."""
    for entry in server.store.table(kind.table).entries.values():
        yield stored_json.unpack(kind, entry)


def _scan(server: ApiServer, kind: Kind) -> Iterator[tuple[ObjectId, StoredEntry]]:
    resource = kind.resource
    for key, entry in server.store.table(kind.table).entries.items():
        namespace, _, name = key.rpartition("/")
        yield ObjectId(resource.group, resource.plural, namespace, name), entry


def _stored(entry: StoredEntry | None) -> bytes:
    return b"" if entry is None else entry.raw


def _decoded(item: bytes) -> Any:
    """An object of the cluster's; None for what is none."""
    try:
        return msgspec.json.decode(item)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def uid_of(obj: JsonObject | None) -> str:
    """The uid of an object, if it is there and has one."""
    return str(obj["metadata"].get("uid") or "") if obj is not None else ""


def _id_of(kind: Kind, obj: Any) -> ObjectId | None:
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str) or not name:
        return None
    namespace = metadata.get("namespace") or ""
    if not isinstance(namespace, str):
        return None
    return ObjectId(kind.resource.group, kind.resource.plural, namespace, name)
