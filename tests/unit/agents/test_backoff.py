"""Promises of quintant.agents.backoff."""

from __future__ import annotations

from random import Random

from quintant.agents.backoff import BASE_SECONDS, CAP_SECONDS, full_jitter


class Most(Random):
    """Chance that is always the latest."""

    def uniform(self, a: float, b: float) -> float:
        return b


def test_longest_wait_doubles_up_to_a_cap() -> None:
    waits = [full_jitter(failures, Most()) for failures in (1, 2, 3, 100)]
    assert waits == [BASE_SECONDS, 2 * BASE_SECONDS, 4 * BASE_SECONDS, CAP_SECONDS]


def test_programs_that_failed_together_return_apart() -> None:
    waits = {full_jitter(5, Random(seed)) for seed in range(100)}
    assert len(waits) == 100
    assert min(waits) < 1 < max(waits) <= 16 * BASE_SECONDS
