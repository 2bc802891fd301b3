"""DryRunnableStorage: the store by target: get, put, amend, remove, past every rule of the kind.

Below the paths that change objects (quintant.cluster.apiserver.handlers.write,
quintant.cluster.apiserver.handlers.delete), which know the rules, and above the store, which knows
tables and keys. Every step is synchronous.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import deleting, has_finalizers
from quintant.cluster.apiserver.meta.names import path_segment_errors
from quintant.cluster.apiserver.meta.status import invalid_name_parameter, not_found, unknown_error
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table
from quintant.core.resource import Resource

OBJECT_LIMIT = 3 * 512 * 1024
"""Bytes of a stored object: what etcd takes, so that no object grows for ever by patches."""

_Unpacked = dict[str, tuple[StoredEntry, JsonObject]]


class ObjectStore:
    """The objects of a store."""

    def __init__(self, store: RevisionStore) -> None:
        self._store = store
        self._unpacked: dict[Resource, _Unpacked] = {}
        """Objects by their keys, of the kinds whose writes look at all others."""

    @property
    def revision(self) -> int:
        """Where the store is: as long as it stays there, everything is current."""
        return self._store.revision

    def read(self, target: ObjectRef) -> StoredEntry | None:
        """The stored entry, if there is one."""
        return self._table(target).entries.get(target.key)

    def get_or_none(self, target: ObjectRef) -> StoredEntry | None:
        """The stored entry, if there is one; 400 for a name that could not be part of a path."""
        if target.name and (complaints := path_segment_errors(target.name)):
            raise invalid_name_parameter(target.name, ";".join(complaints))
        return self.read(target)

    def get(self, target: ObjectRef) -> StoredEntry:
        """The stored entry; 404 if there is none."""
        entry = self.get_or_none(target)
        if entry is None:
            raise not_found(target.kind.resource, target.name)
        return entry

    def put(self, target: ObjectRef, obj: JsonObject) -> StoredEntry:
        """Store an object as it is."""
        return self.put_packed(target, stored_json.pack(target.kind, obj))

    def put_packed(self, target: ObjectRef, entry: StoredEntry) -> StoredEntry:
        """Store an object that is packed already; the entry with its revision."""
        if len(entry.raw) > OBJECT_LIMIT:
            raise unknown_error("etcdserver: request is too large")
        return self._store.put(self._table(target), target.key, entry)

    def update_raw(self, target: ObjectRef, edit: Edit, *, dry_run: bool = False) -> StoredEntry:
        """Store what `edit` makes of the live object, with no owner of fields and no generation."""
        base = self.get(target)
        obj = edit(stored_json.unpack(target.kind, base))
        if dry_run:
            return stored_json.pack(target.kind, obj, base.rv)
        if deleting(obj) and not has_finalizers(target.kind, obj):
            self.remove(target)
            return stored_json.pack(target.kind, obj, base.rv)
        return base if obj == stored_json.unpack(target.kind, base) else self.put(target, obj)

    def remove(self, target: ObjectRef) -> int:
        """Take an object out of the store; the revision of its end."""
        return self._store.delete(self._table(target), target.key).rv

    def others(self, target: ObjectRef) -> Iterator[JsonObject]:
        """Every other object of the kind, to be looked at: what did not change is shared."""
        kind, before = target.kind, self._unpacked.get(target.kind.resource, {})
        now: _Unpacked = {}
        for key, entry in self._table(target).entries.items():
            known = before.get(key)
            if known is None or known[0] is not entry:
                known = entry, stored_json.unpack(kind, entry)
            now[key] = known
        self._unpacked[kind.resource] = now
        own = target.key
        return (obj for key, (_, obj) in now.items() if key != own)

    def scan(self, kind: Kind, prefix: str) -> Iterator[tuple[ObjectRef, StoredEntry]]:
        """The objects of a kind whose keys begin so, as they are when the first is asked for."""
        for key, entry in self._store.table(kind.table).now.scan(prefix):
            namespace, _, name = key.rpartition("/")
            yield ObjectRef(kind, namespace, name), entry

    def unchanged_since(self, target: ObjectRef, since: int) -> bool:
        """Whether no object that is there was written since a revision."""
        return all(each.rv <= since for each in self._table(target).entries.values())

    def _table(self, target: ObjectRef) -> Table:
        return self._store.table(target.kind.table)
