from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.structuredmerge.fieldset import (
    RUN,
    FieldSet,
    Path,
    key_element,
    shown,
    value_element,
)

ELEMENTS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
PATHS = st.lists(ELEMENTS, min_size=1, max_size=4).map(tuple)
PATH_SETS = st.frozensets(PATHS, max_size=12)


def field_set(paths: frozenset[Path]) -> FieldSet:
    return FieldSet.of(*paths)


@given(PATH_SETS)
def test_a_set_holds_exactly_what_was_put_in(paths: frozenset[Path]) -> None:
    assert set(field_set(paths)) == paths
    assert all(path in field_set(paths) for path in paths)


@given(PATH_SETS)
def test_reading_what_was_written_gives_the_same_set(paths: frozenset[Path]) -> None:
    assert FieldSet.decode(field_set(paths).encode()) == field_set(paths)


@given(PATH_SETS, PATH_SETS)
def test_union_intersection_and_difference_are_those_of_sets(
    one: frozenset[Path], other: frozenset[Path]
) -> None:
    assert set(field_set(one) | field_set(other)) == one | other
    assert set(field_set(one) & field_set(other)) == one & other
    assert set(field_set(one) - field_set(other)) == one - other


@given(PATH_SETS, PATH_SETS)
def test_covers_and_overlaps_are_those_of_sets(
    one: frozenset[Path], other: frozenset[Path]
) -> None:
    assert field_set(one).covers(field_set(other)) is (one >= other)
    assert field_set(one | other).covers(field_set(other))
    assert field_set(one).overlaps(field_set(other)) is not one.isdisjoint(other)


@given(PATH_SETS, PATH_SETS)
def test_without_takes_what_is_below_along(one: frozenset[Path], other: frozenset[Path]) -> None:
    left = {
        path
        for path in one
        if not any(path[:length] in other for length in range(1, len(path) + 1))
    }
    assert set(field_set(one).without(field_set(other))) == left


@given(PATH_SETS, PATH_SETS)
def test_operations_leave_their_operands_alone(
    one: frozenset[Path], other: frozenset[Path]
) -> None:
    left, right = field_set(one), field_set(other)
    _ = (left | right, left & right, left - right, left.without(right))
    assert set(left) == one
    assert set(right) == other


def test_a_set_is_empty_when_nothing_is_in_it() -> None:
    assert not FieldSet()
    assert FieldSet.of(("f:a",))
    assert not FieldSet.of(("f:a",)) - FieldSet.of(("f:a",))


def test_members_with_children_are_written_with_a_dot() -> None:
    both = FieldSet.of(("f:data",), ("f:data", "f:a"))
    assert both.encode() == {"f:data": {".": {}, "f:a": {}}}
    assert FieldSet.of(("f:data", "f:a")).encode() == {"f:data": {"f:a": {}}}


def test_keys_are_written_in_the_order_of_their_names() -> None:
    assert key_element({"protocol": "TCP", "port": 80}) == 'k:{"port":80,"protocol":"TCP"}'
    assert value_element("a/b") == 'v:"a/b"'


def test_paths_are_shown_as_a_real_server_shows_them() -> None:
    container = key_element({"name": "app"})
    assert shown(("f:spec", "f:containers", container, "f:image")) == (
        '.spec.containers[name="app"].image'
    )
    assert shown(("f:metadata", "f:finalizers", 'v:"a"')) == '.metadata.finalizers[="a"]'
    assert shown(("f:list", "i:3")) == ".list[3]"


def test_very_many_elements_are_in_order_too() -> None:
    names = [f"f:k{at}" for at in range(2 * RUN + 1)]
    assert list(FieldSet.of(*((name,) for name in names)).encode()) == sorted(names)
