"""Namespaces: nothing is created where there is none, or where one is being deleted.

A deleted namespace stays until its finalizers are gone; who empties it and takes the server's own
away is a controller (quintant.cluster.controllers.namespaces.deletion).
"""

from __future__ import annotations

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import deleting
from quintant.cluster.apiserver.meta.status import forbidden, not_found
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.errors import Cause

PROTECTED = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that cannot be deleted."""
TABLE = "namespaces"


class NamespaceLifecycle:
    """Which namespaces exist and which are going."""

    def __init__(self, store: RevisionStore, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    def check_create(self, target: ObjectRef) -> None:
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

    def check_delete(self, target: ObjectRef) -> None:
        """403 for the namespaces a cluster cannot do without."""
        if target.kind.table == TABLE and target.name in PROTECTED:
            raise forbidden(target.kind.resource, target.name, "this namespace may not be deleted")

    def _terminating(self, namespace: str) -> bool:
        entry = self._store.table(TABLE).entries.get(namespace)
        return entry is not None and deleting(stored_json.unpack(self._kind, entry))

    @property
    def _kind(self) -> Kind:
        found = self._catalog.find("", "v1", TABLE)
        assert found is not None
        return found
