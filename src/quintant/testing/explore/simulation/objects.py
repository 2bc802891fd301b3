"""The objects of a cluster at a moment, read from its store without a request.

For invariants, which are asked after every write, and for comparisons: both look at everything and
must change nothing, not even the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import msgspec

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot
from quintant.core import codec
from quintant.core.object import K, Object
from quintant.core.owner import OWNER_UID
from quintant.core.resource import resource_of

IGNORED_TABLES = frozenset({"events", "leases.coordination.k8s.io"})
"""Told and held beside the work: nobody may rely on them."""


class StoredWorld(Protocol):
    """A server, as far as it is about what it holds."""

    @property
    def catalog(self) -> Catalog:
        """The kinds that it serves."""

    @property
    def store(self) -> RevisionStore:
        """Its objects."""

    def snapshot(self) -> Snapshot:
        """Remember everything."""

    def compact(self) -> None:
        """Have history begin now."""


class StoredMeta(msgspec.Struct, frozen=True, rename="camel"):
    """What is read of metadata to know whom an object belongs to."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generate_name: str = ""
    owner_references: tuple[dict[str, Any], ...] = ()
    finalizers: tuple[str, ...] = ()
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}

    @property
    def owner_uids(self) -> set[str]:
        """The uids of its owners, by reference or by label."""
        labelled = {self.labels[OWNER_UID]} if OWNER_UID in self.labels else set()
        return {owner["uid"] for owner in self.owner_references} | labelled


class StoredObject(msgspec.Struct, frozen=True):
    """What is read of any object."""

    metadata: StoredMeta


@dataclass(frozen=True, slots=True)
class ObjectView:
    """Everything in a server's store."""

    server: StoredWorld
    _known: dict[type[Object], dict[int, tuple[Kind, Object]]] = field(
        default_factory=dict, repr=False
    )
    """What was decoded of what is there, by the revision at which it was stored."""

    def all(self, kind: type[K], namespace: str = "") -> list[K]:
        """Every object of a kind, in one namespace or all."""
        wanted = resource_of(kind)
        found = self.server.catalog.find(wanted.group, wanted.version, wanted.plural)
        if found is None:
            return []
        encoder = stored_json.ObjectEncoder(found)
        entries = self.server.store.table(found.table).entries.values()
        known = {each.rv: self._decoded(kind, encoder, each) for each in entries}
        self._known[kind] = known
        objects = [cast(K, each) for _, each in known.values()]
        return [each for each in objects if namespace in ("", each.metadata.namespace)]

    def find(self, kind: type[K], name: str, namespace: str = "default") -> K | None:
        """One object of a kind; None if it is absent."""
        spaced = namespace if resource_of(kind).namespaced else ""
        return next((it for it in self.all(kind, spaced) if it.metadata.name == name), None)

    def _decoded(
        self, kind: type[Object], encoder: stored_json.ObjectEncoder, entry: StoredEntry
    ) -> tuple[Kind, Object]:
        """An object, decoded once as long as nobody writes it, nor changes how it is shown."""
        known = self._known.get(kind, {}).get(entry.rv)
        if known is not None and known[0] is encoder.kind:
            return known
        return encoder.kind, codec.decode(kind, encoder.encode(entry))

    def entries(self, table: str) -> list[tuple[str, StoredEntry]]:
        """The entries of a table, by key."""
        return list(self.server.store.table(table).entries.items())

    def since(self, base: Snapshot) -> Iterator[tuple[Kind, str, StoredEntry | None]]:
        """What is not as it was in a snapshot; None for what is gone."""
        for kind in self.server.catalog.tables():
            if kind.table in IGNORED_TABLES or kind.create_only or kind.computed:
                continue
            before = base.tables[kind.table].entries if kind.table in base.tables else {}
            now = self.server.store.table(kind.table).entries
            if before == now:
                continue
            for key in sorted({*before, *now}):
                if now.get(key) is not before.get(key):
                    yield kind, key, now.get(key)


def metadata(entry: StoredEntry) -> StoredMeta:
    """Whose an object is."""
    return stored_json.read(entry, StoredObject).metadata


def describe(obj: Object) -> str:
    """An object as a person reads it: its kind and key."""
    return f"{resource_of(type(obj)).kind} {obj.key}"
