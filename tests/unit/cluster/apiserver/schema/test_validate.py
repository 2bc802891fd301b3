from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from quintant.cluster.apiserver.meta.correlate import ABSENT
from quintant.cluster.apiserver.meta.field_errors import NO_FIELD
from quintant.cluster.apiserver.schema.validate import SchemaValidator
from quintant.cluster.apiserver.schema.validate_logic import check_count
from unit.cluster.json_strategies import JSON, SCHEMAS

INTEGER = {"type": "integer"}


def _told(schema: Any, value: Any, **more: Any) -> list[tuple[str, str]]:
    return [(cause.field, cause.message) for cause in SchemaValidator(schema)(value, **more)]


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        (INTEGER, 1.5, ['"number":  in body must be of type integer: "number"', "default format"]),
        ({"type": "integer", "maximum": 3}, 4, ["4:  in body should be less than or equal to 3"]),
        ({"type": "number", "maximum": 1e21}, 1e22, ["1e+22:  in body should be less than or"]),
        ({"type": "number", "maximum": 1e21}, 1, ["or equal to -9223372036854775808"]),
        ({"type": "integer", "multipleOf": 0.5}, 1, ["MultipleOf value must be of type integer"]),
        ({"type": "string", "format": "ipv4"}, 1, ['"int64":  in body must be of type ipv4']),
        ({"type": "string", "maxLength": 0}, "x", ["Too long: may not be more than 0 bytes"]),
        ({"type": "array", "maxItems": 1}, [1, 2], ["Too many: 2: must have at most 1 item"]),
        ({"type": "object", "additionalProperties": False}, {"a": 1}, ["forbidden property"]),
        ({"enum": [1, 2]}, 3, ['Unsupported value: 3: supported values: "1", "2"']),
        ({"enum": ["a"]}, None, ['Unsupported value: null: supported values: "a"']),
        (INTEGER, 2**70, ["number", "Checked value must be of type integer"]),
    ],
)
def test_what_a_keyword_says(schema: Any, value: Any, told: list[str]) -> None:
    messages = [message for _, message in _told(schema, value)]
    assert len(messages) == len(told)
    for message, part in zip(messages, told, strict=True):
        assert part in message


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INTEGER, 2.0),
        ({"type": "number"}, 1),
        ({"type": "number", "enum": [1]}, 1.9),
        ({"type": "string", "format": "ipv4"}, []),
        ({"type": "string", "format": "unheard-of"}, "x"),
        ({"type": "string", "nullable": True}, None),
        ({"type": "number", "multipleOf": 0.1}, 0.3),
        ({}, {"anything": [1, None]}),
    ],
)
def test_what_a_real_server_lets_pass(schema: Any, value: Any) -> None:
    assert _told(schema, value) == []


def test_paths_name_fields_items_and_keys() -> None:
    schema = {
        "type": "object",
        "required": ["z"],
        "properties": {
            "l": {"type": "array", "items": INTEGER},
            "m": {"type": "object", "additionalProperties": INTEGER},
        },
    }
    value = {"l": [1, "x"], "m": {"k.1": "x"}}
    assert [field for field, _ in _told(schema, value)] == ["l[1]", "m.k.1", "z"]
    assert [field for field, _ in _told(schema, value, prefix="status")] == [
        "status.l[1]",
        "status.m.k.1",
        "status.z",
    ]


def test_the_best_alternative_is_the_one_with_most_checks() -> None:
    deep = {"properties": {"a": {"properties": {"b": {"minLength": 3}}}}}
    schema = {"anyOf": [{"required": ["q"]}, deep]}
    told = _told(schema, {"a": {"b": "x"}})
    assert told[0] == (NO_FIELD, 'Invalid value: "": "" must validate at least one schema (anyOf)')
    assert [field for field, _ in told[1:]] == ["a.b"]


def test_the_same_complaint_is_made_once() -> None:
    twice = {"type": "integer", "allOf": [{"minimum": 3}], "minimum": 3}
    assert len(_told(twice, 1)) == 2


def test_an_old_error_is_let_through_where_nothing_changed() -> None:
    item = {"type": "object", "properties": {"k": {"type": "string"}, "v": INTEGER, "w": INTEGER}}
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 1},
            "m": {
                "type": "array",
                "items": item,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
            },
            "l": {"type": "array", "items": INTEGER},
        },
    }
    old = {"a": "long", "m": [{"k": "1", "v": "x"}], "l": ["x"], "n": 1}
    validate = SchemaValidator(schema)
    assert validate({**old, "n": 2}, old) == []
    assert [cause.field for cause in validate({**old, "a": "longer"}, old)] == ["a"]
    moved = {**old, "m": [{"k": "0"}, {"k": "1", "v": "x", "w": 1}]}
    assert validate(moved, old) == []
    assert [cause.field for cause in validate({**old, "l": ["x", 1]}, old)] == ["l[0]"]


def test_numbers_and_booleans_are_not_the_same_though_python_says_so() -> None:
    validate = SchemaValidator({"type": "object", "properties": {"a": {"type": "string"}}})
    assert validate({"a": 1}, {"a": True})
    assert not validate({"a": 1}, {"a": 1})


@given(SCHEMAS, JSON)
def test_no_value_breaks_the_walker(schema: Any, value: Any) -> None:
    validate = SchemaValidator(schema)
    first = validate(value)
    assert first == validate(value)
    assert len(set(first)) == len(first)


@given(SCHEMAS, JSON)
def test_what_did_not_change_is_never_refused(schema: Any, value: Any) -> None:
    if isinstance(value, dict) and not {"apiVersion", "kind"} & value.keys():
        assert SchemaValidator(schema)(value, value) == []


@given(SCHEMAS, JSON, JSON)
def test_an_update_is_refused_for_no_more_than_a_creation(schema: Any, new: Any, old: Any) -> None:
    validate = SchemaValidator(schema)
    created = {(cause.field, cause.message) for cause in validate(new, ABSENT)}
    if not any("must validate" in message for _, message in created):
        assert {(cause.field, cause.message) for cause in validate(new, old)} <= created


@given(SCHEMAS, JSON)
def test_every_value_has_a_weight(schema: Any, value: Any) -> None:
    assert check_count(schema, value) >= 0
