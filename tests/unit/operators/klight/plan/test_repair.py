"""The parts of a network, from what its members see."""

from __future__ import annotations

from quintant.operators.klight.plan.repair import parts


def test_members_that_see_each_other_are_one_part() -> None:
    assert parts({"a": {"a", "b"}, "b": {"a", "b", "c"}, "c": {"b", "c"}}) == [["a", "b", "c"]]


def test_largest_part_comes_first() -> None:
    views = {"a": {"a"}, "b": {"b", "c"}, "c": {"b", "c"}}
    assert parts(views) == [["b", "c"], ["a"]]


def test_one_sided_sight_is_no_bond() -> None:
    assert parts({"a": {"a", "b"}, "b": {"b"}}) == [["a"], ["b"]]


def test_nobody_is_no_part() -> None:
    assert parts({}) == []
