"""ShouldCallHook: whether a webhook whose rules cover a change is called about it.

Its selectors look at the labels of the namespace and of the object, old or new; its conditions at
everything. A condition that cannot be evaluated counts as the failure policy says.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.cluster.apiserver.meta.status import StatusError, forbidden, not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.webhooks.attributes import CREATE, NAMESPACES, UPDATE, Attributes
from quintant.cluster.apiserver.webhooks.configuration import IGNORE, ConfiguredWebhook
from quintant.cluster.apiserver.webhooks.match_conditions import (
    Decide,
    MatchConditionError,
    conditions_match,
)
from quintant.core.resource import Resource

_NAMESPACE = Resource("", "v1", "Namespace", NAMESPACES, namespaced=False)
_NO_LABELS: Mapping[str, str] = {}


class Matcher:
    """Tells whether webhooks want to be asked."""

    def __init__(self, store: RevisionStore, decide: Decide) -> None:
        self._store, self._decide = store, decide

    def matches(self, hook: ConfiguredWebhook, attributes: Attributes, request: JsonObject) -> bool:
        """Whether a webhook is to be asked; StatusError if that cannot be told and matters."""
        if hook.namespaces and not self._within(hook, attributes):
            return False
        if hook.objects and not any(
            obj is not None and hook.objects.matches(_labels(obj))
            for obj in (attributes.obj, attributes.old)
        ):
            return False
        try:
            return not hook.conditions or conditions_match(
                hook.conditions, attributes, request, self._decide
            )
        except MatchConditionError as error:
            if hook.failure_policy == IGNORE:
                return False
            raise _forbidden(attributes, str(error)) from None

    def _within(self, hook: ConfiguredWebhook, attributes: Attributes) -> bool:
        if not attributes.namespace:
            # What lies in no namespace is not selected by one.
            return True
        return hook.namespaces.matches(self._labels(attributes))

    def _labels(self, attributes: Attributes) -> Mapping[str, str]:
        """The labels that a namespace selector looks at."""
        changes = attributes.operation in (CREATE, UPDATE) and not attributes.sub
        if attributes.about_namespace and changes and attributes.obj is not None:
            # Not stored yet.
            return _labels(attributes.obj)
        entry = self._store.table(NAMESPACES).entries.get(attributes.namespace)
        if entry is None:
            raise not_found(_NAMESPACE, attributes.namespace)
        return entry.labels


def _forbidden(attributes: Attributes, why: str) -> StatusError:
    return forbidden(attributes.kind.resource, attributes.name, why)


def _labels(obj: JsonObject) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("labels") or _NO_LABELS
