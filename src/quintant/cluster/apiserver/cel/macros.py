"""cel-go Macro, TwoVarComprehensions: `xs.all(x, …)`, `m.transformMap(k, v, …)` and the others.

Each becomes a loop over keys and values; a list's keys are its indexes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

from quintant.cluster.apiserver.cel.ast import (
    RESULT,
    CallExpr,
    Comprehension,
    Const,
    Expr,
    Ident,
    ListOf,
    MapOf,
    Pair,
    Select,
    StructOf,
)

NOT_STRICTLY_FALSE = "@not_strictly_false"
INSERT = "cel.@mapInsert"
"""Adds a key and a value, or all those of another map, to a map."""


def expand_macros(root: Expr, last: int) -> tuple[Expr, dict[int, int]]:
    """The tree without such macros; ids begin after `last`, each made for the node it maps to."""
    maker = _Maker(count(last + 1))
    return maker.walk(root), maker.made


@dataclass(slots=True)
class _Maker:
    ids: count[int]
    made: dict[int, int] = field(default_factory=dict)
    origin: int = 0

    def walk(self, node: Expr) -> Expr:
        match node:
            case Select():
                return replace(node, operand=self.walk(node.operand))
            case CallExpr():
                target = None if node.target is None else self.walk(node.target)
                args = tuple(self.walk(arg) for arg in node.args)
                return self._macro(replace(node, target=target, args=args))
            case ListOf():
                return replace(node, items=tuple(self.walk(item) for item in node.items))
            case MapOf():
                pairs = (
                    replace(each, key=self.walk(each.key), value=self.walk(each.value))
                    for each in node.entries
                )
                return replace(node, entries=tuple(pairs))
            case StructOf():
                fields = (replace(each, value=self.walk(each.value)) for each in node.entries)
                return replace(node, entries=tuple(fields))
            case Comprehension():
                return replace(
                    node,
                    range=self.walk(node.range),
                    init=self.walk(node.init),
                    condition=self.walk(node.condition),
                    step=self.walk(node.step),
                    result=self.walk(node.result),
                )
        return node

    def _macro(self, call: CallExpr) -> Expr:
        build = _MACROS.get((call.function, len(call.args)))
        if build is None or call.target is None:
            return call
        one, two, *rest = call.args
        if not (isinstance(one, Ident) and isinstance(two, Ident)):
            return call
        self.origin = call.id
        return build(self, _Loop(call.target, one.name, two.name), *rest)

    def new(self) -> int:
        node = next(self.ids)
        self.made[node] = self.origin
        return node

    def const(self, value: object) -> Expr:
        return Const(self.new(), value)

    def ident(self, name: str) -> Expr:
        return Ident(self.new(), name)

    def accu(self) -> Expr:
        return self.ident(RESULT)

    def call(self, function: str, *args: Expr) -> Expr:
        return CallExpr(self.new(), function, args)

    def fold(self, loop: _Loop, init: Expr, condition: Expr, step: Expr, result: Expr) -> Expr:
        parts = (loop.range, RESULT, init, condition, step, result)
        return Comprehension(self.new(), loop.one, *parts, var2=loop.two)


@dataclass(frozen=True, slots=True)
class _Loop:
    range: Expr
    one: str
    two: str


def _all(maker: _Maker, loop: _Loop, test: Expr) -> Expr:
    going = maker.call(NOT_STRICTLY_FALSE, maker.accu())
    step = maker.call("_&&_", maker.accu(), test)
    return maker.fold(loop, maker.const(True), going, step, maker.accu())


def _exists(maker: _Maker, loop: _Loop, test: Expr) -> Expr:
    going = maker.call(NOT_STRICTLY_FALSE, maker.call("!_", maker.accu()))
    step = maker.call("_||_", maker.accu(), test)
    return maker.fold(loop, maker.const(False), going, step, maker.accu())


def _exists_one(maker: _Maker, loop: _Loop, test: Expr) -> Expr:
    more = maker.call("_+_", maker.accu(), maker.const(1))
    step = maker.call("_?_:_", test, more, maker.accu())
    one = maker.call("_==_", maker.accu(), maker.const(1))
    return maker.fold(loop, maker.const(0), maker.const(True), step, one)


def _list(maker: _Maker, loop: _Loop, *rest: Expr) -> Expr:
    *tests, value = rest
    step = maker.call("_+_", maker.accu(), ListOf(maker.new(), (value,)))
    return _collected(maker, loop, ListOf(maker.new(), ()), step, *tests)


def _map(maker: _Maker, loop: _Loop, *rest: Expr) -> Expr:
    *tests, value = rest
    entry = MapOf(maker.new(), (Pair(maker.ident(loop.one), value),))
    step = maker.call(INSERT, maker.accu(), entry)
    return _collected(maker, loop, MapOf(maker.new(), ()), step, *tests)


def _map_entry(maker: _Maker, loop: _Loop, *rest: Expr) -> Expr:
    *tests, entry = rest
    step = maker.call(INSERT, maker.accu(), entry)
    return _collected(maker, loop, MapOf(maker.new(), ()), step, *tests)


def _collected(maker: _Maker, loop: _Loop, init: Expr, step: Expr, *tests: Expr) -> Expr:
    for test in tests:
        step = maker.call("_?_:_", test, step, maker.accu())
    return maker.fold(loop, init, maker.const(True), step, maker.accu())


_MACROS: dict[tuple[str, int], Callable[..., Expr]] = {
    ("all", 3): _all,
    ("exists", 3): _exists,
    ("existsOne", 3): _exists_one,
    ("exists_one", 3): _exists_one,
    ("transformList", 3): _list,
    ("transformList", 4): _list,
    ("transformMap", 3): _map,
    ("transformMap", 4): _map,
    ("transformMapEntry", 3): _map_entry,
    ("transformMapEntry", 4): _map_entry,
}
