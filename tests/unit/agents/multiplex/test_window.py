from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.multiplex.window import MEMORY_BYTES, STREAMS, agree_window
from quintant.wire.portal import WINDOW_BYTES


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 20))
def test_a_session_never_promises_more_memory_than_it_has(window: int, streams: int) -> None:
    chosen, many = agree_window(window, streams)
    assert 1 <= chosen <= WINDOW_BYTES
    assert 1 <= many <= STREAMS
    assert chosen * many <= MEMORY_BYTES
