"""ErrorBody: plain objects as the Go structures of their type, where messages print values."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.go_types import FieldKind, FieldType
from quintant.cluster.apiserver.golang.printing import GoStruct


def struct(kind: FieldType, value: Any) -> Any:
    """A value as the structures of its type have it: with their fields in order."""
    if kind.of is not None and isinstance(value, list):
        return [struct(kind.of, item) for item in value]
    if kind.kind is not FieldKind.MESSAGE or not isinstance(value, dict):
        return value
    fields = kind.message.fields.items()
    return GoStruct(
        {name: struct(field.type, value[name]) for name, field in fields if name in value}
    )
