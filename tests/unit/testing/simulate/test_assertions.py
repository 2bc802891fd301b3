"""What does not hold is told once; what is to happen sometime is counted."""

from __future__ import annotations

import pytest

from quintant.testing.simulate.assertions import MOST_SHOWN, Assertions
from quintant.testing.simulate.timeline import Timeline


def made() -> tuple[Assertions, list[str]]:
    shown: list[str] = []
    return Assertions(Timeline(lambda: 0.0, shown.append)), shown


def test_what_must_hold_always_is_asked_after_writes_to_its_tables_alone() -> None:
    assertions, _ = made()
    assertions.always(lambda: ["two of one"], "pods")
    assertions.written("nodes")
    assert assertions.violations == []
    assertions.written("pods")
    assert assertions.violations == ["always: two of one"]


def test_a_violation_is_told_once_however_often_it_is_seen() -> None:
    assertions, shown = made()
    assertions.at_rest(lambda: ["it is down"])
    assertions.rest()
    assertions.rest()
    assert shown == ["0d00:00:00  ! at rest: it is down"]


def test_violations_do_not_fill_the_memory() -> None:
    assertions, _ = made()
    for number in range(3 * MOST_SHOWN):
        assertions.violate(f"number {number}")
    assert len(assertions.violations) == MOST_SHOWN


def test_what_is_to_happen_sometime_is_counted_if_it_holds() -> None:
    assertions, _ = made()
    assertions.expect("both at once", "never")
    assertions.sometimes("both at once")
    assertions.sometimes("both at once", holds=False)
    assert assertions.reached == {"both at once": 1, "never": 0}


def test_what_nobody_expects_is_a_mistake() -> None:
    with pytest.raises(AssertionError):
        made()[0].sometimes("a misspelt name")
