"""What happens in a simulation follows from its seed, and leaves time for calm."""

from __future__ import annotations

from itertools import pairwise

import pytest

from quintant.testing.simulate.plan import (
    DAY_SECONDS,
    LEAST_CALM_SECONDS,
    Occurrence,
    periods,
    plan,
)

NODE, POD = Occurrence("node dies", 3600.0, 900.0), Occurrence("pod is deleted", 1800.0)


def test_a_seed_gives_the_same_plan_and_another_seed_another() -> None:
    assert plan(1, DAY_SECONDS, [NODE, POD]) == plan(1, DAY_SECONDS, [POD, NODE])
    assert plan(1, DAY_SECONDS, [NODE]) != plan(2, DAY_SECONDS, [NODE])


def test_what_else_happens_does_not_change_when_something_does() -> None:
    together = [each for each in plan(1, DAY_SECONDS, [NODE, POD]) if each.name == NODE.name]
    assert together == plan(1, DAY_SECONDS, [NODE])


def test_nothing_begins_or_lasts_in_a_calm() -> None:
    found = plan(3, DAY_SECONDS, [NODE, POD])
    for period in periods(DAY_SECONDS):
        assert not [each for each in found if period.calm < each.at < period.ends]
        assert not [each for each in found if each.at < period.calm < each.until]


def test_it_happens_about_as_often_as_it_says() -> None:
    count = len(plan(1, 30 * DAY_SECONDS, [POD]))
    expected = 30 * DAY_SECONDS / POD.every
    assert 0.6 * expected < count < expected


@pytest.mark.parametrize("days", [0.01, 0.2, 1.0, 7.0])
def test_periods_follow_each_other_and_each_has_a_calm(days: float) -> None:
    found = periods(days * DAY_SECONDS)
    assert found[0].begins == 0
    assert found[-1].ends == pytest.approx(days * DAY_SECONDS)
    for before, after in pairwise(found):
        assert before.ends == pytest.approx(after.begins)
    for each in found:
        length = each.ends - each.begins
        assert each.ends - each.calm >= min(LEAST_CALM_SECONDS, length / 2) - 0.001
        assert each.calm - each.begins >= length / 2 - 0.001
