"""Promises of quintant.runtime.watch.watch_states."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.runtime.watch.watch_states import (
    EXPIRED_AT_ONCE,
    PATIENCE_SECONDS,
    WatchOutcome,
    WatchPause,
    WatchPhase,
    WatchPosition,
    WatchStep,
    next_step,
)

STREAMING, LISTING, WATCHING = WatchPhase
O, P = WatchOutcome, WatchPause  # noqa: E741

# (phase, outcome) -> (phase, whether the version is kept, whether watch-list is kept, pause)
TABLE = {
    (STREAMING, O.DONE): (WATCHING, True, True, P.NONE),
    (STREAMING, O.ENDED): (LISTING, True, False, P.NONE),
    (STREAMING, O.SHORT): (STREAMING, True, True, P.BACKOFF),
    (STREAMING, O.IDLE): (STREAMING, True, True, P.NONE),
    (STREAMING, O.OUTDATED): (STREAMING, True, True, P.NONE),
    (STREAMING, O.EXPIRED): (STREAMING, False, True, P.NONE),
    (STREAMING, O.REFUSED): (LISTING, True, False, P.NONE),
    (STREAMING, O.UNREACHABLE): (STREAMING, True, True, P.RECONNECT),
    (STREAMING, O.THROTTLED): (STREAMING, True, True, P.BACKOFF),
    (STREAMING, O.FORBIDDEN): (STREAMING, True, True, P.LONGEST),
    (STREAMING, O.MISSING): (STREAMING, False, True, P.BACKOFF),
    (STREAMING, O.FAILED): (STREAMING, True, True, P.BACKOFF),
    (LISTING, O.DONE): (WATCHING, True, False, P.NONE),
    (LISTING, O.ENDED): (LISTING, True, False, P.NONE),
    (LISTING, O.SHORT): (LISTING, True, False, P.BACKOFF),
    (LISTING, O.IDLE): (LISTING, True, False, P.NONE),
    (LISTING, O.OUTDATED): (LISTING, True, False, P.NONE),
    (LISTING, O.EXPIRED): (LISTING, False, False, P.NONE),
    (LISTING, O.REFUSED): (LISTING, True, False, P.NONE),
    (LISTING, O.UNREACHABLE): (LISTING, True, False, P.RECONNECT),
    (LISTING, O.THROTTLED): (LISTING, True, False, P.BACKOFF),
    (LISTING, O.FORBIDDEN): (LISTING, True, False, P.LONGEST),
    (LISTING, O.MISSING): (LISTING, False, False, P.BACKOFF),
    (LISTING, O.FAILED): (LISTING, True, False, P.BACKOFF),
    (WATCHING, O.DONE): (WATCHING, True, True, P.NONE),
    (WATCHING, O.ENDED): (WATCHING, True, True, P.NONE),
    (WATCHING, O.SHORT): (WATCHING, True, True, P.BACKOFF),
    (WATCHING, O.IDLE): (WATCHING, True, True, P.NONE),
    (WATCHING, O.OUTDATED): (STREAMING, True, True, P.NONE),
    (WATCHING, O.EXPIRED): (STREAMING, True, True, P.NONE),
    (WATCHING, O.REFUSED): (LISTING, True, False, P.NONE),
    (WATCHING, O.UNREACHABLE): (WATCHING, True, True, P.RECONNECT),
    (WATCHING, O.THROTTLED): (WATCHING, True, True, P.BACKOFF),
    (WATCHING, O.FORBIDDEN): (WATCHING, True, True, P.LONGEST),
    (WATCHING, O.MISSING): (STREAMING, False, True, P.BACKOFF),
    (WATCHING, O.FAILED): (WATCHING, True, True, P.BACKOFF),
}


@pytest.mark.parametrize(("phase", "outcome"), list(product(WatchPhase, WatchOutcome)))
def test_every_outcome_of_every_phase_has_its_answer(
    phase: WatchPhase, outcome: WatchOutcome
) -> None:
    wanted, version, streaming, pause = TABLE[phase, outcome]
    at = WatchPosition(phase, "7", streaming=phase is not LISTING)

    decided = next_step(at, outcome, 0.0)

    assert decided.position.phase is wanted
    assert decided.position.version == ("7" if version else "")
    assert decided.position.streaming is streaming
    assert decided.pause is pause


def test_a_watch_starts_by_streaming_the_newest_state() -> None:
    assert WatchPosition() == WatchPosition(STREAMING, "", streaming=True)


def test_an_expired_watch_without_watch_list_reads_by_pages() -> None:
    at = WatchPosition(WATCHING, "7", streaming=False)

    assert next_step(at, O.EXPIRED, 9.0) == WatchStep(
        WatchPosition(LISTING, "7", streaming=False, expired=1, expired_at=9.0), P.NONE
    )


def test_versions_that_expire_in_a_row_are_answered_with_pauses_until_a_minute_was_calm() -> None:
    at, pauses = WatchPosition(WATCHING, "7"), []
    for now in (1.0, 1.1, 1.2, 30.0, 80.0, 80.0 + PATIENCE_SECONDS):
        step = next_step(at, O.EXPIRED, now)
        pauses.append(step.pause)
        at = next_step(step.position, O.DONE, now).position

    assert pauses == [P.NONE, P.NONE, P.BACKOFF, P.BACKOFF, P.BACKOFF, P.NONE]


def test_a_version_expired_twice_is_given_up() -> None:
    first = next_step(WatchPosition(WATCHING, "7"), O.EXPIRED, 0.0).position
    second = next_step(first, O.EXPIRED, 1.0).position

    assert (first.phase, first.version) == (STREAMING, "7")
    assert (second.phase, second.version) == (STREAMING, "")


def test_server_errors_are_retried_as_the_same_watch_for_a_minute() -> None:
    at = WatchPosition(WATCHING, "7")
    for now in (0.0, 30.0, PATIENCE_SECONDS - 1):
        at = next_step(at, O.FAILED, now).position
        assert (at.phase, at.version) == (WATCHING, "7")

    at = next_step(at, O.FAILED, PATIENCE_SECONDS).position

    assert (at.phase, at.version) == (STREAMING, "7")


def test_a_version_the_server_keeps_stumbling_over_is_given_up_after_two_minutes() -> None:
    at = WatchPosition(WATCHING, "7")
    for now in range(0, int(2 * PATIENCE_SECONDS) + 1, 10):
        at = next_step(at, O.FAILED, float(now)).position

    assert (at.phase, at.version) == (STREAMING, "")


@pytest.mark.parametrize("outcome", [O.ENDED, O.UNREACHABLE, O.THROTTLED, O.IDLE, O.SHORT])
def test_anything_but_a_server_error_ends_the_row_of_server_errors(outcome: WatchOutcome) -> None:
    at = next_step(WatchPosition(WATCHING, "7"), O.FAILED, 0.0).position
    at = next_step(at, outcome, 30.0).position

    at = next_step(at, O.FAILED, PATIENCE_SECONDS + 1).position

    assert at.phase is WATCHING


@given(st.lists(st.tuples(st.sampled_from(WatchOutcome), st.floats(0, 100)), min_size=1))
def test_no_row_of_outcomes_forgets_that_watch_list_was_refused(
    row: list[tuple[WatchOutcome, float]],
) -> None:
    at, now = next_step(WatchPosition(), O.REFUSED, 0.0).position, 0.0
    for outcome, later in row:
        now += later
        at = next_step(at, outcome, now).position
        assert at.phase is not STREAMING


@given(st.sampled_from(WatchPhase), st.sampled_from(WatchOutcome))
def test_every_failure_is_followed_by_a_pause(phase: WatchPhase, outcome: WatchOutcome) -> None:
    harmless = {O.DONE, O.ENDED, O.IDLE, O.OUTDATED, O.REFUSED}
    at = WatchPosition(phase, "7", expired=EXPIRED_AT_ONCE)

    paused = next_step(at, outcome, 0.0).pause is not P.NONE

    assert paused is (outcome not in harmless)
