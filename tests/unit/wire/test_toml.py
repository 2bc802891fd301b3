"""TOML that is written is read as what was meant, and the same data is the same text."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from quintant.wire.toml import dumps, merge

VALUES = some.recursive(
    some.one_of(
        some.booleans(),
        some.integers(-(2**63), 2**63 - 1),
        some.text(),
        some.floats(allow_nan=False),
    ),
    lambda inner: some.one_of(
        some.lists(inner, max_size=4), some.dictionaries(some.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(some.dictionaries(some.text(max_size=6), VALUES, max_size=5))
def test_what_is_written_is_read_again(data: dict[str, Any]) -> None:
    assert tomllib.loads(dumps(data)) == data


def test_keys_are_sorted_and_plain_values_come_first() -> None:
    text = dumps({"b": {"y": 1, "x": "t"}, "a": 2, "c": {}, "d": {"e": {"f": True}}})
    assert text == 'a = 2\n[b]\nx = "t"\ny = 1\n[c]\n[d.e]\nf = true\n'


def test_a_value_without_a_word_is_refused() -> None:
    with pytest.raises(TypeError):
        dumps({"a": None})


def test_tables_are_merged_and_all_else_is_replaced() -> None:
    below = {"a": {"x": 1, "l": [1, 2]}, "b": 1, "c": {"y": 1}}
    above = {"a": {"l": [3]}, "b": {"z": 1}, "c": 5}
    assert merge(below, above) == {"a": {"x": 1, "l": [3]}, "b": {"z": 1}, "c": 5}
    assert below == {"a": {"x": 1, "l": [1, 2]}, "b": 1, "c": {"y": 1}}
