"""WipeObjectMetaSystemFields, ValidateObjectMetaUpdate: what the server keeps of metadata.

Pure functions on plain objects; those that change an object say so. Everything here holds for
every kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.go_types.coerce import CoercionError, coerce
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.field_errors import invalid, limit_errors
from quintant.cluster.apiserver.meta.objectmeta import (
    metadata_type_error,
    validate_no_new_finalizers,
    validate_object_meta,
)
from quintant.cluster.apiserver.meta.status import (
    bad_request,
    unknown_error,
)
from quintant.cluster.apiserver.meta.types import JsonObject, ValidationResult
from quintant.core.clock import Random
from quintant.core.errors import Cause

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Letters of generated names: no vowels, so no words."""
SUFFIX_LENGTH = 5
NAME_LIMIT = 63
"""Longest generated name; the base is cut to leave room for the suffix."""

_EMPTY: JsonObject = {"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": []}
_WIPED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")


_KEPT_WITH_VERSION = (*_KEPT, "generation", "resourceVersion")


def with_type_meta(kind: Kind, sent: Any) -> JsonObject:
    """What a client sent, as an object of the kind with metadata; 400 if it is none at all."""
    if not isinstance(sent, dict):
        raise bad_request(f"the body is not an object of kind {kind.resource.kind}")
    resource, metadata = kind.resource, sent.get("metadata")
    rest = {key: value for key, value in sent.items() if key not in ("apiVersion", "kind")}
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        **rest,
        "metadata": _tidy({} if metadata is None else metadata),
    }


def set_namespace(kind: Kind, obj: JsonObject, namespace: str, name: str = "") -> None:
    """Give the object the namespace of the URL, in place; 400 where it names another place."""
    metadata = obj["metadata"]
    sent_namespace = metadata.get("namespace") or namespace
    if sent_namespace != namespace and kind.resource.namespaced:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if kind.resource.namespaced:
        metadata["namespace"] = namespace
    else:
        metadata.pop("namespace", None)
    if name:
        _check_name(metadata, name)


def unknown_metadata(obj: JsonObject) -> list[str]:
    """Drop metadata nobody knows, in place; its paths. CoercionError where it cannot be read."""
    metadata = obj["metadata"]
    if not isinstance(metadata, dict):
        raise CoercionError(metadata_type_error(metadata))
    unknown = coerce(go_types.message("meta.v1.ObjectMeta"), metadata)
    return [f"metadata.{path}" for path in unknown]


def wipe_system_metadata(obj: JsonObject) -> None:
    """Drop, in place, what only the server says about a new object."""
    for name in _WIPED:
        obj["metadata"].pop(name, None)


def keep_system_metadata(obj: JsonObject, live: JsonObject) -> None:
    """Bring back, in place, what an update cannot change."""
    metadata, before = obj["metadata"], live["metadata"]
    for name in _KEPT_WITH_VERSION:
        if name in before:
            metadata[name] = before[name]
        else:
            metadata.pop(name, None)


def generate_name(base: str, random: Random) -> str:
    """A fresh name from generateName."""
    suffix = "".join(random.choice(SUFFIX_ALPHABET) for _ in range(SUFFIX_LENGTH))
    return base[: NAME_LIMIT - SUFFIX_LENGTH] + suffix


def content(kind: Kind, obj: Mapping[str, Any]) -> JsonObject:
    """What generation counts: everything but metadata and a status of its own."""
    apart = {"metadata", "status"} if kind.resource.status else {"metadata"}
    return {key: value for key, value in obj.items() if key not in apart}


def deleting(obj: JsonObject) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def has_finalizers(kind: Kind, obj: JsonObject) -> bool:
    """Whether something has to happen before a deleted object may go."""
    metadata = obj["metadata"]
    if kind.strategy.delete.on_delete is not None and (obj.get("spec") or {}).get("finalizers"):
        return True
    return bool(metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds"))


def dedup_owner_references(obj: JsonObject, when: str = "") -> tuple[str, ...]:
    """Collapse equal owner references, in place; what to tell their author about it."""
    again = _repeated_owners(obj)
    if not again:
        return ()
    return (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner "
        "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
        f"requests; duplicate UID(s) observed: {', '.join(again)}",
    )


def _repeated_owners(obj: JsonObject) -> list[str]:
    """The uids of owner references that came more than once, and now do not, in place."""
    owners = obj["metadata"].get("ownerReferences") or []
    unique: dict[frozenset[tuple[str, Any]], JsonObject] = {}
    again: dict[str, None] = {}
    for owner in owners:
        if unique.setdefault(frozenset(owner.items()), owner) is not owner:
            again[owner.get("uid", "")] = None
    if again:
        obj["metadata"]["ownerReferences"] = list(unique.values())
    return list(again)


def validate(
    kind: Kind, obj: JsonObject, live: JsonObject | None = None, sub: str = ""
) -> ValidationResult:
    """Everything that is wrong with an object, and what its author should know."""
    metadata, strategy = obj["metadata"], kind.strategy.validation
    core = not (kind.custom or strategy.unqualified_finalizers)
    causes = [*validate_object_meta(metadata, strategy.validate_name, core=core)]
    if live is not None and deleting(live):
        causes += validate_no_new_finalizers(metadata, live["metadata"])
    own = [*limit_errors(strategy.validate(obj, live))] if strategy.validate is not None else []
    causes = own if own and strategy.metadata_last else [*causes, *own]
    if strategy.validate_custom is None:
        return ValidationResult(causes)
    result = strategy.validate_custom(obj, live, sub, causes)
    return ValidationResult([*causes, *result.errors], result.warnings)


def check_resource_version(resource_version: str | None) -> None:
    """500 for a resourceVersion that is none."""
    if resource_version and not resource_version.isdecimal():
        raise unknown_error(f'strconv.ParseUint: parsing "{resource_version}": invalid syntax')


def validate_immutable_metadata(obj: JsonObject, live: JsonObject) -> list[Cause]:
    """What of an update tries to change who the object is, or whether it goes."""
    sent, before = obj["metadata"], live["metadata"]
    return [
        invalid(f"metadata.{name}", sent[name], "field is immutable")
        for name in ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
        if sent.get(name) and sent[name] != before.get(name)
    ]


def _tidy(metadata: Any) -> Any:
    """Metadata without nulls and empty collections, which mean nothing there.

    An empty list of managers means something: like a blank one, it takes all ownership away. What
    is no metadata at all is refused by who decodes it.
    """
    if not isinstance(metadata, dict):
        return metadata
    cleared: JsonObject = {"managedFields": [{}]} if metadata.get("managedFields") == [] else {}
    kept = {
        name: value
        for name, value in metadata.items()
        if value is not None and (value or value != _EMPTY.get(name))
    }
    return {**kept, **cleared}


def _check_name(metadata: JsonObject, name: str) -> None:
    sent_name = metadata.get("name")
    if not sent_name:
        raise bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: "
            "name must be provided"
        )
    if sent_name != name:
        raise bad_request(
            f"the name of the object ({sent_name}) does not match the name on the URL ({name})"
        )
