"""ClusterRoleAggregationController: RBAC aggregation: roles of an aggregationRule.

Done at once, as part of the write that changed a role, where a real cluster has a controller for
it. Roles may select roles that are made of others themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from quintant.cluster.apiserver.authorization.bindings import GROUP
from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.handlers.write import Writes
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.meta.selectors import from_object
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.history import Change, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table

PLURAL = "clusterroles"
TABLE = f"{PLURAL}.{GROUP}"
CONTROLLER = WriteOptions(manager="clusterrole-aggregation-controller", force=True)
RECENT = 8
"""Sets of roles whose aggregation is kept at hand: servers of tests begin with the same ones."""


class _Gathered(msgspec.Struct, frozen=True, rename="camel"):
    cluster_role_selectors: tuple[dict[str, Any], ...] = ()


class _RoleMeta(msgspec.Struct, frozen=True):
    labels: dict[str, str] | None = None


class _Role(msgspec.Struct, frozen=True, rename="camel"):
    metadata: _RoleMeta
    rules: list[JsonObject] | None = None
    aggregation_rule: _Gathered | None = None


class ClusterRoleAggregation:
    """Keeps the rules of aggregated cluster roles in step with the roles they select."""

    def __init__(self, store: RevisionStore, catalog: Catalog) -> None:
        self._store, self._catalog = store, catalog
        self._dirty = False
        store.subscribe(self._on_change)

    def reload(self) -> None:
        """Look at every role again: the store's contents were exchanged."""
        self._dirty = True

    def reconcile(self, writes: Writes) -> bool:
        """Write aggregated roles whose rules are outdated; whether any role had changed."""
        if not self._dirty:
            return False
        self._dirty = False
        stored = self._store.table(TABLE).now.scan()
        for name, rules in _outdated(tuple((name, entry.raw) for name, entry in stored)):
            self._write(writes, name, rules)
        return True

    def _write(self, writes: Writes, name: str, encoded: bytes) -> None:
        rules = msgspec.json.decode(encoded)
        kind = self._catalog.find(GROUP, "v1", PLURAL)
        assert kind is not None, "a built-in kind is always served"
        resource = kind.resource
        config = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name},
        }
        writes.apply(
            ObjectRef(kind, name=name), config | ({"rules": rules} if rules else {}), CONTROLLER
        )

    def _on_change(self, table: Table, change: Change) -> None:
        self._dirty |= table.name == TABLE


@lru_cache(RECENT)
def _outdated(stored: tuple[tuple[str, bytes], ...]) -> tuple[tuple[str, bytes], ...]:
    """Which aggregated roles, of all by name, have not the rules that they should; as JSON."""
    roles = {name: stored_json.read(StoredEntry(raw, 0, {}, {}), _Role) for name, raw in stored}
    wanted = {
        name: _union(name, role.aggregation_rule, roles)
        for name, role in roles.items()
        if role.aggregation_rule is not None
    }
    return tuple(
        (name, msgspec.json.encode(rules))
        for name, rules in wanted.items()
        if rules != roles[name].rules
    )


def _union(name: str, gathered: _Gathered, roles: Mapping[str, _Role]) -> list[JsonObject]:
    """The rules of the selected roles, in the order of their names, each once."""
    selectors = [from_object(selector) for selector in gathered.cluster_role_selectors]
    found: list[JsonObject] = []
    for other, role in roles.items():
        labels = role.metadata.labels or {}
        if other != name and any(selector.matches(labels) for selector in selectors):
            found += [rule for rule in role.rules or () if rule not in found]
    return found
