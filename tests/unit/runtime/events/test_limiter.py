"""The same about the same object is told once a minute."""

from __future__ import annotations

from quintant.runtime.events.limiter import EventLimiter


def test_the_same_is_told_once_a_minute() -> None:
    limiter = EventLimiter()
    told = [limiter.allows("uid", "Waiting", now) for now in (0.0, 30.0, 59.0, 60.0, 61.0)]
    assert told == [True, False, False, True, False]


def test_another_reason_and_another_object_are_told_at_once() -> None:
    limiter = EventLimiter()
    assert limiter.allows("uid", "Waiting", 0.0)
    assert limiter.allows("uid", "PeerDown", 0.0)
    assert limiter.allows("other", "Waiting", 0.0)


def test_what_is_not_retained_may_be_told_again() -> None:
    limiter = EventLimiter(seconds=10.0)
    for key in ("here", "gone"):
        limiter.allows(key, "Waiting", 0.0)
    limiter.retain({"here"})
    assert not limiter.allows("here", "Waiting", 1.0)
    assert limiter.allows("gone", "Waiting", 1.0)
