from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.schema.prune import (
    default,
    drop_nulls,
    prune,
    resource_schema,
    structural_schema,
)

ANY = {"x-kubernetes-preserve-unknown-fields": True}
TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "value", "left", "unknown"),
    [
        ({"properties": {"a": TEXT}}, {"a": "x", "b": 1}, {"a": "x"}, ["b"]),
        (
            {"properties": {"a": {"items": {"properties": {"b": TEXT}}}}},
            {"a": [{"b": "x", "c": 1}]},
            {"a": [{"b": "x"}]},
            ["a[0].c"],
        ),
        ({"additionalProperties": TEXT}, {"a": "x"}, {"a": "x"}, []),
        (ANY, {"a": {"b": [1]}}, {"a": {"b": [1]}}, []),
        (
            {**ANY, "properties": {"a": {"properties": {"b": TEXT}}}},
            {"a": {"c": 1}, "d": 1},
            {"a": {}, "d": 1},
            ["a.c"],
        ),
        (
            {"properties": {"a": {"x-kubernetes-embedded-resource": True}}},
            {"a": {"kind": "X", "spec": 1}},
            {"a": {"kind": "X"}},
            ["a.spec"],
        ),
    ],
)
def test_what_a_schema_does_not_know_goes(
    schema: Any, value: Any, left: Any, unknown: list[str]
) -> None:
    assert prune(value, structural_schema(schema)) == unknown
    assert value == left


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        (TEXT, {}),
        ({**TEXT, "nullable": True}, {"a": None}),
        ({**TEXT, "default": "x"}, {"a": None}),
    ],
)
def test_a_null_goes_unless_it_is_allowed_or_has_a_default(schema: Any, left: Any) -> None:
    value = {"a": None}
    drop_nulls(value, structural_schema({"properties": {"a": schema}}))
    assert value == left


def test_the_identity_of_an_object_is_never_pruned() -> None:
    obj = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "junk": 1}
    assert prune(obj, resource_schema({"properties": {}})) == ["junk"]
    assert obj == {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("schema", "value", "defaulted"),
    [
        ({"properties": {"a": {"default": 1}}}, {}, {"a": 1}),
        ({"properties": {"a": {"default": 1}}}, {"a": 2}, {"a": 2}),
        ({"properties": {"a": {"default": 1}}}, {"a": None}, {"a": 1}),
        ({"properties": {"a": {"default": 1, "nullable": True}}}, {"a": None}, {"a": None}),
        (
            {"properties": {"a": {"default": {}, "properties": {"b": {"default": 1}}}}},
            {},
            {"a": {"b": 1}},
        ),
        ({"properties": {"a": {"properties": {"b": {"default": 1}}}}}, {}, {}),
        (
            {"properties": {"a": {"items": {"properties": {"b": {"default": 1}}}}}},
            {"a": [{}]},
            {"a": [{"b": 1}]},
        ),
        (
            {"additionalProperties": {"properties": {"b": {"default": 1}}}},
            {"x": {}},
            {"x": {"b": 1}},
        ),
    ],
)
def test_defaults_come_where_nothing_is(schema: Any, value: Any, defaulted: Any) -> None:
    default(value, structural_schema(schema))
    assert value == defaulted


def test_two_objects_do_not_share_a_default() -> None:
    schema: Any = {"properties": {"a": {"default": {"list": []}}}}
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}
    default(one, structural_schema(schema))
    default(other, structural_schema(schema))
    one["a"]["list"].append(1)
    assert other == {"a": {"list": []}}
