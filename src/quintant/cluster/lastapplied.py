"""From client-side to server-side apply: what kubectl may take over from its former self.

Client-side apply wrote the configuration into an annotation and owns its fields by another name.
Server-side apply by `kubectl` is not refused for such fields, as long as they still are as that
configuration says.
"""

from __future__ import annotations

import msgspec

from quintant.cluster.catalog import Kind, Plain
from quintant.cluster.fields import FieldSet
from quintant.cluster.merging import compare, fields_of
from quintant.cluster.shapes import Untypable

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def inherited(kind: Kind, live: Plain | None, manager: str) -> FieldSet:
    """The fields of a live object that a manager may take from others without force."""
    annotations = ((live or {}).get("metadata") or {}).get("annotations") or {}
    if manager != MANAGER or not annotations.get(ANNOTATION):
        return FieldSet()
    try:
        last = msgspec.json.decode(annotations[ANNOTATION])
        if last.get("apiVersion") != kind.resource.api_version:
            return FieldSet()
        since = compare(last, live, kind.shape)
        fields = fields_of(last, kind.shape)
    except (msgspec.DecodeError, AttributeError, Untypable):
        return FieldSet()
    return fields - since.modified - since.added - since.removed
