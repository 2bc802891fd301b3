"""Limits per visitor and per app: a burst at once, then so many per second, and no more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.relay.rate_limits import VISITORS, RateRefusal, RequestLimiter
from quintant.wire.portal import RequestRate, RequestRates


def limiter(visitor: RequestRate | None = None, app: RequestRate | None = None) -> RequestLimiter:
    made = RequestLimiter()
    made.configure("shop", RequestRates(visitor, app))
    return made


def test_apps_without_limits_are_let_through() -> None:
    made = RequestLimiter()
    assert all(made.refuse("shop", "a", 0.0) is None for _ in range(1000))
    assert len(made) == 0, "and nobody is remembered"


def test_a_burst_passes_and_the_next_is_told_when_to_come() -> None:
    made = limiter(visitor=RequestRate(0.5, 3))
    assert [made.refuse("shop", "a", 10.0) for _ in range(3)] == [None, None, None]
    assert made.refuse("shop", "a", 10.0) == RateRefusal("visitor_rate", 2)
    assert made.refuse("shop", "b", 10.0) is None, "another address has a burst of its own"
    assert made.refuse("shop", "a", 11.9) is not None
    assert made.refuse("shop", "a", 12.0) is None


def test_visitors_together_have_a_limit_and_those_refused_do_not_count() -> None:
    made = limiter(visitor=RequestRate(1, 5), app=RequestRate(1, 2))
    assert [made.refuse("shop", who, 0.0) for who in "ab"] == [None, None]
    for _ in range(10):
        assert made.refuse("shop", "c", 0.0) == RateRefusal("app_rate", 1)
    assert made.refuse("shop", "c", 1.0) is None


def test_the_last_tunnel_is_right_about_the_limits() -> None:
    made = limiter(app=RequestRate(1, 1))
    assert made.refuse("shop", "a", 0.0) is None
    assert made.refuse("shop", "a", 0.0) is not None
    made.configure("shop", None)
    assert made.refuse("shop", "a", 0.0) is None


def test_visitors_are_forgotten_in_time_and_bounded_in_number() -> None:
    made = limiter(visitor=RequestRate(1, 2))
    for number in range(VISITORS + 10):
        made.refuse("shop", str(number), 0.0)
    assert len(made) == VISITORS
    made.sweep(1.0, lambda app: True)
    assert len(made) == 0
    made.sweep(1.0, lambda app: False)
    assert all(made.refuse("shop", "a", 1.0) is None for _ in range(10)), "the app is gone"


@given(st.lists(st.floats(0, 2), max_size=60), st.integers(1, 9), st.integers(1, 9))
def test_never_more_than_a_burst_and_what_time_brings(
    gaps: list[float], rate: int, burst: int
) -> None:
    made, now, passed = limiter(visitor=RequestRate(rate, burst)), 0.0, 0
    for gap in gaps:
        now += gap
        passed += made.refuse("shop", "a", now) is None
    assert passed <= burst + now * rate + 1e-6
