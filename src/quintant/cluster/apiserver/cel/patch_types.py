"""DynamicTypeResolver: the types Object and JSONPatch, which the expressions of mutations make.

An Object has any field, and the type of a field that is made of fields again is called by its path:
`Object.spec.template`. Values of both types are opaque to the rest of the language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quintant.cluster.apiserver.cel.types import ANY, STRING, CelType
from quintant.cluster.apiserver.cel.values import CelError, OpaqueValue
from quintant.core.json_pointer import escape_step

OBJECT_TYPE = "Object"
JSON_PATCH_TYPE = "JSONPatch"
_TEXTS = ("op", "from", "path")
_JSON_PATCH = CelType(JSON_PATCH_TYPE, fields={**dict.fromkeys(_TEXTS, STRING), "value": ANY})
# What Go calls the value of a type.
_GO_TYPES = {bool: "bool", int: "int64", float: "float64", type(None): "structpb.NullValue"}


def resolve_type(name: str) -> CelType | None:
    """The type of a name; None if there is none."""
    if name == JSON_PATCH_TYPE:
        return _JSON_PATCH
    return CelType(name) if is_object(name) else None


def is_object(name: str) -> bool:
    """Whether a type is that of an object, or of something in one."""
    return name == OBJECT_TYPE or name.startswith(f"{OBJECT_TYPE}.")


def make_struct(type_name: str, fields: dict[str, Any]) -> OpaqueValue:
    """A value of one of these types; CelError if a field has a value that it cannot have."""
    if type_name == JSON_PATCH_TYPE:
        for name in _TEXTS:
            if not isinstance(fields.get(name, ""), str):
                raise CelError(
                    f"unexpected type {_GO_TYPES.get(type(fields[name]), 'interface {}')} "
                    f"for JSONPatchType '{name}' field"
                )
    return OpaqueValue(type_name, fields)


PATCHES: Mapping[str, Callable[..., Any]] = {"jsonpatch.escapeKey": escape_step}
