from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.multiplex.stream import State, Turn, step


@given(st.lists(st.sampled_from(Turn)))
def test_a_closed_stream_never_opens_again(turns: list[Turn]) -> None:
    state = State.CLOSED
    for turn in turns:
        state = step(state, turn)
    assert state is State.CLOSED


def test_both_sides_have_to_finish() -> None:
    assert step(State.OPEN, Turn.FINISHED) is State.SENT
    assert step(State.SENT, Turn.FINISHED) is State.SENT
    assert step(State.SENT, Turn.ENDED) is State.CLOSED
    assert step(State.OPEN, Turn.ENDED) is State.GOT
    assert step(State.GOT, Turn.FINISHED) is State.CLOSED


@given(st.sampled_from(State))
def test_a_reset_closes_from_any_state(state: State) -> None:
    assert step(state, Turn.RESET) is State.CLOSED
