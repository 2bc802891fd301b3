"""A rate that is kept, after a burst that is not."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.client.token_bucket import TokenBucket
from quintant.core.errors import ConfigError
from quintant.testing.loop import advance, run


async def test_burst_passes_at_once_and_the_rest_at_the_rate() -> None:
    bucket = TokenBucket(rate=10, burst=3)
    assert [bucket.reserve() for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.2])
    await advance(0.2)
    assert bucket.reserve() == pytest.approx(0.1)
    await advance(60)
    assert [bucket.reserve() for _ in range(3)] == pytest.approx([0, 0, 0])


async def test_buckets_that_share_a_rate_let_no_more_pass_together() -> None:
    buckets = [TokenBucket(10, 9) for _ in range(3)]
    for bucket in buckets:
        bucket.divide(3)
    assert [sum(not each.reserve() for _ in range(20)) for each in buckets] == [3, 3, 3]

    buckets[0].divide(1)
    await advance(10)
    assert sum(not buckets[0].reserve() for _ in range(20)) == 9


async def test_token_that_comes_too_late_is_not_taken() -> None:
    bucket = TokenBucket(rate=1)
    assert bucket.reserve() == 0
    assert [bucket.reserve(within=0.5) for _ in range(9)] == [None] * 9
    assert bucket.reserve(within=1) == pytest.approx(1)


@given(
    rate=st.floats(0.1, 1000),
    burst=st.integers(1, 50),
    pauses=st.lists(st.floats(0, 5), min_size=1, max_size=60),
)
def test_no_window_has_more_than_its_rate_and_a_burst(
    rate: float, burst: int, pauses: list[float]
) -> None:
    async def times() -> list[float]:
        bucket, now, found = TokenBucket(rate, burst), 0.0, []
        for pause in pauses:
            await advance(pause)
            now += pause
            found.append(now + (bucket.reserve() or 0.0))
        return found

    taken = run(times())
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            allowed = burst + rate * (taken[last] - taken[first])
            assert last - first + 1 <= allowed + 1e-6 * len(taken)


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (math.inf, 1), (math.nan, 1), (1, 0)])
def test_bucket_that_makes_no_sense_is_refused(rate: float, burst: int) -> None:
    with pytest.raises(ConfigError, match="makes no sense"):
        TokenBucket(rate, burst)
