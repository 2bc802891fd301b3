"""Promises of quintant.runtime.watch.scope."""

from __future__ import annotations

import pytest

from quintant.runtime.watch.scope import WatchScope, selects
from unit.runtime.kinds import Ship


def test_selectors_are_spelled_as_the_api_reads_them() -> None:
    scope = WatchScope(Ship, labels={"b": "2", "a": "1", "any": ""}, fields={"x": "1", "empty": ""})

    assert scope.query == {"labelSelector": "a=1,any,b=2", "fieldSelector": "empty=,x=1"}
    assert WatchScope(Ship).query == {}


def test_a_scope_is_named_after_what_it_follows() -> None:
    assert str(WatchScope(Ship)) == "ships.sea.quintant.dev"
    assert str(WatchScope(Ship, "sea")) == "ships.sea.quintant.dev in sea"


@pytest.mark.parametrize(
    ("wanted", "labels", "yes"),
    [
        ({}, {}, True),
        ({}, {"a": "1"}, True),
        ({"a": "1"}, {"a": "1", "b": "2"}, True),
        ({"a": "1"}, {"a": "2"}, False),
        ({"a": "1"}, {}, False),
        ({"a": ""}, {"a": "anything"}, True),
        ({"a": ""}, {"a": ""}, True),
        ({"a": ""}, {}, False),
    ],
)
def test_an_object_is_selected_as_the_server_would(
    wanted: dict[str, str], labels: dict[str, str], yes: bool
) -> None:
    assert selects(wanted, labels) is yes
