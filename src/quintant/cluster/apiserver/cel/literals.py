"""cel-go ASTValidator, ValidateRegexLiterals: literals that can only fail when run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quintant.cluster.apiserver.cel.ast import (
    CallExpr,
    Const,
    Expr,
    ListOf,
    MapOf,
    ParsedExpression,
    children,
)
from quintant.cluster.apiserver.cel.types import OPTIONAL, CelType, assignable
from quintant.cluster.apiserver.cel.values import parse_duration, parse_timestamp
from quintant.cluster.apiserver.golang.regexp import BadPattern, matcher


@dataclass(slots=True)
class CheckedExpression:
    """An expression and the type of each of its nodes."""

    source: ParsedExpression
    types: dict[int, CelType] = field(default_factory=dict)
    namespaced: dict[int, CallExpr] = field(default_factory=dict)
    """Calls that look like methods but are functions with a dot in their name."""

    @property
    def type(self) -> CelType:
        return self.types[self.source.root.id]


def bad_literals(checked: CheckedExpression) -> Iterator[tuple[int, str]]:
    """Literals that can only fail: bad patterns and times, lists of mixed types."""
    exempt = set(_arguments(checked.source.root))
    for node in _walk(checked.source.root):
        for culprit, message in () if node.id in exempt else _bad(checked, node):
            position = checked.source.positions.get(culprit.id, 0)
            yield position, checked.source.complaint(culprit.id, message)


def _arguments(root: Expr) -> Iterator[int]:
    """What format takes: lists there may hold anything."""
    for node in _walk(root):
        if isinstance(node, CallExpr) and node.function == "format":
            yield from (each.id for arg in node.args for each in _walk(arg))


def _walk(node: Expr) -> Iterator[Expr]:
    yield node
    for child in children(node):
        yield from _walk(child)


def _bad(checked: CheckedExpression, node: Expr) -> Iterator[tuple[Expr, str]]:
    match node:
        case CallExpr(function="matches" | "duration" | "timestamp" as name, args=args) if args:
            match args[-1]:
                case Const(value=str(text)) as last if _invalid(name, text):
                    yield last, f"invalid {name} argument"
        case ListOf():
            yield from _mixed(checked, list(node.items))
        case MapOf():
            yield from _mixed(checked, [entry.key for entry in node.entries])
            yield from _mixed(checked, [entry.value for entry in node.entries])


def _invalid(name: str, text: str) -> bool:
    if name == "duration":
        return parse_duration(text) is None
    if name == "timestamp":
        return parse_timestamp(text) is None
    try:
        matcher(text)
    except BadPattern:
        return True
    return False


def _mixed(checked: CheckedExpression, nodes: list[Expr]) -> Iterator[tuple[Expr, str]]:
    if not nodes:
        return
    first = _present(checked.types[nodes[0].id])
    for node in nodes[1:]:
        found = _present(checked.types[node.id])
        if not (first.unknown or found.unknown or assignable(first, found, {})):
            yield node, f"expected type '{first}' but found '{found}'"


def _present(cel_type: CelType) -> CelType:
    return cel_type.item if cel_type.name == OPTIONAL else cel_type
