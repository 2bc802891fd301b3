"""pkg/controller/validatingadmissionpolicystatus: what type checking says of a validating policy.

Done at once, as part of the write that changed a policy, where a real cluster has a controller for
it.
"""

from __future__ import annotations

from functools import partial

import msgspec

from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.handlers.write import Writes
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.offload.pool import LIGHT_BYTES
from quintant.cluster.apiserver.policy.policy_source import GROUP
from quintant.cluster.apiserver.policy.type_checking import check_policy
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table

PLURAL = "validatingadmissionpolicies"
CONTROLLER = WriteOptions(manager="validatingadmissionpolicy-status")


class PolicyStatus:
    """Keeps the status of every validating policy in step with its spec."""

    def __init__(self, store: RevisionStore, catalog: Catalog) -> None:
        self._store, self._catalog = store, catalog
        self._dirty: set[str] = set()
        store.subscribe(self._on_change)

    def reload(self) -> None:
        """Look at every policy again: the store's contents were exchanged."""
        self._dirty = set(self._store.table(self._kind.table).entries)

    def reconcile(self, writes: Writes) -> bool:
        """Write the status of every policy that changed; whether to go on."""
        dirty, self._dirty = self._dirty, set()
        for name in sorted(dirty):
            entry = self._store.table(self._kind.table).entries.get(name)
            if entry is not None:
                self._check(writes, stored_json.unpack(self._kind, entry))
        return bool(dirty)

    @property
    def _kind(self) -> Kind:
        kind = self._catalog.find(GROUP, "v1", PLURAL)
        assert kind is not None, "a built-in kind is always served"
        return kind

    def _check(self, writes: Writes, policy: JsonObject) -> None:
        generation = policy["metadata"]["generation"]
        if generation <= (policy.get("status") or {}).get("observedGeneration", 0):
            return
        warnings = self._warnings(policy["spec"])
        status = {
            "observedGeneration": generation,
            "typeChecking": {"expressionWarnings": warnings} if warnings else {},
        }
        target = ObjectRef(self._kind, "", policy["metadata"]["name"], "status")
        writes.update(target, partial(_with, status), CONTROLLER)

    def _warnings(self, spec: JsonObject) -> list[JsonObject]:
        # Others wait for it, and each expression is compiled once more for every kind.
        if len(msgspec.json.encode(spec)) > LIGHT_BYTES:
            return []
        return check_policy(self._catalog, spec)

    def _on_change(self, table: Table, change: Change) -> None:
        if table.name == f"{PLURAL}.{GROUP}":
            self._dirty.add(change.key)


def _with(status: JsonObject, live: JsonObject) -> JsonObject:
    return {**live, "status": {**(live.get("status") or {}), **status}}
