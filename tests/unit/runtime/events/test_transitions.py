"""A condition that takes on a status or a reason is told of once."""

from __future__ import annotations

import pytest

from quintant.api.events import PlannedEvent
from quintant.api.meta import Condition
from quintant.runtime.events.transitions import Transition, transition_events

TABLE = (
    Transition("ServiceExists", status="False", event="ServiceNotFound", note="no Service 'web'"),
    Transition("Ready", reason="Stuck"),
    Transition("Ready", status="True", type="Normal", action="Start"),
)
UP = Condition(type="Ready", status="True", reason="Running", message="all is well")
STUCK = Condition(type="Ready", status="False", reason="Stuck", message="no memory")
MISSING = Condition(type="ServiceExists", status="False", reason="NotFound", message="long text")


def told(before: tuple[Condition, ...], after: tuple[Condition, ...]) -> list[PlannedEvent]:
    return list(transition_events(before, after, TABLE))


def test_new_status_is_told_in_the_words_of_the_table() -> None:
    expected = PlannedEvent("Warning", "ServiceNotFound", "no Service 'web'")
    assert told((), (MISSING,)) == [expected]
    found = Condition(type="ServiceExists", status="True")
    assert told((found,), (MISSING,)) == [expected]


def test_where_the_table_has_no_words_the_condition_has_them() -> None:
    assert told((UP,), (STUCK,)) == [PlannedEvent("Warning", "Stuck", "no memory")]
    assert told((STUCK,), (UP,)) == [PlannedEvent("Normal", "Running", "all is well", "Start")]


@pytest.mark.parametrize("same", [(), (UP,), (STUCK, MISSING)])
def test_what_stays_is_not_told_again(same: tuple[Condition, ...]) -> None:
    assert told(same, same) == []


def test_another_text_is_no_transition() -> None:
    other = Condition(type="Ready", status="False", reason="Stuck", message="still no memory")
    assert told((STUCK,), (other,)) == []


def test_condition_that_vanishes_is_not_told_of() -> None:
    assert told((STUCK, MISSING), ()) == []


def test_events_come_in_the_order_of_the_table() -> None:
    assert [each.reason for each in told((), (STUCK, MISSING))] == ["ServiceNotFound", "Stuck"]
