"""Type hints as their author wrote them: fields of a Model, and what wraps a field's type.

The codec strips constraints from the classes when it makes a decoder (`codec.relax_constraints`),
so hints are read through `codec.declared_hints`. Type variables are replaced by what the subclass
gave for them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Annotated, Any, NewType, TypeVar, Union, cast, get_args, get_origin

import msgspec

from quintant.core.codec import declared_hints
from quintant.core.object import Model
from quintant.core.quantity import Quantity
from quintant.core.schema.markers import quantity

UNIONS = (Union, types.UnionType)
ABSENT = msgspec.NODEFAULT


@dataclass(frozen=True, slots=True)
class Hint:
    """A type without its wrapping; notes are the metadata of Annotated, innermost first."""

    base: Any
    notes: tuple[Any, ...] = ()
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class ModelField:
    """A field of a Model: its name in Python and on the wire, its type, its Python default."""

    name: str
    wire: str
    hint: Hint
    default: Any

    @property
    def required(self) -> bool:
        return self.default is ABSENT


def unwrap(hint: Any) -> Hint:
    """Take off Annotated, `| None` and NewType, and keep what they said; a Quantity says more."""
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        found = unwrap(inner)
        return replace(found, notes=(*found.notes, *notes))
    if hint is Quantity:
        return Hint(int | str, (quantity(),))
    if isinstance(hint, NewType):
        return unwrap(hint.__supertype__)
    options = [option for option in get_args(hint) if option is not types.NoneType]
    if get_origin(hint) in UNIONS and len(options) < len(get_args(hint)):
        return replace(unwrap(reduce(or_, options)), nullable=True)
    return Hint(hint)


def model_of(hint: Any) -> type[Model] | None:
    """The class of a Model, plain or with type arguments; None for any other type."""
    cls = get_origin(hint) or hint
    return cls if isinstance(cls, type) and issubclass(cls, Model) else None


def model_fields(model: Any) -> Iterator[ModelField]:
    """The fields of a Model, plain or with type arguments, its bases' first."""
    cls = cast(type[msgspec.Struct], model_of(model))
    hints, bound = _hints(cls), _bindings(model)
    for field in msgspec.structs.fields(cls):
        hint = unwrap(_substitute(hints[field.name], bound))
        yield ModelField(field.name, field.encode_name, hint, _default(field))


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not ABSENT:
        return field.default_factory()
    return field.default


def _hints(cls: type) -> dict[str, Any]:
    models = (base for base in reversed(cls.__mro__) if issubclass(base, Model))
    return {
        name: hint
        for base in models
        if "__annotations__" in vars(base)
        for name, hint in declared_hints(base).items()
    }


def _bindings(model: Any) -> dict[TypeVar, Any]:
    cls = get_origin(model) or model
    bound = dict(zip(getattr(cls, "__parameters__", ()), get_args(model), strict=False))
    for base in vars(cls).get("__orig_bases__", ()):
        bound |= {name: _substitute(given, bound) for name, given in _bindings(base).items()}
    return bound


def _substitute(hint: Any, bound: dict[TypeVar, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return bound.get(hint, hint)
    unbound = getattr(hint, "__parameters__", ()) if get_origin(hint) else ()
    return hint[tuple(bound.get(name, name) for name in unbound)] if unbound else hint
