"""The parts of a network, from what its members see."""

from __future__ import annotations

from quintant.operators.klight.plan.parts import lacking, parts, union


def test_members_that_see_each_other_are_one_part() -> None:
    assert parts({"a": {"a", "b"}, "b": {"a", "b", "c"}, "c": {"b", "c"}}) == [["a", "b", "c"]]


def test_largest_part_comes_first() -> None:
    views = {"a": {"a"}, "b": {"b", "c"}, "c": {"b", "c"}}
    assert parts(views) == [["b", "c"], ["a"]]


def test_one_sided_sight_is_no_bond() -> None:
    assert parts({"a": {"a", "b"}, "b": {"b"}}) == [["a"], ["b"]]


def test_nobody_is_no_part() -> None:
    assert parts({}) == []


def test_union_keeps_everything_in_order_and_what_was_written_twice_twice() -> None:
    first, second = [b"c", b"b", b"a", b"a"], [b"x", b"b", b"a"]
    assert union([first, second]) == [b"a", b"a", b"b", b"c", b"x"]
    assert union([]) == []


def test_what_one_lacks_is_what_the_others_have_besides() -> None:
    assert lacking([b"b", b"a"], [[b"c", b"b", b"a"], [b"d"]]) == [b"c", b"d"]
    assert lacking([b"a"], [[b"a"]]) == []
