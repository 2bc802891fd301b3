"""Cluster roles made of others: those with an aggregation rule hold the rules of all they select.

Done at once, as part of the write that changed a role, where a real cluster has a controller for
it. Roles may select roles that are made of others themselves.
"""

from __future__ import annotations

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


class _Gathered(msgspec.Struct, frozen=True, rename="camel"):
    cluster_role_selectors: tuple[dict[str, Any], ...] = ()


class _Role(msgspec.Struct, frozen=True, rename="camel"):
    rules: list[JsonObject] | None = None
    aggregation_rule: _Gathered | None = None


class ClusterRoleAggregation:
    """Keeps the rules of aggregated cluster roles in step with the roles they select."""

    def __init__(self, store: RevisionStore, catalog: Catalog) -> None:
        self._store, self._catalog = store, catalog
        self._stirred = False
        store.subscribe(self._told)

    def reload(self) -> None:
        """Look at every role again: the store's contents were exchanged."""
        self._stirred = True

    def reconcile(self, writes: Writes) -> bool:
        """Write every aggregated role whose rules are not what they should be; whether to go on."""
        if not self._stirred:
            return False
        self._stirred = False
        roles = [(name, entry) for name, entry in self._store.table(TABLE).now.scan()]
        for name, entry in roles:
            role = stored_json.read(entry, _Role)
            if role.aggregation_rule is None:
                continue
            rules = _union(name, role.aggregation_rule, roles)
            if rules != role.rules:
                self._write(writes, name, rules)
        return True

    def _write(self, writes: Writes, name: str, rules: list[JsonObject]) -> None:
        kind = self._catalog.find(GROUP, "v1", PLURAL)
        assert kind is not None, "a built-in kind is always served"
        where = kind.resource
        config = {"apiVersion": where.api_version, "kind": where.kind, "metadata": {"name": name}}
        writes.apply(
            ObjectRef(kind, name=name), config | ({"rules": rules} if rules else {}), CONTROLLER
        )

    def _told(self, table: Table, change: Change) -> None:
        self._stirred |= table.name == TABLE


def _union(
    name: str, gathered: _Gathered, roles: list[tuple[str, StoredEntry]]
) -> list[JsonObject]:
    """The rules of the selected roles, in the order of their names, each once."""
    selectors = [from_object(selector) for selector in gathered.cluster_role_selectors]
    found: list[JsonObject] = []
    for other, entry in roles:
        if other != name and any(selector.matches(entry.labels) for selector in selectors):
            rules = stored_json.read(entry, _Role).rules or []
            found += [rule for rule in rules if rule not in found]
    return found
