from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.multiplex.window import agree_window
from quintant.wire.portal import STREAMS, WINDOW_BYTES


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 20), st.integers(1, 1 << 20))
def test_both_ends_have_what_the_more_modest_wants(window: int, streams: int, most: int) -> None:
    chosen, many = agree_window(window, streams, most)
    assert chosen == max(1, min(window, WINDOW_BYTES))
    assert many == max(1, min(streams, most))
    assert agree_window(window, streams)[1] <= STREAMS
