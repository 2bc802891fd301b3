from __future__ import annotations

from typing import Any

import pytest

from quintant.core.crd_diff.change import Impact
from quintant.core.crd_diff.keywords import PRESERVE, keyword_changes

SAFE, BREAKING = Impact.SAFE, Impact.BREAKING
TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}
EITHER: dict[str, Any] = {"x-kubernetes-int-or-string": True}
LIST = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}
LOOSE: dict[str, Any] = {PRESERVE: True}


def rules(*texts: str) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": text} for text in texts]}


@pytest.mark.parametrize(
    ("old", "new", "rule", "impact"),
    [
        (NUMBER, {"type": "number"}, "type", SAFE),
        (NUMBER, EITHER, "type", SAFE),
        (TEXT, EITHER, "type", SAFE),
        (TEXT, {}, "type", SAFE),
        ({"type": "number"}, NUMBER, "type", BREAKING),
        (EITHER, TEXT, "type", BREAKING),
        (TEXT, NUMBER, "type", BREAKING),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, "enum", SAFE),
        ({"enum": ["a"]}, {}, "enum", SAFE),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, "enum", BREAKING),
        ({}, {"enum": ["a"]}, "enum", BREAKING),
        ({"multipleOf": 2}, {"multipleOf": 0}, "multipleOf", SAFE),
        ({"minimum": 2}, {"minimum": 1}, "minimum", SAFE),
        ({"minimum": 2}, {}, "minimum", SAFE),
        ({"minimum": 1}, {"minimum": 2}, "minimum", BREAKING),
        ({}, {"minLength": 0}, "minLength", BREAKING),
        ({"maxItems": 1}, {"maxItems": 2}, "maxItems", SAFE),
        ({"maxItems": 2}, {"maxItems": 1}, "maxItems", BREAKING),
        ({}, {"maxProperties": 9}, "maxProperties", BREAKING),
        ({"multipleOf": 4}, {"multipleOf": 2}, "multipleOf", SAFE),
        ({"multipleOf": 4}, {"multipleOf": 3}, "multipleOf", BREAKING),
        ({"pattern": "a"}, {}, "pattern", SAFE),
        ({"pattern": "a"}, {"pattern": "a|b"}, "pattern", BREAKING),
        ({"format": "date"}, {"format": "date-time"}, "format", BREAKING),
        ({"format": "int32"}, {"format": "int64"}, "format", SAFE),
        ({"format": "int64"}, {"format": "int32"}, "format", BREAKING),
        ({"exclusiveMinimum": True}, {}, "exclusiveMinimum", SAFE),
        ({}, {"exclusiveMaximum": True}, "exclusiveMaximum", BREAKING),
        ({}, {"nullable": True}, "nullable", SAFE),
        ({"nullable": True}, {"nullable": False}, "nullable", BREAKING),
        ({}, {"default": None}, "default", BREAKING),
        ({"default": 1}, {"default": 2}, "default", BREAKING),
        ({"default": 1}, {}, "default", BREAKING),
        ({"required": ["a"]}, {}, "required", SAFE),
        ({}, {"required": ["a"]}, "required", BREAKING),
        ({}, {"required": ["a"], "properties": {"a": {"default": 1}}}, "required", SAFE),
        ({"type": "object"}, {"type": "object", **LOOSE}, PRESERVE, SAFE),
        ({"type": "object", **LOOSE}, {"type": "object"}, PRESERVE, BREAKING),
        (rules("a"), rules(), "x-kubernetes-validations", SAFE),
        (rules("a"), rules("a", "b"), "x-kubernetes-validations", BREAKING),
        ({"anyOf": [{}]}, {}, "anyOf", SAFE),
        ({"anyOf": [{}]}, {"anyOf": [{}, {}]}, "anyOf", BREAKING),
        ({}, {"not": {}}, "not", BREAKING),
        (LIST, {**LIST, "x-kubernetes-list-type": "set"}, "x-kubernetes-list-type", BREAKING),
        (
            LIST,
            {**LIST, "x-kubernetes-list-map-keys": ["b"]},
            "x-kubernetes-list-map-keys",
            BREAKING,
        ),
        ({}, {"x-kubernetes-map-type": "atomic"}, "x-kubernetes-map-type", BREAKING),
        ({"description": "a"}, {"description": "b"}, "description", SAFE),
    ],
)
def test_a_wider_field_is_safe_and_a_narrower_one_breaks(
    old: dict[str, Any], new: dict[str, Any], rule: str, impact: Impact
) -> None:
    (change,) = keyword_changes("v1.spec", old, new)

    assert (change.rule, change.impact, change.path) == (rule, impact, "v1.spec")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"x-kubernetes-list-type": "atomic"}, {}),
        ({}, {"x-kubernetes-map-type": "granular"}),
        ({"nullable": False}, {}),
        ({"pattern": ""}, {}),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        (rules("a", "b"), rules("b", "a")),
    ],
)
def test_what_means_the_same_is_no_change(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert not [*keyword_changes("v1", old, new)]
