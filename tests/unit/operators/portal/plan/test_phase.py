"""The phase follows from what it was and what is seen."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.portal.api import Phase
from quintant.operators.portal.plan.phase import Observation, step

counts = st.integers(0, 3)
observations = st.builds(
    Observation, st.booleans(), counts, counts, counts, counts, st.booleans(), st.booleans()
)
phases = st.none() | st.sampled_from(get_args(Phase))


@pytest.mark.parametrize(
    ("ready", "total", "connected", "relays", "phase"),
    [
        (1, 1, 1, 1, "Ready"),
        (0, 1, 0, 1, "Pending"),
        (1, 1, 0, 1, "Degraded"),
        (0, 1, 1, 1, "Degraded"),
        (0, 0, 0, 0, "Failed"),
        (2, 3, 2, 2, "Degraded"),
        (4, 3, 2, 2, "Ready"),
    ],
)
def test_phase_of_one_that_is_new(
    ready: int, total: int, connected: int, relays: int, phase: Phase
) -> None:
    seen = Observation(ready=ready, total=total, connected=connected, relays=relays)
    assert step(None, seen) == phase


def test_what_never_worked_is_pending_until_its_deadline() -> None:
    assert step("Pending", Observation(total=1, relays=1)) == "Pending"
    assert step("Pending", Observation(total=1, relays=1, overdue=True)) == "Failed"


@pytest.mark.parametrize("before", ["Ready", "Degraded"])
def test_what_worked_and_does_no_longer_has_failed(before: Phase) -> None:
    assert step(before, Observation(total=1, relays=1)) == "Failed"


def test_what_failed_stays_so_until_something_changes() -> None:
    assert step("Failed", Observation(total=1, relays=1)) == "Failed"
    assert step("Failed", Observation(total=1, relays=1, afresh=True)) == "Pending"


@given(phases, observations)
def test_ready_means_that_everything_is(before: Phase | None, seen: Observation) -> None:
    whole = seen.ready >= seen.total > 0 and seen.connected == seen.relays > 0
    assert (step(before, seen) == "Ready") == (whole and not seen.blocked)


@given(phases, observations)
def test_a_second_look_at_the_same_changes_nothing(before: Phase | None, seen: Observation) -> None:
    once = step(before, seen)
    settled = Observation(
        seen.blocked, seen.ready, seen.total, seen.connected, seen.relays, seen.overdue
    )
    assert step(once, settled) == once


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, "Pending"), ("Pending", "Pending"), ("Ready", "Degraded"), ("Degraded", "Degraded")],
)
def test_first_word_of_a_new_tunnel_is_waited_for(before: Phase | None, after: Phase) -> None:
    seen = Observation(ready=1, total=1, relays=1, unheard=True)
    assert step(before, seen) == after
