from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given

from quintant.cluster.apiserver.cel.schemas import convert, declare, escape
from unit.cluster.apiserver.cel.sample_object import OBJECT, SELF
from unit.cluster.json_strategies import JSON, SCHEMAS


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a", "a"),
        ("a-b", "a__dash__b"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("__a", "__underscores__a"),
        ("namespace", "__namespace__"),
        ("1a", ""),
        ("a$", ""),
        ("", ""),
    ],
)
def test_fields_are_named_so_that_expressions_can_name_them(name: str, escaped: str) -> None:
    assert escape(name) == escaped


def test_values_have_the_types_that_schemas_declare() -> None:
    seen = convert(OBJECT, SELF)
    assert seen["d"] == 2.5
    assert seen["t"] == datetime(2024, 3, 5, 10, 20, 30, 500_000, UTC)
    assert seen["u"] == timedelta(minutes=90)
    assert seen["y"] == b"abc"
    assert seen["day"] == datetime(2024, 2, 29, tzinfo=UTC)
    assert "open" not in seen
    assert seen["o"]["x__dash__y"] == 2
    assert len(seen["o"]) == 6


def test_a_whole_number_where_a_number_is_declared_is_a_float() -> None:
    assert isinstance(convert(1, declare({"type": "number"})), float)


def test_of_metadata_rules_see_the_names_only() -> None:
    declared = declare({"type": "object", "properties": {}}, root=True)
    assert declared is not None
    assert set(declared.fields) == {"kind", "apiVersion", "metadata"}
    assert set(declared.fields["metadata"].fields) == {"name", "generateName"}


@pytest.mark.parametrize(
    ("schema", "most", "least"),
    [
        ({"type": "string", "maxLength": 5}, 20, 2),
        ({"type": "string", "enum": ["abc", "d"]}, 3, 2),
        ({"type": "string"}, 3 * 1024 * 1024 - 2, 2),
        ({"type": "array", "items": {"type": "integer"}}, (3 * 1024 * 1024 - 2) // 2, 2),
        ({"type": "array", "maxItems": 7, "items": {"type": "integer"}}, 7, 2),
        ({"type": "string", "format": "date-time"}, 32, 21),
    ],
)
def test_sizes_are_what_fits_into_a_request(schema: Any, most: int, least: int) -> None:
    declared = declare(schema)
    assert declared is not None
    assert (declared.most, declared.least) == (most, least)


@given(SCHEMAS, JSON)
def test_every_value_can_be_seen_through_every_schema(schema: Any, value: Any) -> None:
    convert(value, declare(schema))


@pytest.mark.parametrize(
    ("form", "text", "seen"),
    [
        ("date-time", "", ""),
        ("date-time", "Tomorrow", "Tomorrow"),
        ("date-time", "9999-12-31T23:59:59-23:59", datetime.max.replace(tzinfo=UTC)),
        ("date-time", "0000-01-01T00:00:00Z", datetime.min.replace(tzinfo=UTC)),
        ("date", "0000-01-01", datetime.min.replace(tzinfo=UTC)),
        ("date", "2020-13-01", "2020-13-01"),
        ("duration", "3 days", timedelta(days=3)),
        ("duration", "99999999999999999999d", "99999999999999999999d"),
        # Go's nanoseconds begin again below zero.
        ("duration", "99999999d", timedelta(microseconds=6923687103929844)),
    ],
)
def test_what_no_calendar_has_is_seen_all_the_same(form: str, text: str, seen: Any) -> None:
    assert convert(text, declare({"type": "string", "format": form})) == seen


def test_a_number_beyond_all_others_is_infinite() -> None:
    declared = declare({"type": "number"})
    assert convert(10**400, declared) == float("inf")
    assert convert(-(10**400), declared) == float("-inf")
