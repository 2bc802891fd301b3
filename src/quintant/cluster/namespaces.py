"""Namespaces: nothing is created where there is none, and deleting one empties it.

The emptying is done here, at once, as part of the request that asked for it; a namespace whose
contents have finalizers stays Terminating until the last of them is gone.
"""

from __future__ import annotations

from quintant.cluster import wire
from quintant.cluster.catalog import Catalog, Kind, Plain
from quintant.cluster.deletes import Deletes
from quintant.cluster.drafts import Target
from quintant.cluster.objects import deleting
from quintant.cluster.preparing import NAMESPACE_FINALIZER
from quintant.cluster.problems import forbidden, not_found
from quintant.cluster.ring import Change
from quintant.cluster.store import Store, Table
from quintant.cluster.writes import Writes
from quintant.runtime.errors import Cause

PROTECTED = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that cannot be deleted."""
TABLE = "namespaces"


class Namespaces:
    """Which namespaces exist and which are going."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog
        self._stirred: dict[str, None] = {}
        store.subscribe(self._told)

    def guard(self, target: Target) -> None:
        """404 without the namespace, 403 while it is being deleted."""
        if not target.kind.resource.namespaced:
            return
        entry = self._store.table(TABLE).entries.get(target.namespace)
        if entry is None:
            raise not_found(self._kind.resource, target.namespace)
        if self._terminating(target.namespace):
            cause = Cause(
                "NamespaceTerminating",
                f"namespace {target.namespace} is being terminated",
                "metadata.namespace",
            )
            raise forbidden(
                target.kind.resource,
                target.name,
                f"unable to create new content in namespace {target.namespace} because it is being "
                "terminated",
                cause,
            )

    def protect(self, target: Target) -> None:
        """403 for the namespaces a cluster cannot do without."""
        if target.kind.table == TABLE and target.name in PROTECTED:
            raise forbidden(target.kind.resource, target.name, "this namespace may not be deleted")

    def reload(self) -> None:
        """Look at every namespace again: the store's contents were exchanged."""
        self._stirred |= dict.fromkeys(self._store.table(TABLE).keys)

    def settle(self, writes: Writes, deletes: Deletes) -> bool:
        """Go on emptying namespaces that are being deleted; whether there was one."""
        if not self._stirred:
            return False
        namespace = next(iter(self._stirred))
        del self._stirred[namespace]
        if self._terminating(namespace) and self._emptied(namespace, deletes):
            writes.amend(Target(self._kind, name=namespace), _finalized)
        return True

    def _emptied(self, namespace: str, deletes: Deletes) -> bool:
        prefix = f"{namespace}/"
        for kind in self._catalog.tables():
            if not kind.resource.namespaced:
                continue
            for key, _ in self._store.table(kind.table).now.scan(prefix):
                deletes.delete(Target(kind, namespace, key.removeprefix(prefix)))
        return not any(
            self._store.table(kind.table).now.count(prefix) for kind in self._catalog.tables()
        )

    def _terminating(self, namespace: str) -> bool:
        entry = self._store.table(TABLE).entries.get(namespace)
        return entry is not None and deleting(wire.unpack(self._kind, entry))

    @property
    def _kind(self) -> Kind:
        found = self._catalog.find("", "v1", TABLE)
        assert found is not None
        return found

    def _told(self, table: Table, change: Change) -> None:
        """Remember namespaces that may be done: marked themselves, or one object emptier."""
        if table.name == TABLE and change.cur is not None and change.prev is not None:
            self._stirred[change.key] = None
        namespace, _, _ = change.key.rpartition("/")
        if namespace and change.cur is None:
            self._stirred[namespace] = None


def _finalized(namespace: Plain) -> Plain:
    finalizers = namespace["spec"].get("finalizers", [])
    left = [name for name in finalizers if name != NAMESPACE_FINALIZER]
    return {**namespace, "spec": {"finalizers": left} if left else {}}
