"""cel-go Activation, CostTracker: a run: variables, cost so far, fields of values, short circuits.

Errors are values to && and ||: what decides without the failing side is the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quintant.cluster.apiserver.cel.macros import NOT_STRICTLY_FALSE
from quintant.cluster.apiserver.cel.values import NONE, CelError, Optional

Step = Callable[["Evaluation"], Any]
"""A part of an expression, ready to run."""


class TooExpensive(CelError):
    """A run costs more than it may."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Evaluation:
    """The variables of a run, and what it has cost."""

    __slots__ = ("cost", "limit", "names")

    def __init__(self, names: dict[str, Any], limit: int) -> None:
        self.names: dict[str, Any] = names
        self.limit: int = limit
        self.cost: int = 0

    def pay(self, price: int) -> None:
        self.cost += price
        if self.cost > self.limit:
            raise TooExpensive()


def caught(step: Step, run: Evaluation) -> Any:
    """A value, or the error in its place: a loop goes on, for a later item may decide."""
    try:
        return step(run)
    except TooExpensive:
        raise
    except CelError as error:
        return error


def paid(run: Evaluation, step: Step) -> Any:
    """A value, with the price of what is done with it next."""
    value = step(run)
    run.pay(1)
    return value


def field(value: Any, name: str) -> Any:
    """A field of something."""
    if isinstance(value, Optional):
        return optional_field(value, name)
    if not isinstance(value, dict):
        raise CelError("no such overload")
    if name not in value:
        raise CelError(f"no such key: {name}")
    return value[name]


def optional_field(value: Any, name: str) -> Optional:
    """A field of something, if it is there."""
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value
    return Optional(value[name]) if isinstance(value, dict) and name in value else NONE


def has(value: Any, name: str) -> bool:
    """Whether something has a field."""
    if isinstance(value, Optional):
        return value.present and has(value.value, name)
    if not isinstance(value, dict):
        raise CelError("no such overload")
    return name in value


def _and(one: Step, other: Step) -> Step:
    return _decided(one, other, by=False)


def _or(one: Step, other: Step) -> Step:
    return _decided(one, other, by=True)


def _decided(one: Step, other: Step, *, by: bool) -> Step:
    def decide(run: Evaluation) -> bool:
        sides: list[Any] = []
        for step in (one, other):
            sides.append(caught(step, run))
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
    def choose(run: Evaluation) -> Any:
        chosen = test(run)
        if not isinstance(chosen, bool):
            raise CelError("no such overload")
        return one(run) if chosen else other(run)

    return choose


def _not_false(test: Step) -> Step:
    def decide(run: Evaluation) -> bool:
        run.pay(1)
        return caught(test, run) is not False

    return decide


LAZY: dict[str, Callable[..., Step]] = {
    "_&&_": _and,
    "_||_": _or,
    "_?_:_": _choice,
    NOT_STRICTLY_FALSE: _not_false,
}
"""Functions that do not need all their arguments."""
