"""Which objects a handler is for: a table of filters."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.kopf.declare.filters import ABSENT, PRESENT, all_, any_, matches, none_, not_
from quintant.kopf.declare.handlers import Handler, HandlerKind

BODY = {
    "metadata": {"labels": {"l": "1"}, "annotations": {"a": "1"}},
    "spec": {"field": "value", "zero": 0},
}


class HandlerCause:
    """An object as it is, and what it was."""

    def __init__(self, states: Any = None) -> None:
        self.body: dict[str, Any] = BODY
        self.states = states

    def kwargs(self) -> dict[str, Any]:
        return {"spec": BODY["spec"]}


def yes(*_: Any, **__: Any) -> bool:
    return True


def no(*_: Any, **__: Any) -> bool:
    return False


def chosen(states: Any = None, **given: Any) -> bool:
    handler = Handler(kind=HandlerKind.CHANGE, fn=print, id="a", **given)
    return matches(handler, HandlerCause(states))


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({}, True),
        ({"labels": {"l": "1"}}, True),
        ({"labels": {"l": "2"}}, False),
        ({"labels": {"l": PRESENT, "m": ABSENT}}, True),
        ({"labels": {"l": ABSENT}}, False),
        ({"labels": {"m": PRESENT}}, False),
        ({"labels": {"m": lambda value, **_: value is None}}, True),
        ({"annotations": {"a": lambda value, spec, **_: value == "1" and "zero" in spec}}, True),
        ({"annotations": {"a": "2"}}, False),
        ({"when": yes}, True),
        ({"when": no}, False),
        ({"when": all_([yes, not_(no)])}, True),
        ({"when": any_([no, no])}, False),
        ({"when": none_([no, no])}, True),
        ({"field": ("spec", "field")}, True),
        ({"field": ("spec", "other")}, False),
        ({"field": ("spec", "other"), "value": ABSENT}, True),
        ({"field": ("spec", "field"), "value": "value"}, True),
        ({"field": ("spec", "field"), "value": "else"}, False),
        ({"field": ("spec", "zero"), "value": 0}, True),
        ({"field": ("spec", "zero"), "value": PRESENT}, True),
        ({"field": ("spec", "field"), "value": lambda value, **_: value == "value"}, True),
    ],
)
def test_an_object_is_chosen_by_what_it_is(filters: dict[str, Any], wanted: bool) -> None:
    assert chosen(**filters) is wanted


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({}, True),
        ({"needs_change": True}, True),
        ({"value": "new"}, True),
        ({"value": "old"}, True),
        ({"value": "else"}, False),
        ({"old": "old", "new": "new"}, True),
        ({"old": "new"}, False),
        ({"new": lambda value, **_: value == "new"}, True),
        ({"old": ABSENT}, False),
    ],
)
def test_a_change_is_chosen_by_what_a_field_was_and_is(
    filters: dict[str, Any], wanted: bool
) -> None:
    states = {"spec": {"f": "old"}}, {"spec": {"f": "new"}}
    assert chosen(states, field=("spec", "f"), **filters) is wanted


def test_a_field_that_did_not_change_is_no_change() -> None:
    same = {"spec": {"f": 1}}, {"spec": {"f": 1}}
    assert not chosen(same, field=("spec", "f"), needs_change=True)
