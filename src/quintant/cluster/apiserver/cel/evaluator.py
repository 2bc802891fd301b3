"""cel-go Interpretable: from a checked tree of CEL to closures, and running them.

Every step has a price, as on a real server, and a run that costs too much is stopped. Conversions
of constants are made here already: one that fails makes no program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
from quintant.cluster.apiserver.cel.authorization import AUTHORIZATION
from quintant.cluster.apiserver.cel.checker import OPTIONAL_SELECT
from quintant.cluster.apiserver.cel.conversions import CONVERSIONS
from quintant.cluster.apiserver.cel.functions import FUNCTIONS, Function
from quintant.cluster.apiserver.cel.library import LIBRARY
from quintant.cluster.apiserver.cel.literals import CheckedExpression
from quintant.cluster.apiserver.cel.network import NETWORK
from quintant.cluster.apiserver.cel.patch_types import PATCHES, make_struct
from quintant.cluster.apiserver.cel.prices import LIST_PRICE, MAP_PRICE, STRUCT_PRICE, price_of
from quintant.cluster.apiserver.cel.running import (
    LAZY,
    Evaluation,
    Step,
    caught,
    field,
    has,
    optional_field,
    paid,
)
from quintant.cluster.apiserver.cel.schemas import RESERVED
from quintant.cluster.apiserver.cel.signatures import Overload, signatures
from quintant.cluster.apiserver.cel.strings import STRINGS
from quintant.cluster.apiserver.cel.types import CelType
from quintant.cluster.apiserver.cel.values import CelError, OpaqueValue, TypeName, kind_of
from quintant.cluster.apiserver.cel.versions import VERSIONS

_ALL: Mapping[str, Function] = {
    **FUNCTIONS,
    **CONVERSIONS,
    **STRINGS,
    **LIBRARY,
    **NETWORK,
    **VERSIONS,
    **AUTHORIZATION,
    **PATCHES,
}


def compile_checked(checked: CheckedExpression) -> Step:
    """The closure of a checked expression."""
    return _Compiler(checked).step(checked.source.root)


class _Compiler:
    def __init__(self, checked: CheckedExpression) -> None:
        self._checked = checked

    def step(self, node: Expr) -> Step:
        match node:
            case Const():
                value = node.value
                return lambda run: value
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case CallExpr():
                return self._call(self._checked.namespaced.get(node.id, node))
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case StructOf():
                return self._struct(node)
            case Comprehension():
                return self._fold(node)

    def _ident(self, node: Ident) -> Step:
        name = node.name
        type_name = TypeName(name)

        def ident(run: Evaluation) -> Any:
            run.pay(1)
            value = run.names.get(name, type_name)
            if isinstance(value, CelError):
                raise value
            return value

        return ident

    def _select(self, node: Select) -> Step:
        operand = self.step(node.operand)
        declared, name = self._checked.types[node.operand.id].fields, node.field
        if name in RESERVED and f"__{name}__" in declared:
            name = f"__{name}__"
        if node.test:
            return lambda run: has(operand(run), name)
        return lambda run: field(paid(run, operand), name)

    def _call(self, node: CallExpr) -> Step:
        if node.function in LAZY:
            return LAZY[node.function](*(self.step(arg) for arg in node.args))
        if node.function == OPTIONAL_SELECT:
            operand, name = self.step(node.args[0]), self.step(node.args[1])
            return lambda run: optional_field(paid(run, operand), name(run))
        steps = [self.step(each) for each in node.operands]
        function, price = self._function(node), price_of(node.function)
        if node.function in CONVERSIONS and all(isinstance(arg, Const) for arg in node.operands):
            return _folded(function, node.operands)

        def call(run: Evaluation) -> Any:
            args = [step(run) for step in steps]
            run.pay(price(*args))
            return function(*args)

        return call

    def _function(self, node: CallExpr) -> Function:
        """The function, with a look at its arguments' types where they are not known before."""
        function = _ALL[node.function]
        given = [self._checked.types[each.id] for each in node.operands]
        if not any(map(_vague, given)):
            return function
        overloads = [
            each
            for each in signatures()[node.function]
            if each.method == (node.target is not None) and len(each.params) == len(given)
        ]

        def dispatched(*args: Any) -> Any:
            if not any(_accepts(overload, args) for overload in overloads):
                raise CelError("no such overload")
            return function(*args)

        return dispatched

    def _list(self, node: ListOf) -> Step:
        steps = [(self.step(item), at in node.optional) for at, item in enumerate(node.items)]

        def make(run: Evaluation) -> list[Any]:
            run.pay(LIST_PRICE)
            found = []
            for step, optional in steps:
                value = step(run)
                if not optional:
                    found.append(value)
                elif value.present:
                    found.append(value.value)
            return found

        return make

    def _map(self, node: MapOf) -> Step:
        steps = [(self.step(e.key), self.step(e.value), e.optional) for e in node.entries]

        def make(run: Evaluation) -> dict[Any, Any]:
            run.pay(MAP_PRICE)
            found = {}
            for key, step, optional in steps:
                name, value = key(run), step(run)
                if not optional:
                    found[name] = value
                elif value.present:
                    found[name] = value.value
            return found

        return make

    def _struct(self, node: StructOf) -> Step:
        steps = [(each.name, self.step(each.value), each.optional) for each in node.entries]

        def make(run: Evaluation) -> OpaqueValue:
            run.pay(STRUCT_PRICE)
            found = {}
            for name, step, optional in steps:
                value = step(run)
                if not optional:
                    found[name] = value
                elif value.present:
                    found[name] = value.value
            return make_struct(node.type_name, found)

        return make

    def _fold(self, node: Comprehension) -> Step:
        ranged, init = self.step(node.range), self.step(node.init)
        going, step, result = map(self.step, (node.condition, node.step, node.result))
        bind = _two(node.var, node.var2) if node.var2 else _one_name(node.var)

        def fold(run: Evaluation) -> Any:
            values, outer = ranged(run), run.names
            run.names = {**outer, node.accu: init(run)}
            try:
                for item in _pairs(values) if node.var2 else values:
                    bind(run.names, item)
                    if not going(run):
                        break
                    run.names[node.accu] = caught(step, run)
                return result(run)
            finally:
                run.names = outer

        return fold


def _folded(function: Function, args: tuple[Expr, ...]) -> Step:
    value = function(*(arg.value for arg in args if isinstance(arg, Const)))
    return lambda run: value


def _one_name(name: str) -> Callable[[dict[str, Any], Any], None]:
    def bind(names: dict[str, Any], item: Any) -> None:
        names[name] = item

    return bind


def _two(one: str, two: str) -> Callable[[dict[str, Any], Any], None]:
    def bind(names: dict[str, Any], item: tuple[Any, Any]) -> None:
        names[one], names[two] = item

    return bind


def _pairs(values: Any) -> Any:
    return enumerate(values) if isinstance(values, list) else values.items()


def _vague(given: CelType) -> bool:
    return given.unknown or given.variable or any(map(_vague, given.params))


def _accepts(overload: Overload, args: tuple[Any, ...]) -> bool:
    return all(
        wanted.variable or wanted.unknown or kind_of(value) == wanted.name
        for wanted, value in zip(overload.params, args, strict=True)
    )
