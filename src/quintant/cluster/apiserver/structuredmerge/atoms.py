"""typed.AsTyped: whether a value fits the type of its field, which server-side apply checks first.

Every configuration that is applied must fit the sorts of its kind's shape; the complaints about
one that does not are Go's. Null fits everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from quintant.cluster.apiserver.golang.printing import number, plain, quoted


class AtomKind(Enum):
    """What may stand at a place."""

    ANY = ""
    MAP = "map"
    LIST = "list"
    TEXT = "string"
    NUMBER = "numeric"
    TRUTH = "boolean"
    SCALAR = "scalar"
    """A number, a text or a truth value."""

    # Every value of a configuration is looked up by it, and an Enum's own is not C.
    __hash__: Callable[[object], int] = object.__hash__  # type: ignore[assignment]


_FITTING: Mapping[AtomKind, tuple[type, ...]] = {
    AtomKind.MAP: (dict,),
    AtomKind.LIST: (list,),
    AtomKind.TEXT: (str,),
    AtomKind.NUMBER: (int, float),
    AtomKind.TRUTH: (bool,),
    AtomKind.SCALAR: (int, float, str, bool),
}
_GO = {str: "string", bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}


def atom_error(value: Any, sort: AtomKind) -> str:
    """What is wrong with a value at a place, if anything."""
    if value is None or sort is AtomKind.ANY or type(value) in _FITTING[sort]:
        return ""
    match sort:
        case AtomKind.TEXT:
            return f"expected string, got &value.valueUnstructured{{Value:{_literal(value)}}}"
        case AtomKind.NUMBER:
            return f"expected numeric (int or float), got {_GO[type(value)]}"
        case AtomKind.SCALAR:
            return f"expected any scalar, got &{{{plain(value)}}}"
    return f"expected {sort.value}, got &{{{plain(value)}}}"


def _literal(value: Any) -> str:
    """A value as Go writes it in a program (`%#v`)."""
    match value:
        case None:
            return "interface {}(nil)"
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case Mapping():
            members = (f"{quoted(key)}:{_literal(value[key])}" for key in sorted(value))
            return f"map[string]interface {{}}{{{', '.join(members)}}}"
        case Sequence():
            return f"[]interface {{}}{{{', '.join(_literal(item) for item in value)}}}"
    return number(value)
