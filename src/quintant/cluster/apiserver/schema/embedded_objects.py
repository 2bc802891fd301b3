"""x-kubernetes-embedded-resource: apiVersion, kind and metadata of objects inside others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.go_types.coerce import CoercionError, coerce
from quintant.cluster.apiserver.golang.printing import shown
from quintant.cluster.apiserver.meta.field_errors import invalid, required
from quintant.cluster.apiserver.meta.names import dns1035_label_errors
from quintant.cluster.apiserver.meta.objectmeta import (
    metadata_type_error,
    validate_embedded_object_meta,
)
from quintant.cluster.apiserver.schema.prune import StructuralSchema
from quintant.core.errors import Cause

_TEXTS = ("apiVersion", "kind")


def coerce_embedded(value: Any, schema: StructuralSchema | None, path: str = "") -> list[str]:
    """Read embedded metadata as Go reads it, in place; the paths of what is unknown there.

    CoercionError where it cannot be read.
    """
    if schema is None or not schema.embeds:
        return []
    unknown: list[str] = []
    if isinstance(value, dict):
        if schema.embedded and path:
            unknown += _coerced(value, path)
        for name in value:
            unknown += coerce_embedded(value[name], schema.child(name), _below(schema, path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            unknown += coerce_embedded(item, schema.items, f"{path}[{at}]")
    return sorted(unknown)


def validate_embedded_objects(
    value: Any, schema: StructuralSchema | None, path: str = ""
) -> Iterator[Cause]:
    """What is wrong with embedded objects beyond their schemas."""
    if schema is None or not schema.embeds:
        return
    if isinstance(value, dict):
        if schema.embedded and path:
            yield from _complaints(value, path)
        for name, child in value.items():
            yield from validate_embedded_objects(
                child, schema.child(name), _below(schema, path, name)
            )
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from validate_embedded_objects(item, schema.items, f"{path}[{at}]")


def _below(schema: StructuralSchema, path: str, name: str) -> str:
    if name not in schema.properties and schema.open:
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def _coerced(value: dict[str, Any], path: str) -> list[str]:
    for name in _TEXTS:
        if name in value and not isinstance(value[name], str):
            raise CoercionError(
                f"{path}.{name}: Invalid value: {shown(value[name])}: must be a string"
            )
    if "metadata" not in value:
        return []
    sent = value["metadata"]
    value["metadata"] = metadata = {} if sent is None else sent
    before = shown(sent)
    try:
        unknown = _fitted(metadata)
    except CoercionError as error:
        raise CoercionError(f"{path}.metadata: Invalid value: {before}: {error}") from None
    return [f"{path}.metadata.{name}" for name in unknown]


def _fitted(metadata: Any) -> list[str]:
    if not isinstance(metadata, dict):
        raise CoercionError(metadata_type_error(metadata))
    return coerce(go_types.message("meta.v1.ObjectMeta"), metadata)


def _complaints(value: dict[str, Any], path: str) -> Iterator[Cause]:
    for name in _TEXTS:
        field_path = f"{path}.{name}"
        if name not in value:
            yield required(field_path)
        elif not value[name]:
            yield invalid(field_path, value[name], "must not be empty")
        elif complaint := _ODDITIES[name](value[name]):
            yield invalid(field_path, value[name], complaint)
    if "metadata" in value:
        yield from validate_embedded_object_meta(value["metadata"], f"{path}.metadata")


def _odd_version(version: str) -> str:
    return "" if version.count("/") < 2 else f"unexpected GroupVersion string: {version}"


def _odd_kind(kind: str) -> str:
    text = ",".join(dns1035_label_errors(kind.lower()))
    return f"may have mixed case, but should otherwise match: {text}" if text else ""


_ODDITIES = {"apiVersion": _odd_version, "kind": _odd_kind}
