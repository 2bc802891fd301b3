"""The properties of a spec, and specs with other values in them."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.testing.explore.specs.schema import (
    minimal,
    properties,
    rules,
    value_at,
    with_value,
)

RELAY = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "port": {"type": "integer", "minimum": 5}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer"},
        "relays": {"type": "array", "items": RELAY},
        "pod": {
            "type": "object",
            "properties": {
                "affinity": {"type": "object", "properties": {"deep": {"type": "string"}}}
            },
        },
    },
}


def test_every_field_is_a_property_and_the_first_of_a_list_stands_for_all() -> None:
    found = {each.name: each.required for each in properties(SCHEMA)}
    assert found == {
        "size": True,
        "relays": False,
        "relays[].name": True,
        "relays[].port": False,
        "pod": False,
        "pod.affinity": False,
    }


def test_a_schema_that_goes_on_for_ever_is_looked_at_to_a_depth() -> None:
    inner: dict[str, Any] = {"type": "object"}
    for _ in range(1000):
        inner = {"type": "object", "properties": {"a": inner}}
    assert len(list(properties(inner))) < 20


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("size",), 2, {"size": 2}),
        (("size",), None, {}),
        (("relays", 0, "port"), 7, {"size": 1, "relays": [{"name": "a", "port": 7}]}),
        (("pod", "affinity"), {}, {"size": 1, "pod": {"affinity": {}}}),
        (("pod", "affinity"), None, {"size": 1}),
    ],
)
def test_a_value_is_set_and_what_is_missing_above_it_is_made(
    path: tuple[str | int, ...], value: Any, expected: Any
) -> None:
    before = {"size": 1}
    made = with_value(before, path, value, SCHEMA)
    assert made == expected
    assert value_at(made, path) == value
    assert before == {"size": 1}


def test_the_least_value_is_right_by_its_schema() -> None:
    schema = {
        "type": "object",
        "required": ["url", "many", "wait", "kind"],
        "properties": {
            "url": {"type": "string", "pattern": "^wss://.*"},
            "many": {"type": "array", "minItems": 2, "items": RELAY},
            "wait": {"type": "string", "format": "duration"},
            "kind": {"type": "string", "enum": ["x", "y"]},
        },
    }
    assert minimal(schema) == {
        "url": "wss://a",
        "many": [{"name": "a"}, {"name": "a"}],
        "wait": "30s",
        "kind": "x",
    }


def test_a_rule_names_fields_and_not_what_it_calls() -> None:
    schema = {"x-kubernetes-validations": [{"rule": "self.a.startsWith('x') || has(self.b.c)"}]}
    (found,) = rules(schema)
    assert found.names == (("a",), ("b", "c"))
