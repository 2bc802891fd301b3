"""Deep JSON is taken apart as a decoder without a limit would, and without a stack."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quintant.core import codec
from quintant.core.nesting import elements, member_span, pruned

TEXT = st.text(max_size=6) | st.sampled_from(['"', "\\", '\\"', "[{", "}]", '"items":['])
VALUES = st.recursive(
    st.none() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(TEXT, VALUES, max_size=4)
DEPTH = 50_000


def shallow(value: Any, levels: int) -> Any:
    """What `pruned` is to leave of a value."""
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return None
    if isinstance(value, list):
        return [shallow(each, levels - 1) for each in value]
    return {name: shallow(each, levels - 1) for name, each in value.items()}


@given(VALUES, st.integers(min_value=0, max_value=5), st.booleans())
def test_what_is_deeper_is_null_and_all_else_is_the_same(
    value: Any, levels: int, spaced: bool
) -> None:
    raw = json.dumps(value, indent=1 if spaced else None).encode()
    assert json.loads(pruned(raw, levels)) == shallow(value, levels)


@given(st.lists(CONTAINERS, max_size=5), st.booleans())
def test_elements_are_those_of_the_list(values: list[Any], spaced: bool) -> None:
    raw = json.dumps(values, indent=1 if spaced else None).encode()
    assert [json.loads(each) for each in elements(raw)] == values


@given(st.dictionaries(st.sampled_from(["a", "b", "items"]), VALUES), st.booleans())
def test_member_is_that_of_the_outermost_object(value: dict[str, Any], spaced: bool) -> None:
    raw = json.dumps(value, indent=1 if spaced else None).encode()
    span = member_span(raw, "items")
    if isinstance(value.get("items"), dict | list):
        assert span is not None
        assert json.loads(raw[slice(*span)]) == value["items"]
    else:
        assert span is None


def test_any_depth_is_taken() -> None:
    deep = b'{"a":' * DEPTH + b"1" + b"}" * DEPTH
    raw = b'{"metadata":{"name":"x"},"items":[{"spec":1},' + deep + b"]}"
    assert json.loads(pruned(raw, 1)) == {"metadata": None, "items": None}
    span = member_span(raw, "items")
    assert span is not None
    assert list(elements(raw[slice(*span)])) == [b'{"spec":1}', deep]
    assert codec.decode_meta(b'{"spec":' + deep + b',"metadata":{"name":"x"}}').name == "x"


def test_a_string_that_never_ends_is_read_once_only() -> None:
    cut = b'{"metadata":{"name":"x"},"items":[[' + b'"' + b'\\"' * 400_000
    assert pruned(cut, 1).startswith(b'{"metadata":null,')
    assert member_span(cut, "items") is None
    assert list(elements(cut)) == [b'{"name":"x"}']
