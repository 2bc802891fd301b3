from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.backoff import BASE_SECONDS, CAP_SECONDS
from quintant.agents.tunnel.backoff import (
    HELD_SECONDS,
    REFUSED_CAP_SECONDS,
    STEADY_SECONDS,
    ConnectAttempt,
    ReconnectBackoff,
)
from quintant.wire.portal import Close


class Most(Random):
    """Chance at its worst: always the longest wait."""

    def uniform(self, a: float, b: float) -> float:
        return b


def waits(attempt: ConnectAttempt, many: int) -> list[float]:
    memory, found = ReconnectBackoff(), []
    for _ in range(many):
        memory, wait = memory.after(attempt, Most())
        found.append(wait)
    return found


def test_waits_double_up_to_a_cap() -> None:
    assert waits(ConnectAttempt(), 4) == [BASE_SECONDS * factor for factor in (1, 2, 4, 8)]
    assert waits(ConnectAttempt(), 30)[-1] == CAP_SECONDS


def test_a_refused_token_waits_longer() -> None:
    assert waits(ConnectAttempt(Close.UNAUTHENTICATED), 30)[-1] == REFUSED_CAP_SECONDS
    assert waits(ConnectAttempt(Close.NOT_ALLOWED), 30)[-1] == REFUSED_CAP_SECONDS


def test_a_held_name_is_asked_for_steadily() -> None:
    assert waits(ConnectAttempt(Close.HELD), 20) == [HELD_SECONDS[1]] * 20


def test_a_steady_connection_is_forgiven() -> None:
    memory = ReconnectBackoff(failures=9)
    assert memory.after(ConnectAttempt(connected=STEADY_SECONDS), Most())[1] == BASE_SECONDS


@given(st.integers(0, 100), st.floats(0, 100), st.integers())
def test_a_relay_that_says_when_is_obeyed(failures: int, after: float, seed: int) -> None:
    _, wait = ReconnectBackoff(failures).after(ConnectAttempt(retry_after=after), Random(seed))
    assert wait >= after
    assert wait <= max(after, CAP_SECONDS)
