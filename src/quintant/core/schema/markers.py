"""What an author says about a field beyond its Python type, as `Annotated` metadata.

    replicas: Annotated[Replicas | None, default(1), immutable()] = None

Ranges, lengths, patterns and descriptions are msgspec's own `Meta`; the annotations here add what
only a CustomResourceDefinition knows. Several may stand in one Annotated. They describe what the
server accepts and stores; nothing here changes how Python reads an object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec import Meta, json

from quintant.core.object import Model, encode_hook
from quintant.core.resource import CelRule

IMMUTABLE = CelRule("self == oldSelf", "this field cannot be changed")
QUANTITY = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
DURATION = r"^(0|([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+)$"


@dataclass(frozen=True, slots=True)
class Shape:
    """Whose fields an Opaque has; see `shaped`."""

    model: type[Model]


def default(value: Any) -> Meta:
    """The value the server fills in when the field is absent.

    The Python default must be None ("absent"), else a value equal to it would never be sent.
    """
    return Meta(
        extra_json_schema={"default": json.decode(json.encode(value, enc_hook=encode_hook))}
    )


def immutable() -> CelRule:
    """The server refuses to change the field once it is set, or to remove it."""
    return IMMUTABLE


def cel(rule: str, message: str = "", *, reason: str = "", path: str = "") -> CelRule:
    """A CEL rule the server checks: `self` is the field, `oldSelf` its value before an update.

    Works in an Annotated and in `@resource(rules=[...])`. `path` (such as `.replicas`) says which
    field below `self` is blamed; `reason` is one of the server's, FieldValueInvalid by default.
    """
    return CelRule(rule, message, reason, path)


def list_map(*keys: str) -> Meta:
    """The list is a map by these fields of its items (wire names): appliers own single items."""
    return Meta(
        extra_json_schema={
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": list(keys),
        }
    )


def list_set() -> Meta:
    """The list is a set: no duplicates, and appliers own single members."""
    return Meta(extra_json_schema={"x-kubernetes-list-type": "set"})


def list_atomic() -> Meta:
    """The list is one value: its manager owns all of it. This is the server's default."""
    return Meta(extra_json_schema={"x-kubernetes-list-type": "atomic"})


def preserve_unknown() -> Meta:
    """The server keeps fields the schema does not name; on a recursive type, it ends the schema."""
    return Meta(extra_json_schema={"x-kubernetes-preserve-unknown-fields": True})


def embedded() -> Meta:
    """The object is a whole Kubernetes object, with apiVersion, kind and metadata of its own."""
    return Meta(extra_json_schema={"x-kubernetes-embedded-resource": True})


def int_or_string() -> Meta:
    """An integer or a string, such as 5 or "25%"; an `int | str` is one without this marker."""
    return Meta(extra_json_schema={"x-kubernetes-int-or-string": True})


def quantity() -> Meta:
    """An amount such as 500m or 1.5Gi: of `str`, or of `int | str` to take bare numbers too.

    A field of the type `Quantity` takes both without this marker.
    """
    return Meta(extra_json_schema={"pattern": QUANTITY})


def duration() -> Meta:
    """A span of time as Go writes it: 1h30m, 500ms."""
    return Meta(extra_json_schema={"format": "duration", "pattern": DURATION})


def date_time() -> Meta:
    """A moment, as Kubernetes writes one: 2026-01-31T12:00:00Z."""
    return Meta(extra_json_schema={"format": "date-time"})


def deprecated(message: str) -> Meta:
    """Marks the field as deprecated in its description; say what to use instead."""
    return Meta(extra_json_schema={"deprecated": message})


def shaped(model: type[Model]) -> Shape:
    """An Opaque has the fields of this Model, and the server refuses or drops all others.

    In Python it stays the text that was written: `Annotated[Opaque, shaped(PodTemplateSpec)]` is
    explained and checked as pods are, and every field of it reaches the pod.
    """
    return Shape(model)
