from __future__ import annotations

from typing import Any

from quintant.core.crd_diff.change import DefinitionChange, Impact
from quintant.core.crd_diff.keywords import PRESERVE
from quintant.core.crd_diff.schema_changes import schema_changes

TEXT: dict[str, Any] = {"type": "string"}
DEPTH = 50_000


def fields(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[DefinitionChange]:
    return [*schema_changes("v1", old, new)]


def test_a_field_that_is_gone_breaks_and_a_new_one_does_not() -> None:
    gone, added = changes(fields(a=TEXT), fields(b={"type": "integer"}))

    assert (gone.path, gone.rule) == ("v1.a", "existingFieldRemoval")
    assert gone.impact is Impact.BREAKING
    assert "perhaps" not in gone.message
    assert (added.path, added.impact) == ("v1.b", Impact.SAFE)


def test_a_new_field_like_the_one_that_is_gone_is_named() -> None:
    gone, _ = changes(fields(a=TEXT), fields(b={**TEXT, "description": "as before"}))

    assert "perhaps it is b now" in gone.message


def test_of_two_new_fields_like_the_one_that_is_gone_none_is_named() -> None:
    gone, *_ = changes(fields(a=TEXT), fields(b=TEXT, c=TEXT))

    assert "perhaps" not in gone.message


def test_a_field_that_is_kept_without_being_described_is_not_lost() -> None:
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

    assert all(change.impact is Impact.SAFE for change in changes(fields(a=TEXT), loose))


LOOSE: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def broken(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [each.path for each in changes(old, new) if each.impact is Impact.BREAKING]


def test_a_new_field_where_anything_was_kept_may_refuse_what_is_stored() -> None:
    assert broken(LOOSE, {**LOOSE, "properties": {"a": TEXT}}) == ["v1.a"]
    assert broken(LOOSE, {**LOOSE, "properties": {"a": {PRESERVE: True}}}) == []
    assert broken(LOOSE, {**LOOSE, "additionalProperties": TEXT}) == ["v1"]


def test_a_field_that_becomes_a_key_as_any_other_is_judged_as_its_values_are() -> None:
    numbers = {"type": "object", "additionalProperties": {"type": "integer"}}

    assert broken(fields(a=TEXT), numbers) == ["v1.a"]
    assert broken(fields(a={"type": "integer"}), numbers) == []


def test_values_that_were_anything_and_have_a_type_now_break() -> None:
    anything = {"type": "object", "additionalProperties": True}

    assert "v1.*" in broken(anything, {"type": "object", "additionalProperties": TEXT})


def test_items_and_values_of_maps_are_compared() -> None:
    old = fields(
        a={"type": "array", "items": fields(b=TEXT)},
        c={"type": "object", "additionalProperties": TEXT},
    )
    new = fields(
        a={"type": "array", "items": fields(b={"type": "integer"})},
        c={"type": "object", "additionalProperties": {"type": "integer"}},
    )

    assert [change.path for change in changes(old, new)] == ["v1.a[].b", "v1.c.*"]


def test_a_map_that_takes_no_further_keys_breaks() -> None:
    (change,) = changes({"additionalProperties": TEXT}, {"additionalProperties": False})

    assert (change.rule, change.impact) == ("additionalProperties", Impact.BREAKING)


def test_a_schema_of_any_depth_is_compared() -> None:
    old: dict[str, Any] = TEXT
    new: dict[str, Any] = {"type": "integer"}
    for _ in range(DEPTH):
        old, new = {"items": old}, {"items": new}

    (change,) = changes(old, new)

    assert change.rule == "type"
