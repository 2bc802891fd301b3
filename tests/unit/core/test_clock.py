"""Promises of quintant.core.clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.clock import (
    AdvancedClock,
    LoopClock,
    Random,
    SystemClock,
    elapsed,
    find_timestamp,
    micro_timestamp,
    monotonic,
    parse_timestamp,
    seconds_of,
    timestamp,
)
from quintant.testing.loop import advance

MOMENT = datetime(2026, 3, 4, 5, 6, 7, 890_123, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-01-01", "2026-01-01T00:00:00", "2026-99-99T00:00:00Z", "9" * 5_000,
     "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+23:59", "\x00"],
)  # fmt: skip
def test_a_text_of_others_that_is_no_moment_to_reckon_with_is_none(text: str) -> None:
    assert find_timestamp(text) is None


def test_a_moment_of_others_is_read_as_ours_is() -> None:
    assert find_timestamp(micro_timestamp(MOMENT)) == MOMENT


async def test_the_loops_clock_moves_as_the_loop_does() -> None:
    clock = LoopClock()
    before = clock.now()

    await advance(3600)

    assert clock.now() - before == timedelta(hours=1)
    assert monotonic() == 3600


async def test_a_clock_that_was_advanced_stays_ahead() -> None:
    clock = AdvancedClock(LoopClock())
    before = clock.now()
    clock.advance(60)
    await advance(1)

    assert clock.now() - before == timedelta(seconds=61)
    assert (clock.ahead, elapsed(clock), elapsed(LoopClock())) == (60, 61, 1)


async def test_a_clock_that_stands_still_goes_on_from_there() -> None:
    clock = AdvancedClock(LoopClock())
    clock.pause()
    before = clock.now()
    await advance(10)
    assert (clock.now(), clock.paused, clock.ahead) == (before, True, -10)
    clock.advance(3)
    clock.resume()
    await advance(1)

    assert clock.now() - before == timedelta(seconds=4)
    assert (clock.paused, clock.ahead) == (False, -7)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e12])
def test_a_clock_goes_forward_only_and_not_without_end(seconds: float) -> None:
    with pytest.raises(ValueError, match="forward only"):
        AdvancedClock(SystemClock()).advance(seconds)


def test_the_systems_clock_is_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


def test_timestamps_are_written_in_utc_as_kubernetes_writes_them() -> None:
    assert timestamp(MOMENT) == "2026-03-04T03:06:07Z"
    assert micro_timestamp(MOMENT) == "2026-03-04T03:06:07.890123Z"


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
def test_a_timestamp_is_read_back_as_written(moment: datetime) -> None:
    assert parse_timestamp(micro_timestamp(moment)) == moment
    assert parse_timestamp(timestamp(moment)) == moment.replace(microsecond=0)


def test_chance_is_the_same_for_the_same_seed() -> None:
    one, two = Random(7), Random(7)

    assert [one.id(), one.uniform(1, 2)] == [two.id(), two.uniform(1, 2)]
    assert UUID(Random().id()).version == 4


@given(st.floats(0.1, 1000), st.floats(0, 1))
def test_jitter_stays_within_its_fraction(seconds: float, fraction: float) -> None:
    spread = seconds * fraction + 1e-9

    assert abs(Random().jitter(seconds, fraction) - seconds) <= spread


def test_durations_may_be_given_in_either_form() -> None:
    assert seconds_of(1.5) == seconds_of(timedelta(milliseconds=1500)) == 1.5
