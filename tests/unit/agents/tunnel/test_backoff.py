from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.tunnel.backoff import (
    BASE_SECONDS,
    CAP_SECONDS,
    HELD_SECONDS,
    REFUSED_CAP_SECONDS,
    STEADY_SECONDS,
    Attempt,
    Backoff,
)
from quintant.wire.portal import Close


class Most(Random):
    """Chance at its worst: always the longest wait."""

    def uniform(self, a: float, b: float) -> float:
        return b


def waits(attempt: Attempt, many: int) -> list[float]:
    memory, found = Backoff(), []
    for _ in range(many):
        memory, wait = memory.after(attempt, Most())
        found.append(wait)
    return found


def test_waits_double_up_to_a_cap() -> None:
    assert waits(Attempt(), 4) == [BASE_SECONDS * factor for factor in (1, 2, 4, 8)]
    assert waits(Attempt(), 30)[-1] == CAP_SECONDS


def test_a_refused_token_waits_longer() -> None:
    assert waits(Attempt(Close.UNAUTHENTICATED), 30)[-1] == REFUSED_CAP_SECONDS
    assert waits(Attempt(Close.NOT_ALLOWED), 30)[-1] == REFUSED_CAP_SECONDS


def test_a_held_name_is_asked_for_steadily() -> None:
    assert waits(Attempt(Close.HELD), 20) == [HELD_SECONDS[1]] * 20


def test_a_steady_connection_is_forgiven() -> None:
    memory = Backoff(failures=9)
    assert memory.after(Attempt(connected=STEADY_SECONDS), Most())[1] == BASE_SECONDS


@given(st.integers(0, 100), st.floats(0, 100), st.integers())
def test_a_relay_that_says_when_is_obeyed(failures: int, after: float, seed: int) -> None:
    _, wait = Backoff(failures).after(Attempt(retry_after=after), Random(seed))
    assert wait >= after
    assert wait <= max(after, CAP_SECONDS)
