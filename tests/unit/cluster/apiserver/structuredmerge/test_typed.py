"""Objects through their shape: claims, comparisons, merges and removals."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.structuredmerge.atoms import AtomKind
from quintant.cluster.apiserver.structuredmerge.fieldset import FieldSet
from quintant.cluster.apiserver.structuredmerge.schema import (
    DEDUCED,
    DeclaredSchema,
    ListType,
    TypingError,
)
from quintant.cluster.apiserver.structuredmerge.typed import (
    compare,
    ensure_named_members,
    field_set_of,
    merge,
    remove,
)
from testbeds.call_counter import counted_calls

ITEM = DeclaredSchema(fields={"name": DEDUCED, "value": DEDUCED})
LIST = DeclaredSchema(list_type=ListType.MAP, keys={"name": None}, items=ITEM)
SET = DeclaredSchema(list_type=ListType.SET)
SHAPE = DeclaredSchema(
    fields={
        "spec": DeclaredSchema(
            fields={
                "items": LIST,
                "tags": SET,
                "labels": DEDUCED,
                "whole": DeclaredSchema(atomic=True),
                "plain": DEDUCED,
                "size": DEDUCED,
            }
        )
    }
)
NAMES = st.sampled_from("abcd")
ITEMS = st.dictionaries(NAMES, st.integers(0, 2), max_size=4).map(
    lambda found: [{"name": name, "value": value} for name, value in found.items()]
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "items": ITEMS,
        "tags": st.lists(NAMES, unique=True, max_size=3),
        "labels": st.dictionaries(NAMES, NAMES, max_size=3),
        "whole": st.dictionaries(NAMES, NAMES, max_size=2),
        "plain": st.lists(st.integers(0, 2), max_size=2),
        "size": st.integers(0, 2),
    },
)
OBJECTS = SPECS.map(lambda spec: {"spec": spec})


@given(OBJECTS, OBJECTS)
def test_what_was_configured_is_there_after_a_merge(
    live: dict[str, Any], config: dict[str, Any]
) -> None:
    merged = merge(live, config, SHAPE)
    claimed = field_set_of(config, SHAPE)
    assert not claimed & compare(config, merged, SHAPE).modified
    assert not claimed & compare(config, merged, SHAPE).removed


@given(OBJECTS)
def test_merging_an_object_with_itself_changes_nothing(obj: dict[str, Any]) -> None:
    assert merge(obj, obj, SHAPE) == obj
    assert not compare(obj, obj, SHAPE)


@given(OBJECTS, OBJECTS)
def test_merging_twice_is_merging_once(live: dict[str, Any], config: dict[str, Any]) -> None:
    once = merge(live, config, SHAPE)
    assert merge(once, config, SHAPE) == once


@given(OBJECTS, OBJECTS)
def test_what_one_comparison_adds_the_opposite_removes(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    there, back = compare(one, other, SHAPE), compare(other, one, SHAPE)
    assert set(there.added) == set(back.removed)
    assert set(there.modified) == set(back.modified)


@given(OBJECTS)
def test_removing_everything_leaves_nothing(obj: dict[str, Any]) -> None:
    everything = ensure_named_members(compare({}, obj, SHAPE).added, SHAPE)
    assert remove(obj, everything, SHAPE) is None


def test_declared_fields_are_not_claimed_for_being_there_but_map_keys_are() -> None:
    config = {"spec": {"labels": {"a": "1"}, "items": [{"name": "x"}], "tags": ["t"]}}
    assert field_set_of(config, SHAPE).encode() == {
        "f:spec": {
            "f:items": {'k:{"name":"x"}': {".": {}, "f:name": {}}},
            "f:labels": {"f:a": {}},
            "f:tags": {'v:"t"': {}},
        }
    }


def test_an_atomic_map_and_a_plain_list_are_claimed_as_one_value() -> None:
    config = {"spec": {"whole": {"a": "1"}, "plain": [1, 2]}}
    assert field_set_of(config, SHAPE).encode() == {"f:spec": {"f:plain": {}, "f:whole": {}}}


def test_a_creation_adds_the_containers_too() -> None:
    added = compare({"spec": {}}, {"spec": {"labels": {"a": "1"}}}, SHAPE).added
    assert added.encode() == {"f:spec": {"f:labels": {".": {}, "f:a": {}}}}


def test_what_loses_its_last_field_is_null() -> None:
    gone = FieldSet.of(("f:spec", "f:labels", "f:a"))
    left = remove({"spec": {"labels": {"a": "1"}, "size": 1}}, gone, SHAPE)
    assert left == {"spec": {"labels": None, "size": 1}}


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (
            {"spec": {"items": [{"name": "a"}, {"name": "a"}]}},
            '.spec.items: duplicate entries for key [name="a"]',
        ),
        (
            {"spec": {"items": [{"value": 1}]}},
            ".spec.items: element 0: associative list with keys has an element that omits all "
            'key fields ["name"] (and doesn\'t have default values for any key fields)',
        ),
        (
            {"spec": {"items": ["a"]}},
            ".spec.items: element 0: associative list with keys may not have non-map elements",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_says_where(config: Any, complaint: str) -> None:
    with pytest.raises(TypingError) as refused:
        field_set_of(config, SHAPE)
    assert str(refused.value) == complaint


def test_a_closed_shape_refuses_undeclared_fields() -> None:
    closed = DeclaredSchema(fields={"spec": DeclaredSchema(fields={"size": DEDUCED}, closed=True)})
    with pytest.raises(TypingError, match="field not declared in schema"):
        field_set_of({"spec": {"unknown": 1}}, closed)


INSIDE = DeclaredSchema(
    fields={"x": DeclaredSchema(atom=AtomKind.TEXT), "free": DEDUCED},
    atom=AtomKind.MAP,
    closed=True,
)
WHOLE = DeclaredSchema(
    fields={
        "list": DeclaredSchema(atom=AtomKind.LIST, items=INSIDE),
        "map": DeclaredSchema(fields={"below": INSIDE}, atomic=True, closed=True),
    },
    closed=True,
)


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"list": [{"x": "a"}, {"y": 1}]}, ".list[1].y: field not declared in schema"),
        ({"list": [1]}, ".list[0]: expected map, got &{1}"),
        ({"map": {"y": 1}}, ".map.y: field not declared in schema"),
        ({"map": {"below": {"y": None}}}, ".map.below.y: field not declared in schema"),
        (
            {"map": {"below": {"x": 1}}},
            ".map.below.x: expected string, got &value.valueUnstructured{Value:1}",
        ),
    ],
)
def test_what_is_owned_as_a_whole_has_to_fit_inside(config: Any, complaint: str) -> None:
    with pytest.raises(TypingError) as refused:
        field_set_of(config, WHOLE)
    assert str(refused.value) == complaint


def test_what_is_owned_as_a_whole_may_be_anything_where_no_type_is_known() -> None:
    config = {"list": [None, {"x": None, "free": {"y": [{"z": 1}]}}], "map": {}}
    assert field_set_of(config, WHOLE).encode() == {"f:list": {}, "f:map": {}}


def test_what_is_new_is_walked_through_once() -> None:
    leaves = {f"k{at}": "v" for at in range(100)}
    new = {f"m{at}": dict(leaves) for at in range(10)}
    with counted_calls() as counter:
        added = compare({}, new, DEDUCED).added
    assert len(list(added)) == 10 * 100 + 10
    # For a leaf: its name, its shape, and whether something is below it.
    assert counter.calls < 10 * 1000
