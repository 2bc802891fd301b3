"""The messages of Kubernetes' tables as Python classes: names, types and defaults."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from functools import cache

from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageField, MessageType

PACKAGE = "quintant.api.kubernetes"
HANDWRITTEN = {
    "core.v1.ObjectReference": ("quintant.api.meta", "ObjectReference"),
    "core.v1.Secret": ("quintant.api.core", "Secret"),
    "meta.v1.Condition": ("quintant.api.meta", "Condition"),
    "meta.v1.LabelSelector": ("quintant.api.meta", "LabelSelector"),
    "meta.v1.LabelSelectorRequirement": ("quintant.api.meta", "LabelSelectorRequirement"),
    "meta.v1.ObjectMeta": ("quintant.core.object", "ObjectMeta"),
    "meta.v1.OwnerReference": ("quintant.core.object", "OwnerReference"),
}
"""Messages that have a class already, which does more than carry fields."""
OPAQUE = ("quintant.core.object", "Opaque")
QUANTITY = ("quintant.api.quantity", "Quantity")
INT_OR_STRING = ("quintant.api.quantity", "IntOrString")
MAPPING = ("collections.abc", "Mapping")

_PLAIN = {
    FieldKind.STRING: ("str", '""'),
    FieldKind.BOOL: ("bool", "False"),
    FieldKind.INT32: ("int", "0"),
    FieldKind.INT64: ("int", "0"),
    FieldKind.FLOAT: ("float", "0.0"),
    FieldKind.BYTES: ("str", '""'),
}
"""Bytes are base64, as they are in JSON."""
_NULLABLE = (FieldKind.TIME, FieldKind.MICROTIME, FieldKind.JSON, FieldKind.QUANTITY)
_NAMED = {
    FieldKind.TIME: "str",
    FieldKind.MICROTIME: "str",
    FieldKind.JSON: OPAQUE[1],
    FieldKind.QUANTITY: QUANTITY[1],
    FieldKind.INT_OR_STRING: INT_OR_STRING[1],
}
_IMPORTED = {
    FieldKind.JSON: OPAQUE,
    FieldKind.QUANTITY: QUANTITY,
    FieldKind.INT_OR_STRING: INT_OR_STRING,
}
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TYPES = frozenset({"bool", "int", "str"})
"""Types that a field of their name would hide from the fields after it."""
_PLURAL = re.compile(r"(?<=[A-Z])s$")
"""Of an acronym: the s belongs to it."""


@dataclass(frozen=True, slots=True)
class PythonField:
    """A field as a class has it."""

    name: str
    type: str
    default: str
    wire: str

    @property
    def declaration(self) -> str:
        """Its line in a class body."""
        if self.name[-1] != "_" and camel(self.name) == self.wire:
            return f"{self.name}: {self.type} = {self.default}"
        return f'{self.name}: {self.type} = field(default={self.default}, name="{self.wire}")'


def home(message: MessageType) -> tuple[str, str]:
    """The module and the name of a message's class."""
    if message.union:
        return OPAQUE
    if message.name in HANDWRITTEN:
        return HANDWRITTEN[message.name]
    group, version, name = message.name.split(".")
    return f"{PACKAGE}.{group}_{version}", name


@cache
def python_field(field: MessageField) -> PythonField:
    """A field with its name, type and default in Python."""
    kind, default = _typed(field.type)
    return PythonField(snake(field.name), kind, default, field.name)


def imports(kind: FieldType) -> set[tuple[str, str]]:
    """The modules and names that a type is written with."""
    found = {_IMPORTED[kind.kind]} if kind.kind in _IMPORTED else set[tuple[str, str]]()
    if kind.kind is FieldKind.MESSAGE:
        found.add(home(kind.message))
    if kind.kind is FieldKind.MAP:
        found.add(MAPPING)
    return found | (imports(kind.of) if kind.of is not None else set())


def embedded(field: MessageField) -> MessageType | None:
    """The message whose empty value is a field's default: its class has to come first."""
    kind = field.type
    if kind.kind is not FieldKind.MESSAGE or kind.pointer or kind.message.union:
        return None
    return kind.message


def snake(name: str) -> str:
    """A JSON name as Python writes it: podIPs is pod_ips, from is from_."""
    plain = _PLURAL.sub("S", name.lstrip("$").replace("-", "_"))
    words = _WORDS.sub("_", plain).lower()
    return f"{words}_" if keyword.iskeyword(words) or words in _TYPES else words


def camel(name: str) -> str:
    """How a Model renames a field by itself."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _typed(kind: FieldType) -> tuple[str, str]:
    if kind.kind is FieldKind.MAP:
        return _item(kind), "{}"
    if kind.kind in (FieldKind.LIST, FieldKind.BOX):
        return _item(kind), "()"
    embeds = kind.kind is FieldKind.MESSAGE and not kind.message.union
    if kind.pointer or kind.kind in _NULLABLE or (kind.kind is FieldKind.MESSAGE and not embeds):
        return f"{_item(kind)} | None", "None"
    if kind.kind is FieldKind.INT_OR_STRING:
        return _item(kind), "0"
    if embeds:
        return _item(kind), f"{_item(kind)}()"
    return _PLAIN[kind.kind]


def _item(kind: FieldType) -> str:
    if kind.kind is FieldKind.MAP:
        return f"Mapping[str, {_item(kind.item)}]"
    if kind.kind in (FieldKind.LIST, FieldKind.BOX):
        return f"tuple[{_item(kind.item)}, ...]"
    if kind.kind is FieldKind.MESSAGE:
        return home(kind.message)[1]
    return _NAMED.get(kind.kind) or _PLAIN[kind.kind][0]
