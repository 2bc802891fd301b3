"""json.UnmarshalTypeError: values of a wrong type, their positions, and Go's words for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType

Path = tuple[Any, ...]
"""The way to a value, innermost last: the path to what holds it, then what it is called there. A
field is called by its name, an item of a list by its number, one of a map by its key in a tuple."""

_JSON_TYPES = {dict: "object", list: "array", str: "string", bool: "bool"}
_GO_KINDS = {
    dict: "map",
    list: "slice",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    type(None): "nil",
}
_SPELT = {FieldKind.BYTES: "[]uint8", FieldKind.JSON: "v1.JSON"}
# Lists that have a name there, by what they hold.
_NAMED = {"apiextensions.v1.ValidationRule": "v1.ValidationRules"}
_AMOUNTS = "v1.ResourceList"
"""What a map of quantities is called."""
_WRAPPERS = {FieldKind.LIST: "[]", FieldKind.BOX: "[]", FieldKind.MAP: "map[string]"}


class CoercionError(ValueError):
    """A value that no field of its kind can hold; the text is a real server's.

    `converted` is what it says where it does not decode the value but converts it.
    """

    def __init__(self, text: str, converted: str = "") -> None:
        super().__init__(text)
        self.converted: str = converted or text


class FieldPosition(NamedTuple):
    """Where values are: in which structure, and of which type."""

    message: MessageType
    type: FieldType

    @property
    def item(self) -> FieldPosition:
        return FieldPosition(self.message, self.type.item)

    def refused(
        self, value: Any, path: Path, *, literal: str = "", wanted: str = ""
    ) -> CoercionError:
        """What is said about a value of the wrong type."""
        struct, names = self.message.name.rpartition(".")[2], ".".join(_names(path))
        found = f"{_json_type(value)} {literal}".rstrip()
        return CoercionError(
            f"json: cannot unmarshal {found} into Go struct field {struct}.{names} "
            f"of type {wanted or _go_type(self.type)}",
            _unconverted(value, self.type),
        )


def shown(path: Path) -> str:
    """A path for people: spec.containers[0].image."""
    before, last = path
    if isinstance(last, int):
        return f"{shown(before)}[{last}]"
    name = last if isinstance(last, str) else last[0]
    return f"{shown(before)}.{name}" if before else name


def _unconverted(value: Any, kind: FieldType) -> str:
    """What Go's converter says: of plain types, only numbers can be made others at all."""
    found = _GO_KINDS[type(value)]
    match kind.kind:
        case FieldKind.MESSAGE:
            return f"cannot restore struct from: {found}"
        case FieldKind.MAP:
            return f"cannot restore map from {found}"
        case FieldKind.LIST | FieldKind.BOX | FieldKind.BYTES:
            return f"cannot restore slice from {found}"
    numeric = kind.kind in (FieldKind.INT32, FieldKind.INT64, FieldKind.FLOAT)
    if (numeric and found == "float64") or (kind.kind is FieldKind.STRING and found == "int64"):
        return f"cannot convert {found} to {_go_type(kind)}"
    return f"unrecognized type: {kind.kind.value}"


def _json_type(value: Any) -> str:
    return _JSON_TYPES.get(type(value), "number")


def _go_type(kind: FieldType) -> str:
    if kind.of is not None:
        if kind.kind is FieldKind.MAP and kind.of.kind is FieldKind.QUANTITY:
            return _AMOUNTS
        return _NAMED.get(kind.of.name) or _WRAPPERS[kind.kind] + _go_type(kind.of)
    if kind.kind is FieldKind.MESSAGE:
        return ".".join(kind.name.split(".")[-2:])
    return _SPELT.get(kind.kind) or kind.name or kind.kind.value


def _names(path: Path) -> list[str]:
    """The names of a path, without the numbers and keys of items."""
    if not path:
        return []
    before, last = path
    return [*_names(before), last] if isinstance(last, str) else _names(before)
