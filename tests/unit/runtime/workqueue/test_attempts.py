"""Things a reconciler tries by itself: each waits longer after each failure."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.core.clock import Random
from quintant.runtime.workqueue.attempts import CAP_SECONDS, FIRST_SECONDS, JITTER, Attempts


def pauses(attempts: Attempts[str], count: int) -> list[float]:
    """The pauses after so many failures in a row."""
    random, now, found = Random(1), 0.0, []
    for _ in range(count):
        attempts.failed("a", now, random)
        found.append(attempts.due("a") - now)
        now = attempts.due("a")
    return found


def test_pauses_double_to_their_cap_and_are_spread() -> None:
    found = pauses(Attempts(), 20)
    assert FIRST_SECONDS * (1 - JITTER) <= found[0] <= FIRST_SECONDS * (1 + JITTER)
    assert max(found) <= CAP_SECONDS * (1 + JITTER)
    assert min(found[8:]) >= CAP_SECONDS * (1 - JITTER)
    assert len(set(found)) == 20


@given(count=st.integers(0, 2000))
def test_no_number_of_failures_is_too_many(count: int) -> None:
    attempts: Attempts[str] = Attempts(jitter=0)
    found = pauses(attempts, count)
    assert found == sorted(found)
    assert attempts.failures("a") == count


def test_what_was_never_tried_is_due() -> None:
    attempts: Attempts[str] = Attempts()
    attempts.failed("a", 5.0, Random(1))
    assert attempts.due("a") > 5.0
    assert attempts.due("b") < 0.0
    assert (attempts.failures("a"), attempts.failures("b")) == (1, 0)


def test_what_only_a_human_can_mend_waits_as_long_as_is_said() -> None:
    attempts: Attempts[str] = Attempts(jitter=0)
    attempts.failed("a", 0.0, Random(1), after=300.0)
    assert attempts.due("a") == 300.0


def test_waiting_is_no_failure() -> None:
    attempts: Attempts[str] = Attempts()
    attempts.wait("a", 7.0)
    assert (attempts.due("a"), attempts.failures("a")) == (7.0, 0)


def test_a_forgotten_thing_starts_over() -> None:
    attempts: Attempts[str] = Attempts(jitter=0)
    pauses(attempts, 5)
    attempts.forget("a")
    attempts.forget("never seen")
    assert attempts.due("a") < 0.0
    assert pauses(attempts, 1) == [FIRST_SECONDS]


def test_only_what_is_retained_is_remembered() -> None:
    attempts: Attempts[str] = Attempts()
    for key in ("here", "gone"):
        attempts.failed(key, 0.0, Random(1))
    attempts.retain({"here"})
    assert (attempts.failures("here"), attempts.failures("gone")) == (1, 0)
    assert attempts.due("gone") < 0.0 < attempts.due("here")
