from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.runtime.shard.range_states import (
    OURS,
    WORKING,
    WRITING,
    RangeEvent,
    RangeState,
    next_state,
)

STEPS = {
    ("FOREIGN", "TAKE"): "TAKING",
    ("FOREIGN", "TAKEN"): "FILLING",
    ("TAKING", "TAKEN"): "FILLING",
    ("TAKING", "NOT_TAKEN"): "FOREIGN",
    ("FILLING", "FILLED"): "HELD",
    ("FILLING", "GIVE"): "DRAINING",
    ("HELD", "GIVE"): "DRAINING",
    ("DRAINING", "DRAINED"): "RELEASING",
    ("RELEASING", "RELEASED"): "FOREIGN",
}


@pytest.mark.parametrize("state", RangeState)
@pytest.mark.parametrize("event", RangeEvent)
def test_every_state_has_an_answer_to_every_event(state: RangeState, event: RangeEvent) -> None:
    lost = "FOREIGN" if event is RangeEvent.LOST else state.name
    wanted = STEPS.get((state.name, event.name), lost)

    assert next_state(state, event).name == wanted


@given(st.lists(st.sampled_from(sorted(RangeEvent, key=lambda event: event.value))))
def test_nothing_is_at_work_that_was_not_filled_since_it_was_taken(
    events: list[RangeEvent],
) -> None:
    state, filled = RangeState.FOREIGN, False
    for event in events:
        before, state = state, next_state(state, event)
        if state is RangeState.FILLING and before is not state:
            filled = False
        if before is RangeState.FILLING and event is RangeEvent.FILLED:
            filled = True
        assert filled or state not in WORKING


def test_what_may_write_is_ours_and_what_is_released_may_not() -> None:
    assert WORKING < WRITING < OURS
    assert {RangeState.FILLING, RangeState.RELEASING} == OURS - WRITING
