from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.multiplex.stream import StreamEvent, StreamState, step


@given(st.lists(st.sampled_from(StreamEvent)))
def test_a_closed_stream_never_opens_again(turns: list[StreamEvent]) -> None:
    state = StreamState.CLOSED
    for turn in turns:
        state = step(state, turn)
    assert state is StreamState.CLOSED


def test_both_sides_have_to_finish() -> None:
    assert step(StreamState.OPEN, StreamEvent.FINISHED) is StreamState.SENT
    assert step(StreamState.SENT, StreamEvent.FINISHED) is StreamState.SENT
    assert step(StreamState.SENT, StreamEvent.ENDED) is StreamState.CLOSED
    assert step(StreamState.OPEN, StreamEvent.ENDED) is StreamState.GOT
    assert step(StreamState.GOT, StreamEvent.FINISHED) is StreamState.CLOSED


@given(st.sampled_from(StreamState))
def test_a_reset_closes_from_any_state(state: StreamState) -> None:
    assert step(state, StreamEvent.RESET) is StreamState.CLOSED
