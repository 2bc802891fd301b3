"""lastAppliedManager, lastAppliedUpdater: from client-side to server-side apply of kubectl.

Client-side apply wrote the configuration into an annotation and owns its fields by another name.
Server-side apply by `kubectl` is not refused for such fields, as long as they still are as that
configuration says; and it keeps the annotation true, so that its user can go back.
"""

from __future__ import annotations

from quintant.cluster.apiserver.golang import json
from quintant.cluster.apiserver.golang.printing import encoded
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.objectmeta import ANNOTATIONS_LIMIT, annotations_size
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.structuredmerge.fieldset import FieldSet
from quintant.cluster.apiserver.structuredmerge.schema import TypingError
from quintant.cluster.apiserver.structuredmerge.typed import compare, field_set_of

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def fields_to_take_over(kind: Kind, live: JsonObject | None, manager: str) -> FieldSet:
    """The fields of a live object that a manager may take from others without force."""
    annotations = ((live or {}).get("metadata") or {}).get("annotations") or {}
    if manager != MANAGER or not annotations.get(ANNOTATION):
        return FieldSet()
    try:
        last = json.decode(annotations[ANNOTATION].encode())
        if last.get("apiVersion") != kind.resource.api_version:
            return FieldSet()
        since = compare(last, live, kind.merge_schema)
        fields = field_set_of(last, kind.merge_schema)
    except (json.NotJson, AttributeError, UnicodeEncodeError, TypingError):
        return FieldSet()
    return fields - since.modified - since.added - since.removed


def with_last_applied(merged: JsonObject, config: JsonObject, manager: str) -> JsonObject:
    """An object after an apply, with the configuration in the annotation where there is one.

    One that is too long goes without: better no annotation than a wrong one.
    """
    annotations = (merged.get("metadata") or {}).get("annotations") or {}
    if manager != MANAGER or not annotations.get(ANNOTATION):
        return merged
    updated = {**annotations, ANNOTATION: _last_applied(config)}
    if annotations_size(updated) > ANNOTATIONS_LIMIT:
        del updated[ANNOTATION]
    return {**merged, "metadata": _annotated(merged["metadata"], updated)}


def _last_applied(config: JsonObject) -> str:
    """A configuration as kubectl writes it down: without the annotation itself."""
    metadata = config.get("metadata") or {}
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(ANNOTATION, None)
    return encoded({**config, "metadata": _annotated(metadata, annotations)}) + "\n"


def _annotated(metadata: JsonObject, annotations: JsonObject) -> JsonObject:
    """Metadata with these annotations; a real server keeps no empty ones."""
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**rest, "annotations": annotations} if annotations else rest
