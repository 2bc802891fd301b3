"""SetObjectDefaults_Pod: brings defaults into Pods and every built-in kind, message by message.

Objects are expected to fit their message (quintant.cluster.apiserver.go_types.coerce): an absent
field is absent, an explicit zero of a pointer is a choice. What a message and everything below it
have no defaults for is not visited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.defaulting.constants import CONSTANTS
from quintant.cluster.apiserver.defaulting.rules import RULES
from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType
from quintant.cluster.apiserver.meta.types import JsonObject

# What Go writes for an absent field that it always writes.
_EMPTY = (None, "")


class _Plan(Struct, frozen=True):
    """What is to be done at a message, and which of its fields lead on."""

    constants: Mapping[str, Any]
    rule: Callable[[JsonObject], None] | None
    below: tuple[tuple[str, str], ...]
    """The fields that lead on, with the names of the messages that they hold."""


def defaulter(message: MessageType) -> Callable[[JsonObject], None]:
    """What defaults objects of a kind, in place; how is worked out for the first of them."""
    return partial(_default, message.name)


def _default(name: str, obj: JsonObject) -> None:
    _fill(_plan(name), obj)


def _fill(plan: _Plan, obj: JsonObject) -> None:
    for name, value in plan.constants.items():
        if obj.get(name) in _EMPTY:
            obj[name] = dict(value) if isinstance(value, dict) else value
    if plan.rule is not None:
        plan.rule(obj)
    for name, held in plan.below:
        value = obj.get(name)
        if isinstance(value, list):
            for item in value:
                _fill(_plan(held), item)
        elif value is not None:
            _fill(_plan(held), value)


@cache
def _plan(name: str) -> _Plan:
    fields = go_types.message(name).fields.items()
    below = [(field, held) for field, spec in fields if (held := _held(spec.type)) and _leads(held)]
    return _Plan(CONSTANTS.get(name, {}), RULES.get(name), tuple(below))


@cache
def _leads(name: str) -> bool:
    """Whether there is anything to default in a message or below it."""
    return any(each in CONSTANTS or each in RULES for each in _below(name))


def _below(name: str) -> Iterator[str]:
    """A message and all that it is made of; messages may contain themselves."""
    found, open_ = {name}, [name]
    while open_:
        yield (each := open_.pop())
        fields = go_types.message(each).fields.values()
        new = {held for field in fields if (held := _held(field.type))} - found
        found |= new
        open_ += new


def _held(kind: FieldType) -> str:
    """The message that a field holds, alone or in a list."""
    if kind.kind is FieldKind.LIST:
        return _held(kind.item)
    return kind.name if kind.kind is FieldKind.MESSAGE else ""
