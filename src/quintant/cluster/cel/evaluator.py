"""From a checked tree to closures, and running them.

Every step has a price, as on a real server, and a run that costs too much is stopped. Errors are
values to && and ||: what decides without the failing side is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quintant.cluster.cel.ast import Call, Const, Expr, Fold, Ident, ListOf, MapOf, Select
from quintant.cluster.cel.checker import OPTIONAL_SELECT
from quintant.cluster.cel.conversions import CONVERSIONS
from quintant.cluster.cel.functions import FUNCTIONS, Function
from quintant.cluster.cel.library import LIBRARY
from quintant.cluster.cel.literals import Checked
from quintant.cluster.cel.macros import NOT_STRICTLY_FALSE
from quintant.cluster.cel.network import NETWORK
from quintant.cluster.cel.prices import LIST_PRICE, MAP_PRICE, price_of
from quintant.cluster.cel.schemas import RESERVED
from quintant.cluster.cel.signatures import Overload, signatures
from quintant.cluster.cel.strings import STRINGS
from quintant.cluster.cel.types import Type
from quintant.cluster.cel.values import NONE, CelError, Optional, TypeName, kind_of
from quintant.cluster.cel.versions import VERSIONS

Step = Callable[["Run"], Any]
_ALL: Mapping[str, Function] = {
    **FUNCTIONS,
    **CONVERSIONS,
    **STRINGS,
    **LIBRARY,
    **NETWORK,
    **VERSIONS,
}


class TooExpensive(CelError):
    """A run costs more than it may."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Run:
    """The variables of a run, and what it has cost."""

    __slots__ = ("cost", "limit", "names")

    def __init__(self, names: dict[str, Any], limit: int) -> None:
        self.names, self.limit, self.cost = names, limit, 0

    def pay(self, price: int) -> None:
        self.cost += price
        if self.cost > self.limit:
            raise TooExpensive()


def compiled(checked: Checked) -> Step:
    """The closure of a checked expression."""
    return _Compiler(checked).step(checked.source.root)


class _Compiler:
    def __init__(self, checked: Checked) -> None:
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
            case Call():
                return self._call(self._checked.namespaced.get(node.id, node))
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case Fold():
                return self._fold(node)

    def _ident(self, node: Ident) -> Step:
        name = node.name
        type_name = TypeName(name)

        def ident(run: Run) -> Any:
            run.pay(1)
            value = run.names.get(name, type_name)
            if isinstance(value, CelError):
                raise value
            return value

        return ident

    def _select(self, node: Select) -> Step:
        operand = self.step(node.operand)
        name = f"__{node.field}__" if node.field in RESERVED else node.field
        if node.test:
            return lambda run: _has(operand(run), name)
        return lambda run: _field(_paid(run, operand), name)

    def _call(self, node: Call) -> Step:
        if node.function in _SPECIAL:
            return _SPECIAL[node.function](*(self.step(arg) for arg in node.args))
        if node.function == OPTIONAL_SELECT:
            operand, name = self.step(node.args[0]), self.step(node.args[1])
            return lambda run: _optional_field(_paid(run, operand), name(run))
        steps = [self.step(each) for each in node.operands]
        function, price = self._function(node), price_of(node.function)

        def call(run: Run) -> Any:
            args = [step(run) for step in steps]
            run.pay(price(*args))
            return function(*args)

        return call

    def _function(self, node: Call) -> Function:
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

        def make(run: Run) -> list[Any]:
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

        def make(run: Run) -> dict[Any, Any]:
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

    def _fold(self, node: Fold) -> Step:
        ranged, init = self.step(node.range), self.step(node.init)
        going, step, result = map(self.step, (node.condition, node.step, node.result))
        bind = _two(node.var, node.var2) if node.var2 else _one_name(node.var)

        def fold(run: Run) -> Any:
            values, outer = ranged(run), run.names
            run.names = {**outer, node.accu: init(run)}
            try:
                for item in _pairs(values) if node.var2 else values:
                    bind(run.names, item)
                    if not going(run):
                        break
                    run.names[node.accu] = _caught(step, run)
                return result(run)
            finally:
                run.names = outer

        return fold


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


def _caught(step: Step, run: Run) -> Any:
    """A value, or the error in its place: a loop goes on, for a later item may decide."""
    try:
        return step(run)
    except TooExpensive:
        raise
    except CelError as error:
        return error


def _paid(run: Run, step: Step) -> Any:
    value = step(run)
    run.pay(1)
    return value


def _field(value: Any, name: str) -> Any:
    if isinstance(value, Optional):
        return _optional_field(value, name)
    if not isinstance(value, dict):
        raise CelError("no such overload")
    if name not in value:
        raise CelError(f"no such key: {name}")
    return value[name]


def _optional_field(value: Any, name: str) -> Optional:
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value
    return Optional(value[name]) if isinstance(value, dict) and name in value else NONE


def _has(value: Any, name: str) -> bool:
    if isinstance(value, Optional):
        return value.present and _has(value.value, name)
    if not isinstance(value, dict):
        raise CelError("no such overload")
    return name in value


def _and(one: Step, other: Step) -> Step:
    return _decided(one, other, by=False)


def _or(one: Step, other: Step) -> Step:
    return _decided(one, other, by=True)


def _decided(one: Step, other: Step, *, by: bool) -> Step:
    def decide(run: Run) -> bool:
        sides: list[Any] = []
        for step in (one, other):
            sides.append(_caught(step, run))
            if sides[-1] is by:
                return bool(by)
        for value in sides:
            if isinstance(value, CelError):
                raise value
            if not isinstance(value, bool):
                raise CelError("no such overload")
        return not by

    return decide


def _choice(test: Step, one: Step, other: Step) -> Step:
    def choose(run: Run) -> Any:
        chosen = test(run)
        if not isinstance(chosen, bool):
            raise CelError("no such overload")
        return one(run) if chosen else other(run)

    return choose


def _not_false(test: Step) -> Step:
    def decide(run: Run) -> bool:
        run.pay(1)
        return _caught(test, run) is not False

    return decide


_SPECIAL: dict[str, Callable[..., Step]] = {
    "_&&_": _and,
    "_||_": _or,
    "_?_:_": _choice,
    NOT_STRICTLY_FALSE: _not_false,
}


def _vague(given: Type) -> bool:
    return given.unknown or given.variable or any(map(_vague, given.params))


def _accepts(overload: Overload, args: tuple[Any, ...]) -> bool:
    return all(
        wanted.variable or wanted.unknown or kind_of(value) == wanted.name
        for wanted, value in zip(overload.params, args, strict=True)
    )
