"""MatchNamespaceSelector, MatchObjectSelector: whether labels select a change.

A selector of namespaces looks at the namespace of the object, or at the object itself if it is
one; a selector of objects at the object, old or new.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.cluster.apiserver.meta.selectors import Selector
from quintant.cluster.apiserver.meta.status import not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.webhooks.attributes import (
    CONNECT,
    CREATE,
    NAMESPACES,
    UPDATE,
    Attributes,
)
from quintant.core.resource import Resource

_NAMESPACE = Resource("", "v1", "Namespace", NAMESPACES, namespaced=False)
_NO_LABELS: Mapping[str, str] = {}


class SelectorMatcher:
    """Tells whether selectors select changes."""

    def __init__(self, store: RevisionStore) -> None:
        self._store = store

    def matches(self, namespaces: Selector, objects: Selector, attributes: Attributes) -> bool:
        """Whether both select a change; StatusError if its namespace is not there."""
        if namespaces and not self._within(namespaces, attributes):
            return False
        # What a connection is asked with can have no labels.
        shown = (attributes.obj, attributes.old) if attributes.operation != CONNECT else ()
        return not objects or any(
            obj is not None and objects.matches(_labels(obj)) for obj in shown
        )

    def _within(self, namespaces: Selector, attributes: Attributes) -> bool:
        if not attributes.namespace:
            # What lies in no namespace is not selected by one.
            return True
        return namespaces.matches(self._namespace_labels(attributes))

    def _namespace_labels(self, attributes: Attributes) -> Mapping[str, str]:
        changes = attributes.operation in (CREATE, UPDATE) and not attributes.sub
        if attributes.about_namespace and changes and attributes.obj is not None:
            # Not stored yet.
            return _labels(attributes.obj)
        entry = self._store.table(NAMESPACES).entries.get(attributes.namespace)
        if entry is None:
            raise not_found(_NAMESPACE, attributes.namespace)
        return entry.labels


def _labels(obj: JsonObject) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("labels") or _NO_LABELS
