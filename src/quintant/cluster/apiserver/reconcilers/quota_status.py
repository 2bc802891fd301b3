"""syncResourceQuota: the status of a ResourceQuota: what is allowed, and what is used of it.

Done at once, as part of the write that changed something, where a real cluster has a controller
for it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from quintant.cluster.apiserver.admission.plugins.pod_requests import format_quantities
from quintant.cluster.apiserver.admission.plugins.quota_usage import table_of
from quintant.cluster.apiserver.admission.plugins.resource_quota import (
    QUOTAS,
    QuotaView,
    quota_used,
)
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.handlers.write import Writes
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table

CONTROLLER = WriteOptions(manager="kube-controller-manager")


class _Status(msgspec.Struct, frozen=True):
    status: dict[str, Any] = {}


class QuotaStatus:
    """Keeps the status of every quota in step with the objects of its namespace."""

    def __init__(self, store: RevisionStore, catalog: Catalog) -> None:
        self._store, self._catalog = store, catalog
        self._dirty: set[str] = set()
        self._counted: dict[str, frozenset[str]] = {}
        """The tables whose objects the quotas of a namespace count; of those looked at so far."""
        store.subscribe(self._on_change)

    def reload(self) -> None:
        """Look at every quota again: the store's contents were exchanged."""
        self._counted.clear()
        self._dirty = {key.partition("/")[0] for key in self._store.table(QUOTAS).entries}

    def reconcile(self, writes: Writes) -> bool:
        """Write every status that is not what it should be; whether to go on."""
        dirty, self._dirty = self._dirty, set()
        for namespace in sorted(dirty):
            for key, entry in self._store.table(QUOTAS).now.scan(f"{namespace}/"):
                status = self._status(namespace, stored_json.read(entry, QuotaView))
                if status != stored_json.read(entry, _Status).status:
                    self._write(writes, namespace, key.partition("/")[2], status)
        return bool(dirty)

    def _status(self, namespace: str, quota: QuotaView) -> JsonObject:
        if not quota.spec.hard:
            return {}
        known = {kind.table for kind in self._catalog.tables()}
        used = format_quantities(quota_used(self._store, namespace, quota, known))
        return {"hard": quota.spec.hard, "used": used}

    def _write(self, writes: Writes, namespace: str, name: str, status: JsonObject) -> None:
        kind = self._catalog.find("", "v1", QUOTAS)
        assert kind is not None, "a built-in kind is always served"
        target = ObjectRef(kind, namespace, name, "status")
        writes.update(target, partial(_with, status), CONTROLLER)

    def _on_change(self, table: Table, change: Change) -> None:
        namespace = change.key.rpartition("/")[0]
        if table.name == QUOTAS:
            self._counted.pop(namespace, None)
            self._dirty.add(namespace)
        elif namespace and table.name in self._tables(namespace):
            self._dirty.add(namespace)

    def _tables(self, namespace: str) -> frozenset[str]:
        if namespace not in self._counted:
            quotas = self._store.table(QUOTAS).now.scan(f"{namespace}/")
            names = (
                name for _, entry in quotas for name in stored_json.read(entry, QuotaView).spec.hard
            )
            self._counted[namespace] = frozenset(map(table_of, names))
        return self._counted[namespace]


def _with(status: JsonObject, live: JsonObject) -> JsonObject:
    return {**live, "status": status}
