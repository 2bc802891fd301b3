"""From Python types to the structural schema of a CustomResourceDefinition.

`schema_of(kind)` walks what the author declared and inlines everything: no references, one type per
node, typed enums in declaration order, no nulls. Descriptions are the docstrings of classes, and of
fields where they have one. What a structural schema cannot say (recursion,
unions, a Python default that the server never learns of) is a ConfigError that names the field.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args, get_origin

import msgspec

from quintant.core.errors import ConfigError
from quintant.core.object import Model, Object, Opaque, encode_hook
from quintant.core.schema.constraints import (
    INT_OR_STRING,
    PRESERVE,
    Schema,
    constrain,
    presence_rule,
    with_rules,
)
from quintant.core.schema.field_docs import field_docs
from quintant.core.schema.hints import UNIONS, Hint, ModelField, model_fields, model_of, unwrap
from quintant.core.schema.markers import IMMUTABLE, Shape, preserve_unknown
from quintant.core.schema.preserve_unknown import PreserveUnknown

_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer", "format": "int64"},
    bool: {"type": "boolean"},
    float: {"type": "number"},
    bytes: {"type": "string", "format": "byte"},
    datetime: {"type": "string", "format": "date-time"},
    Opaque: {"type": "object", PRESERVE: True},
    Any: {PRESERVE: True},
}
_ENUMS: dict[type, str] = {str: "string", int: "integer"}
_EMPTY: tuple[Any, ...] = (None, "", 0, False, [], {})


@dataclass(frozen=True, slots=True)
class SchemaPosition:
    """Where the walk is: the field, for errors, and the models around it."""

    field: str
    around: tuple[type, ...] = ()

    def below(self, model: type, field: str) -> SchemaPosition:
        return SchemaPosition(f"{model.__name__}.{field}", self.around)


def schema_of(kind: type[Object]) -> Schema:
    """The openAPIV3Schema of a kind, without the rules of its definition."""
    root = model_schema(kind)
    own = {name: {"type": "string"} for name in ("apiVersion", "kind")}
    return root | {"properties": own | root["properties"] | {"metadata": {"type": "object"}}}


def model_schema(model: type[Model]) -> Schema:
    """The schema of a Model and all within it."""
    return _nested(model, model, (), SchemaPosition(model.__name__))


def _schema(hint: Hint, position: SchemaPosition, doc: str = "") -> Schema:
    described = {"description": doc} if doc else {}
    return constrain(_bare(hint, position) | described, hint.notes, position.field)


def _bare(hint: Hint, position: SchemaPosition) -> Schema:
    base, origin = hint.base, get_origin(hint.base)
    if shape := next((note for note in hint.notes if isinstance(note, Shape)), None):
        return _nested(shape.model, shape.model, hint.notes, position)
    if model := model_of(base):
        return _nested(base, model, hint.notes, position)
    if origin is PreserveUnknown:
        return _open(get_args(base)[0], position)
    if origin is Literal:
        return _enum([value for value in get_args(base) if value is not None], position)
    if origin in UNIONS and all(option in (int, str) for option in get_args(base)):
        return {INT_OR_STRING: True}
    if isinstance(origin, type):
        return _collection(base, position)
    if isinstance(base, type) and issubclass(base, enum.Enum):
        return _enum([member.value for member in base], position)
    if base in _SCALARS:
        return dict(_SCALARS[base])
    raise _inexpressible(base, position)


def _nested(
    base: Any, model: type[Model], notes: Sequence[Any], position: SchemaPosition
) -> Schema:
    if model not in position.around:
        return _model(base, model, replace(position, around=(*position.around, model)))
    if preserve_unknown() in notes:
        return {"type": "object"}
    raise ConfigError(
        f"cannot describe {position.field}",
        because=f"{model.__name__} contains itself, and a CRD's schema is finite",
        hint=f"Annotated[{model.__name__}, preserve_unknown()] ends the schema there",
    )


def _open(base: Any, position: SchemaPosition) -> Schema:
    """The named fields of a struct that keeps the others; it may contain itself."""
    model = model_of(base)
    if model is None:
        raise _inexpressible(base, position)
    return _nested(base, model, (preserve_unknown(),), position) | {PRESERVE: True}


def _model(base: Any, model: type[Model], position: SchemaPosition) -> Schema:
    """`base` is the model, or the model with type arguments."""
    found = [field for field in model_fields(base) if field.hint.base is not types.NoneType]
    docs = field_docs(model)
    properties = {
        field.wire: _field(field, position.below(model, field.name), docs.get(field.name, ""))
        for field in found
    }
    optional = {f.wire for f in found if not f.required or "default" in properties[f.wire]}
    fixed = [f.wire for f in found if IMMUTABLE in f.hint.notes and f.wire in optional]
    rules = [presence_rule(name) for name in fixed if "default" not in properties[name]]
    required = [name for name in properties if name not in optional]
    schema = _described(model) | {"type": "object", "properties": properties}
    return with_rules(schema | ({"required": required} if required else {}), rules)


def _field(field: ModelField, position: SchemaPosition, doc: str) -> Schema:
    schema = _schema(field.hint, position, doc)
    if field.required:
        return schema | {"nullable": True} if field.hint.nullable else schema
    _check_default(_plain(field.default), schema, position)
    return schema


def _collection(base: Any, position: SchemaPosition) -> Schema:
    origin: Any = get_origin(base)
    first, *others = get_args(base)
    if issubclass(origin, Mapping) and unwrap(first).base is str:
        return {"type": "object", "additionalProperties": _schema(unwrap(others[0]), position)}
    if not issubclass(origin, Sequence | AbstractSet) or others not in ([], [...]):
        raise _inexpressible(base, position)
    items = {"type": "array", "items": _schema(unwrap(first), position)}
    return items | ({"x-kubernetes-list-type": "set"} if issubclass(origin, AbstractSet) else {})


def _enum(values: list[Any], position: SchemaPosition) -> Schema:
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= _ENUMS.keys():
        raise ConfigError(
            f"cannot describe {position.field}",
            because=f"its values {values} are neither all strings nor all integers",
            hint="split it into two fields",
        )
    return {"type": _ENUMS[kinds.pop()], "enum": values}


def _described(model: type[Model]) -> Schema:
    text = vars(model).get("__doc__")
    return {"description": inspect.cleandoc(text)} if text else {}


def _check_default(given: Any, schema: Schema, position: SchemaPosition) -> None:
    """A value equal to its Python default is not sent, so the server must mean the same by it."""
    if given is None or ("default" in schema and given == schema["default"]):
        return
    if "default" not in schema and given in _EMPTY:
        return
    raise ConfigError(
        f"{position.field} has the Python default {given!r}",
        because="a Python default means absent: it is never sent, and the server would fill in "
        f"{schema.get('default', 'nothing')!r}",
        hint=f"Annotated[... | None, default({schema.get('default', given)!r})] = None",
    )


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=encode_hook))


def _inexpressible(base: Any, position: SchemaPosition) -> ConfigError:
    name = base.__name__ if isinstance(base, type) else str(base)
    return ConfigError(
        f"cannot describe {position.field}",
        because=f"a CRD's schema has no type for {name}",
        hint="use str, int, float, bool, a Literal, a Model, tuple[X, ...], Mapping[str, X], "
        "int | str, or Opaque for JSON of any shape",
    )
