from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given

from quintant.cluster.apiserver.crd.strategy import CustomSchema
from quintant.cluster.apiserver.go_types.coerce import CoercionError
from quintant.cluster.apiserver.schema.prune import default, drop_nulls, prune, resource_schema
from quintant.core.resource import Scale
from unit.cluster.json_strategies import OBJECTS, ROOTS

INTEGER = {"type": "integer"}


def _object(**content: Any) -> dict[str, Any]:
    return {"apiVersion": "e.com/v1", "kind": "Foo", "metadata": {"name": "a"}, **content}


def _causes(schema: CustomSchema, obj: Any, live: Any = None, sub: str = "") -> list[str]:
    return [cause.field for cause in schema.validate(obj, live, sub, ()).errors]


@given(ROOTS, OBJECTS)
def test_pruning_twice_changes_nothing_more(schema: Any, obj: Any) -> None:
    place = resource_schema(schema)
    prune(obj, place)
    once = copy.deepcopy(obj)
    assert prune(obj, place) == []
    assert obj == once


@given(ROOTS, OBJECTS)
def test_defaulting_twice_changes_nothing_more(schema: Any, obj: Any) -> None:
    place = resource_schema(schema)
    default(obj, place)
    once = copy.deepcopy(obj)
    default(obj, place)
    assert obj == once


@given(ROOTS, OBJECTS)
def test_what_is_dropped_and_added_is_settled_at_once(schema: Any, obj: Any) -> None:
    place = resource_schema(schema)
    prune(obj, place)
    drop_nulls(obj, place)
    default(obj, place)
    once = copy.deepcopy(obj)
    prune(obj, place)
    default(obj, place)
    assert obj == once


@given(ROOTS, OBJECTS)
def test_no_object_breaks_a_schema_at_work(schema: Any, content: Any) -> None:
    custom, obj = CustomSchema(schema), {**content, **_object()}
    try:
        custom.prune(obj)
    except CoercionError:
        return
    custom.default(obj)
    result = custom.validate(obj, None, "", ())
    again = custom.validate(obj, copy.deepcopy(obj), "", ())
    assert {cause.message for cause in again.errors} <= {c.message for c in result.errors}


def test_rules_wait_until_the_object_is_sound() -> None:
    ruled = {**INTEGER, "x-kubernetes-validations": [{"rule": "self > 0"}]}
    schema = CustomSchema(
        {"type": "object", "required": ["b"], "properties": {"a": ruled, "b": INTEGER}}
    )
    assert _causes(schema, _object(a=0)) == ["b", "<nil>"]
    assert _causes(schema, _object(a=0, b=1)) == ["a"]


def test_a_status_is_judged_by_its_own_schema() -> None:
    schema = CustomSchema(
        {
            "type": "object",
            "required": ["spec"],
            "properties": {"status": {"type": "object", "properties": {"n": INTEGER}}},
        }
    )
    live = _object(status={"n": 1})
    assert _causes(schema, _object(status={"n": "x"}), live, "status") == ["status.n"]
    assert _causes(schema, _object(), live, "status") == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"spec": {"n": -1}}, "-1: should be a non-negative integer"),
        ({"spec": {"n": 2**31}}, "2147483648: should be less than or equal to 2147483647"),
        ({"spec": {"n": "x"}}, "0: .spec.n accessor error: x is of the type string"),
        ({"spec": {"n": {"a": 1}}}, "0: .spec.n accessor error: map[a:1] is of the type map"),
        ({"spec": [1]}, "0: .spec.n accessor error: [1] is of the type []interface {}"),
        ({"spec": {"n": None}}, "0: .spec.n accessor error: <nil> is of the type <nil>"),
        ({"status": {"s": 1}}, '"": .status.s accessor error: 1 is of the type int64'),
    ],
)
def test_what_a_scale_shows_must_be_there_as_a_number(content: Any, told: str) -> None:
    scale = Scale(".spec.n", ".status.n", ".status.s")
    schema = CustomSchema({"x-kubernetes-preserve-unknown-fields": True}, scale)
    (cause,) = schema.validate(_object(**content), None, "", ()).errors
    assert cause.message.startswith(f"Invalid value: {told}")


def test_duplicates_that_were_there_before_are_let_through() -> None:
    numbers = {"type": "array", "items": INTEGER, "x-kubernetes-list-type": "set"}
    schema = CustomSchema({"type": "object", "properties": {"l": numbers}})
    assert _causes(schema, _object(l=[1, 1, 2, 2])) == ["l[1]", "l[3]"]
    assert _causes(schema, _object(l=[1, 1]), _object(l=[2, 2])) == []
    assert _causes(schema, _object(l=[1, 1]), _object(l=[1])) == ["l[1]"]


def test_finalizers_that_others_might_choose_are_advised_against() -> None:
    schema = CustomSchema({"type": "object"})
    obj = _object()
    obj["metadata"]["finalizers"] = ["mine", "a.com/b", "orphan", "c.d"]
    warnings = schema.validate(obj, None, "", ()).warnings
    assert [text.split('"')[1] for text in warnings] == ["c.d", "mine"]
    assert schema.validate(obj, obj, "", ()).warnings == []
