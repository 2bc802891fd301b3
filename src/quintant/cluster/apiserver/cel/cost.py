"""CostEstimator: what a CEL rule can cost at worst, from the sizes that its schema allows.

An estimate in the manner of a real server's: sizes come from maxLength, maxItems and maxProperties,
or from what fits into a request; a loop costs its body once per item. What nothing is known about
counts as unbounded, so a rule is refused rather than trusted.
"""

from __future__ import annotations

from math import ceil

from quintant.cluster.apiserver.cel.ast import (
    CallExpr,
    Comprehension,
    Const,
    Expr,
    Ident,
    ListOf,
    MapOf,
    Select,
    StructOf,
)
from quintant.cluster.apiserver.cel.literals import CheckedExpression
from quintant.cluster.apiserver.cel.prices import (
    LIST_PRICE,
    MAP_PRICE,
    REGEX,
    STRUCT_PRICE,
    TRAVERSAL,
)
from quintant.cluster.apiserver.cel.types import LIST, MAP, UNBOUNDED, CelType

_LOGICAL = ("_&&_", "_||_")
_EQUATING = frozenset({"_==_", "_!=_"})
_ORDERING = frozenset({"_<_", "_<=_", "_>_", "_>=_"})
_NUMBERS = frozenset({"int", "uint", "double"})
_SIZED = frozenset({"string", "bytes", LIST, MAP, "dyn"})
# Their result is no larger than what they are called on.
_SHRINKING = frozenset(
    {
        *("charAt", "lowerAscii", "upperAscii", "trim", "substring", "split", "find", "findAll"),
        *("slice", "distinct", "reverse", "sort", "filter", "dyn"),
    }
)
_TRAVERSING = frozenset(
    {
        *("bytes", "string", "strings.quote", "format", "charAt", "indexOf", "lastIndexOf"),
        *("lowerAscii", "upperAscii", "trim", "substring", "quantity", "isQuantity", "ip", "isIP"),
        *("cidr", "isCIDR", "url", "isURL", "semver", "isSemver", "validate"),
        "jsonpatch.escapeKey",
    }
)
# They look at every item of a list.
_COMPARING = frozenset({"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"})
# They look at no more than the text that they look for.
_ENDS = frozenset({"startsWith", "endsWith"})
# They go through the text and write it anew.
_TWICE = frozenset({"replace", "split"})
_WALKING = frozenset({"isSorted", "sum", "max", "min", "sort", "distinct", "reverse", "flatten"})


def estimate(checked: CheckedExpression) -> int:
    """The worst price of an expression."""
    return min(_Estimator(checked).cost(checked.source.root), UNBOUNDED)


class _Estimator:
    def __init__(self, checked: CheckedExpression) -> None:
        self._checked = checked

    def cost(self, node: Expr) -> int:
        match node:
            case Const():
                return 0
            case Ident():
                return 1
            case Select():
                # Whether a field is there is asked for nothing.
                free = node.test or self._type(node.operand).unknown
                return self.cost(node.operand) + (0 if free else 1)
            case CallExpr():
                return self._call(self._checked.namespaced.get(node.id, node))
            case ListOf():
                return LIST_PRICE + sum(map(self.cost, node.items))
            case MapOf():
                pairs = (self.cost(each.key) + self.cost(each.value) for each in node.entries)
                return MAP_PRICE + sum(pairs)
            case StructOf():
                return STRUCT_PRICE + sum(self.cost(each.value) for each in node.entries)
            case Comprehension():
                body = self.cost(node.condition) + self.cost(node.step)
                around = self.cost(node.range) + self.cost(node.init) + self.cost(node.result)
                return around + self.size(node.range) * body

    def size(self, node: Expr) -> int:
        """How large a value can be."""
        match node:
            case Const(value=str() | bytes() as value):
                return len(value)
            case ListOf():
                return len(node.items)
            case MapOf():
                return len(node.entries)
            case Comprehension() if isinstance(node.init, ListOf | MapOf):
                return self.size(node.range)
            case CallExpr() if node.function == "_+_":
                return sum(map(self.size, node.args))
            case CallExpr() if node.function == "_?_:_":
                return max(map(self.size, node.args[1:]))
            case CallExpr() if node.function in _SHRINKING and node.operands:
                return self.size(node.operands[0])
        return _bound(self._checked.types[node.id])

    def _call(self, node: CallExpr) -> int:
        costs = [self.cost(each) for each in node.operands]
        if node.function == "join":
            return sum(costs) + _traversal(self.size(node.operands[0]) * self._item(node))
        if node.function in _COMPARING and self._type(node.operands[0]).name == LIST:
            return sum(costs) + self.size(node.operands[0]) * (1 + self._item_price(node))
        if node.function in _LOGICAL:
            return sum(costs)
        if node.function == "_?_:_":
            return costs[0] + max(costs[1:])
        if self._counts(node) or self._at_once(node):
            return sum(costs) + 1
        return sum(costs) + self._price(node.function, [self.size(e) for e in node.operands])

    def _counts(self, node: CallExpr) -> bool:
        """Whether a function does something to numbers, whatever their size."""
        if node.function != "_+_" and node.function not in _ORDERING:
            return False
        return self._checked.types[node.operands[0].id].name in _NUMBERS

    def _item_price(self, node: CallExpr) -> int:
        """What it costs to look at an item of a list: nothing more unless it is a text."""
        listed = self._type(node.operands[0])
        text = bool(listed.params) and listed.item.name in ("string", "bytes")
        return _traversal(self._item(node)) if text else 0

    def _type(self, node: Expr) -> CelType:
        return self._checked.types[node.id]

    def _at_once(self, node: CallExpr) -> bool:
        """Whether a function takes no longer for larger lists and maps."""
        of = {"_+_": (0, LIST), "@in": (1, MAP)}.get(node.function)
        return of is not None and self._type(node.operands[of[0]]).name == of[1]

    def _item(self, node: CallExpr) -> int:
        """How large an item of the list can be that a function is called on."""
        listed = self._checked.types[node.operands[0].id]
        return _bound(listed.item) if listed.params else UNBOUNDED

    def _price(self, function: str, sizes: list[int]) -> int:
        if function in _EQUATING or function in _ORDERING:
            return _traversal(min(sizes))
        if function == "_+_":
            return 1 if UNBOUNDED in sizes else _traversal(sum(sizes))
        if function in _ENDS:
            return _traversal(sizes[1])
        if function in _TWICE:
            return ceil(sizes[0] * 2 * TRAVERSAL)
        if function in _TRAVERSING:
            return _traversal(max(sizes))
        if function == "contains":
            return _traversal(sizes[0]) * _traversal(sizes[1])
        if function in ("matches", "find", "findAll"):
            return _traversal(sizes[0] + 1) * ceil(sizes[1] * REGEX)
        if function == "@in":
            return sizes[1]
        return sizes[0] if function in _WALKING else 1


def _traversal(size: int) -> int:
    return ceil(size * TRAVERSAL)


def _bound(cel_type: CelType) -> int:
    """The size of a value: a number in an object counts as nothing, a computed one as 1."""
    return cel_type.most if cel_type.name in _SIZED or cel_type.most == 0 else 1
