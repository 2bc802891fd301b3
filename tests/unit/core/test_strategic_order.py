"""Lists in the order others want."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.strategic_order import (
    PATCH,
    ListInList,
    PatchError,
    check_order,
    element_type,
    ordered,
    union,
)

VALUES = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(VALUES, VALUES, VALUES)
def test_nothing_is_lost_or_added(items: list[str], order: list[str], live: list[str]) -> None:
    assert sorted(ordered(items, order, live, "")) == sorted(items)


@given(VALUES, VALUES)
def test_what_an_order_names_comes_in_that_order(items: list[str], order: list[str]) -> None:
    found = [item for item in ordered(items, order, items, "") if item in order]
    assert found == [item for item in order if item in items]


@given(VALUES, VALUES)
def test_what_it_does_not_name_stays_in_its_own(items: list[str], order: list[str]) -> None:
    found = [item for item in ordered(items, order, items, "") if item not in order]
    assert found == [item for item in items if item not in order]


@given(VALUES)
def test_an_order_that_is_there_already_changes_nothing(items: list[str]) -> None:
    assert ordered(items, items[::2], items, "") == items


def test_items_are_told_apart_by_their_key() -> None:
    items = [{"name": "a", "x": 1}, {"name": "b"}]
    order = [{"name": "b"}, {"name": "a"}]
    assert ordered(items, order, items, "name") == [{"name": "b"}, {"name": "a", "x": 1}]


@given(VALUES, VALUES)
def test_a_union_has_every_value_once(one: list[str], other: list[str]) -> None:
    assert union(one, other) == list(dict.fromkeys(one + other))


def test_truth_is_not_one() -> None:
    assert union([1], [True]) == [1, True]


@pytest.mark.parametrize(
    ("lists", "error"),
    [(([], []), PatchError), ((["a"], [1]), PatchError), (([["a"]],), ListInList)],
)
def test_items_are_all_of_one_type_and_no_lists(
    lists: tuple[list[object], ...], error: type[PatchError]
) -> None:
    with pytest.raises(PatchError) as refused:
        element_type(*lists)
    assert type(refused.value) is error


def test_a_refusal_spells_its_values_as_it_is_told() -> None:
    with pytest.raises(PatchError) as refused:
        element_type(["a"], [1])
    assert str(refused.value) == "list element types are not identical: (['a'], [1])"
    assert refused.value.spelt(lambda value: "…") == "list element types are not identical: …"


@given(VALUES, st.data())
def test_an_order_has_every_item_of_a_patch_in_the_patchs_order(
    order: list[str], data: st.DataObject
) -> None:
    picked = [item for item in order if data.draw(st.booleans())]
    check_order([{PATCH: "delete", "name": "x"}, *picked], order, "")
    if len(picked) > 1:
        with pytest.raises(PatchError, match="doesn't match"):
            check_order(picked[::-1], order, "")
