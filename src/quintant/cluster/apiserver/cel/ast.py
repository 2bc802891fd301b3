"""cel-go ast.Expr: expressions as trees; the id of a node leads to its position in the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RESULT = "@result"
"""The accumulator of the loops made here; no source can name it."""


@dataclass(frozen=True, slots=True)
class Const:
    id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Ident:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """A field of something, or with `test` whether it is there."""

    id: int
    operand: Expr
    field: str
    test: bool = False


@dataclass(frozen=True, slots=True)
class CallExpr:
    """A function, operator or, with a target, a method."""

    id: int
    function: str
    args: tuple[Expr, ...]
    target: Expr | None = None

    @property
    def operands(self) -> tuple[Expr, ...]:
        """Target and arguments."""
        return self.args if self.target is None else (self.target, *self.args)


@dataclass(frozen=True, slots=True)
class ListOf:
    id: int
    items: tuple[Expr, ...]
    optional: frozenset[int] = frozenset()
    """Which items are there only if their optional value is."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An entry of a map; an optional one is there only if its value is."""

    key: Expr
    value: Expr
    optional: bool = False


@dataclass(frozen=True, slots=True)
class MapOf:
    id: int
    entries: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field of a message; an optional one is there only if its value is."""

    id: int
    name: str
    value: Expr
    optional: bool = False


@dataclass(frozen=True, slots=True)
class StructOf:
    """A message of a named type, with the fields it is made from."""

    id: int
    type_name: str
    entries: tuple[FieldValue, ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """A loop: what every macro over a list or map is made of."""

    id: int
    var: str
    range: Expr
    accu: str
    init: Expr
    condition: Expr
    step: Expr
    result: Expr
    var2: str = ""


Expr = Const | Ident | Select | CallExpr | ListOf | MapOf | StructOf | Comprehension


@dataclass(frozen=True, slots=True)
class ParsedExpression:
    """A text, what it means, and where each part of it is."""

    text: str
    root: Expr
    positions: Mapping[int, int]

    def complaint(self, node: int, message: str) -> str:
        """A message that points at a node."""
        return point_at(self.text, self.positions.get(node, 0), message)


def point_at(text: str, offset: int, message: str) -> str:
    """A message that points at a place in a text."""
    line = text.count("\n", 0, offset)
    start = text.rfind("\n", 0, offset) + 1
    shown, column = text.split("\n")[line], offset - start
    return f"ERROR: <input>:{line + 1}:{column + 1}: {message}\n | {shown}\n | {'.' * column}^"


def names(node: Expr) -> Iterator[str]:
    """Every identifier in a tree, bound ones included."""
    if isinstance(node, Ident):
        yield node.name
    for child in children(node):
        yield from names(child)


def children(node: Expr) -> tuple[Expr, ...]:
    """The nodes right below a node."""
    match node:
        case Select():
            return (node.operand,)
        case CallExpr():
            return node.operands
        case ListOf():
            return node.items
        case MapOf():
            return tuple(part for entry in node.entries for part in (entry.key, entry.value))
        case StructOf():
            return tuple(entry.value for entry in node.entries)
        case Comprehension():
            return (node.range, node.init, node.condition, node.step, node.result)
    return ()
