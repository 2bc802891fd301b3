"""Differences between two states, as handlers read them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quintant.kopf.values.diff import DiffItem, DiffOperation, diff, reduce

JSON: Any = st.recursive(
    st.integers() | st.text(max_size=3) | st.booleans(),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner) | st.lists(inner, max_size=2),
    max_leaves=8,
)


def test_a_difference_is_told_field_by_field() -> None:
    changes = diff({"a": {"x": 1, "y": 2}, "l": [1]}, {"a": {"x": 1, "y": 3}, "l": [1, 2], "n": 0})
    assert sorted(changes) == [
        ("add", ("n",), None, 0),
        ("change", ("a", "y"), 2, 3),
        ("change", ("l",), [1], [1, 2]),
    ]
    assert changes[0].op is changes[0].operation
    assert repr(diff(1, 2)) == "(('change', (), 1, 2),)"


def test_of_one_field_it_is_told_as_seen_from_there() -> None:
    changes = diff({"a": {"x": {"y": 1}}}, {"a": {"x": {"y": 2}}})
    assert reduce(changes, ("a", "x")) == [("change", ("y",), 1, 2)]
    assert reduce(diff({}, {"a": {"x": 1}}), ("a", "x")) == [("add", (), None, 1)]
    assert reduce(changes, ("b",)) == []


@given(JSON, JSON)
def test_it_leads_from_the_old_state_to_the_new(old: Any, new: Any) -> None:
    old, new = {"k": old}, {"k": new}
    made: Any = _copy(old)
    for operation, path, _, value in diff(old, new):
        target = made
        for key in path[:-1]:
            target = target[key]
        if operation is DiffOperation.REMOVE:
            del target[path[-1]]
        else:
            target[path[-1]] = value
    assert made == new
    assert not diff(old, old)


def test_items_compare_like_tuples() -> None:
    assert DiffItem(DiffOperation.ADD, ("a",), None, 1) == ("add", ("a",), None, 1)


def _copy(value: Any) -> Any:
    return {key: _copy(each) for key, each in value.items()} if isinstance(value, dict) else value
