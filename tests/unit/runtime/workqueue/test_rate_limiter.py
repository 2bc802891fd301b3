"""Delays after failures: doubling per key, capped, forgotten, and overall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.client.token_bucket import TokenBucket
from quintant.runtime.workqueue.rate_limiter import ExponentialRateLimiter


def test_delays_double_from_five_milliseconds_to_a_thousand_seconds() -> None:
    limiter: ExponentialRateLimiter[str] = ExponentialRateLimiter()
    delays = [limiter.when("a") for _ in range(200)]
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[17] == pytest.approx(655.36)
    assert delays[18:] == [1000.0] * 182


def test_each_key_has_its_own_count() -> None:
    limiter: ExponentialRateLimiter[str] = ExponentialRateLimiter()
    limiter.when("a")
    limiter.when("a")
    assert limiter.when("b") == 0.005
    assert (limiter.failures("a"), limiter.failures("b"), limiter.failures("c")) == (2, 1, 0)


def test_a_forgotten_key_starts_over() -> None:
    limiter: ExponentialRateLimiter[str] = ExponentialRateLimiter()
    limiter.when("a")
    limiter.when("a")
    limiter.forget("a")
    limiter.forget("never seen")
    assert limiter.failures("a") == 0
    assert limiter.when("a") == 0.005


@given(first=st.floats(1e-3, 10), cap=st.floats(10, 1e5), failures=st.integers(1, 2000))
def test_no_delay_is_below_the_first_or_above_the_cap(
    first: float, cap: float, failures: int
) -> None:
    limiter: ExponentialRateLimiter[str] = ExponentialRateLimiter(first=first, cap=cap)
    delays = [limiter.when("a") for _ in range(failures)]
    assert delays == sorted(delays)
    assert delays[0] == first
    assert delays[-1] <= cap
    assert failures < 30 or delays[-1] == cap


async def test_an_overall_bucket_delays_many_keys_that_fail_together() -> None:
    limiter: ExponentialRateLimiter[int] = ExponentialRateLimiter(
        bucket=TokenBucket(rate=10, burst=100)
    )
    delays = [limiter.when(key) for key in range(200)]
    assert delays[:100] == [0.005] * 100
    assert delays[199] == pytest.approx(10.0)


async def test_the_longer_of_both_delays_counts() -> None:
    limiter: ExponentialRateLimiter[str] = ExponentialRateLimiter(
        first=5.0, bucket=TokenBucket(rate=10, burst=1)
    )
    assert [limiter.when("a") for _ in range(2)] == [5.0, 10.0]
