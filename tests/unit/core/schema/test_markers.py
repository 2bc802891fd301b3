from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from msgspec import Meta

from quintant.core.errors import ConfigError
from quintant.core.object import Model
from quintant.core.schema import markers
from quintant.core.schema.constraints import constrain, presence_rule
from quintant.core.schema.openapi import model_schema

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


class Relay(Model):
    name: str
    zone: Annotated[str | None, markers.default("a")] = None
    url: str = ""


def noted(plain: Mapping[str, Any], *notes: Any) -> dict[str, Any]:
    return constrain(dict(plain), notes, "Probe.probe")


@pytest.mark.parametrize(
    ("plain", "note", "added"),
    [
        (NUMBER, Meta(ge=1, le=9), {"minimum": 1, "maximum": 9}),
        (
            NUMBER,
            Meta(gt=0, lt=1),
            {"minimum": 0, "exclusiveMinimum": True, "maximum": 1, "exclusiveMaximum": True},
        ),
        (NUMBER, Meta(multiple_of=5), {"multipleOf": 5}),
        (TEXT, Meta(pattern="^a"), {"pattern": "^a"}),
        (TEXT, Meta(min_length=1, max_length=2), {"minLength": 1, "maxLength": 2}),
        ({"type": "array"}, Meta(min_length=0, max_length=2), {"minItems": 0, "maxItems": 2}),
        ({"type": "object"}, Meta(max_length=2), {"maxProperties": 2}),
        (TEXT, Meta(description="What."), {"description": "What."}),
        (TEXT, Meta(extra_json_schema={"format": "ipv4"}), {"format": "ipv4"}),
        (TEXT, markers.default("x"), {"default": "x"}),
        ({"type": "array"}, markers.list_set(), {"x-kubernetes-list-type": "set"}),
        ({"type": "array"}, markers.list_atomic(), {"x-kubernetes-list-type": "atomic"}),
        (
            {"type": "object"},
            markers.preserve_unknown(),
            {"x-kubernetes-preserve-unknown-fields": True},
        ),
        ({"type": "object"}, markers.embedded(), {"x-kubernetes-embedded-resource": True}),
        (TEXT, "a remark of somebody else", {}),
    ],
)
def test_notes_become_keywords(plain: dict[str, Any], note: Any, added: dict[str, Any]) -> None:
    assert noted(plain, note) == plain | added


def test_several_notes_add_up() -> None:
    rules = (markers.cel("self != 'a'", "not a"), markers.immutable())
    assert noted(TEXT, Meta(min_length=1), markers.default("x"), *rules) == {
        "type": "string",
        "minLength": 1,
        "default": "x",
        "x-kubernetes-validations": [
            {"rule": "self != 'a'", "message": "not a"},
            {"rule": "self == oldSelf", "message": "this field cannot be changed"},
        ],
    }


def test_rules_of_a_field_follow_those_of_its_type() -> None:
    inner = {"type": "object", "x-kubernetes-validations": [{"rule": "true"}]}
    assert noted(inner, markers.cel("false"))["x-kubernetes-validations"] == [
        {"rule": "true"},
        {"rule": "false"},
    ]


def test_a_rule_can_say_whom_to_blame_and_how() -> None:
    rule = markers.cel("self.a < self.b", "too big", reason="FieldValueForbidden", path=".a")
    assert noted({"type": "object"}, rule)["x-kubernetes-validations"] == [
        {
            "rule": "self.a < self.b",
            "message": "too big",
            "reason": "FieldValueForbidden",
            "fieldPath": ".a",
        }
    ]


def test_defaults_are_written_as_the_wire_has_them() -> None:
    meta = markers.default((Relay(name="a"), Relay(name="b", url="u")))
    assert noted({"type": "array"}, meta)["default"] == [{"name": "a"}, {"name": "b", "url": "u"}]


def test_deprecation_is_told_in_the_description() -> None:
    gone = markers.deprecated("use spec.size")
    assert noted(TEXT, gone)["description"] == "Deprecated: use spec.size"
    both = noted(TEXT, Meta(description="How much."), gone)
    assert both["description"] == "How much.\n\nDeprecated: use spec.size"
    assert "deprecated" not in both


def test_int_or_string_has_no_type() -> None:
    anything = {"x-kubernetes-preserve-unknown-fields": True}
    assert noted(anything, markers.int_or_string()) == {"x-kubernetes-int-or-string": True}
    with pytest.raises(ConfigError, match="beside the type string"):
        noted(TEXT, markers.int_or_string())


def test_list_map_keys_are_fields_every_item_has() -> None:
    items = {"type": "array", "items": model_schema(Relay)}
    assert noted(items, markers.list_map("name", "zone"))["x-kubernetes-list-map-keys"] == [
        "name",
        "zone",
    ]
    for key in ("url", "nothing"):
        with pytest.raises(ConfigError, match=f"no field '{key}' that is required"):
            noted(items, markers.list_map(key))


@pytest.mark.parametrize(
    ("text", "fits"),
    [("1", True), ("1.5Gi", True), (".5m", True), ("1e3", True), ("-2k", True), ("1.", True),
     ("", False), ("1K", False), ("1ki", False), ("1e", False), ("Gi", False), ("1 Gi", False)],
)  # fmt: skip
def test_quantities_have_the_suffixes_of_kubernetes(text: str, fits: bool) -> None:
    pattern = noted(TEXT, markers.quantity())["pattern"]
    assert bool(re.search(pattern, text)) is fits


@pytest.mark.parametrize(
    ("text", "fits"),
    [("0", True), ("1h30m", True), ("500ms", True), ("1.5h", True),
     ("", False), ("5", False), ("1 day", False), ("1d", False), ("-1s", False)],
)  # fmt: skip
def test_durations_are_written_as_in_go(text: str, fits: bool) -> None:
    pattern = noted(TEXT, markers.duration())["pattern"]
    assert bool(re.search(pattern, text)) is fits


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("size", "size"),
        ("namespace", "__namespace__"),
        ("in", "__in__"),
        ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
        ("a__b", "a__underscores__b"),
    ],
)
def test_field_names_are_escaped_for_cel(field: str, written: str) -> None:
    assert presence_rule(field).rule == f"!has(oldSelf.{written}) || has(self.{written})"
