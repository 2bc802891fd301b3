"""Promises of quintant.runtime.watch.backoff."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.clock import Random
from quintant.runtime.watch.backoff import (
    CALM_SECONDS,
    CAP_SECONDS,
    FIRST_SECONDS,
    RECONNECT_CAP_SECONDS,
    ReflectorBackoff,
)
from quintant.testing.loop import advance


@dataclass(frozen=True, slots=True)
class Worst(Random):
    """Randomness that always gives the largest number."""

    def uniform(self, low: float, high: float) -> float:
        return high


async def test_waits_double_up_to_the_cap() -> None:
    backoff = ReflectorBackoff(Worst())

    waits = [backoff.next() for _ in range(2000)]

    assert waits[:7] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0]
    assert waits[-1] == CAP_SECONDS


async def test_waits_for_a_server_that_does_not_answer_stay_short_and_teach_no_patience() -> None:
    backoff = ReflectorBackoff(Worst())

    waits = [backoff.reconnect() for _ in range(10)]

    assert waits[:3] == [0.8, RECONNECT_CAP_SECONDS, RECONNECT_CAP_SECONDS]
    assert backoff.next() == RECONNECT_CAP_SECONDS


async def test_waits_are_spread_over_all_they_may_be() -> None:
    firsts = [ReflectorBackoff(Random(seed)).next() for seed in range(200)]

    assert min(firsts) < FIRST_SECONDS / 10
    assert max(firsts) > FIRST_SECONDS * 0.9
    assert max(firsts) <= FIRST_SECONDS


async def test_a_calm_time_is_forgiving() -> None:
    backoff = ReflectorBackoff(Worst())
    for _ in range(5):
        await advance(backoff.next())

    await advance(CALM_SECONDS - 1)
    assert backoff.next() == 25.6

    await advance(backoff.next() + CALM_SECONDS + 1)
    assert backoff.next() == FIRST_SECONDS


async def test_what_only_a_person_can_mend_waits_longest() -> None:
    assert ReflectorBackoff(Worst()).longest() == CAP_SECONDS
    waits = [ReflectorBackoff(Random(seed)).longest() for seed in range(50)]
    assert min(waits) >= CAP_SECONDS / 2
