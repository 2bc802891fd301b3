"""Schedules mean the times that every crontab says they mean."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.cron import parse

WEDNESDAY = datetime(2026, 7, 1, 12, 30, 15, tzinfo=UTC)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("* * * * *", "2026-07-01T12:31"),
        ("*/20 * * * *", "2026-07-01T12:40"),
        ("5 * * * *", "2026-07-01T13:05"),
        ("0 9 * * *", "2026-07-02T09:00"),
        ("30 6-16/4 * * 1-5", "2026-07-01T14:30"),
        ("0 0 * * sat,SUN", "2026-07-04T00:00"),
        ("0 0 13 * 5", "2026-07-03T00:00"),
        ("0 0 13 * *", "2026-07-13T00:00"),
        ("0 0 */2 * 5", "2026-07-03T00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
        ("0 0 1 jan *", "2027-01-01T00:00"),
        ("10/15 * * * *", "2026-07-01T12:40"),
        ("@hourly", "2026-07-01T13:00"),
        ("@daily", "2026-07-02T00:00"),
        ("@weekly", "2026-07-05T00:00"),
        ("@monthly", "2026-08-01T00:00"),
        ("@yearly", "2027-01-01T00:00"),
        ("@every 1h30m", "2026-07-01T14:00:15"),
    ],
)
def test_next_time(schedule: str, expected: str) -> None:
    assert parse(schedule).after(WEDNESDAY) == moment(expected)


def test_day_that_never_comes() -> None:
    assert parse("0 0 31 2 *").after(WEDNESDAY) is None


def test_times_are_those_of_the_zone() -> None:
    assert parse("0 9 * * *", "Asia/Tokyo").after(WEDNESDAY) == moment("2026-07-02T00:00")
    assert parse("TZ=Asia/Tokyo 0 9 * * *").after(WEDNESDAY) == moment("2026-07-02T00:00")


def test_hour_that_is_left_out_does_not_come_and_one_that_is_repeated_comes_twice() -> None:
    spring = moment("2026-03-07T12:00")
    skipped = parse("30 2 * * *", "America/New_York")
    assert skipped.after(spring) == moment("2026-03-09T06:30")
    autumn = parse("30 1 * * *", "America/New_York")
    first = autumn.after(moment("2026-11-01T04:00"))
    assert first == moment("2026-11-01T05:30")
    assert first is not None
    assert autumn.after(first) == moment("2026-11-01T06:30")


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("9-5 * * * *", "beginning of range (9) beyond end of range (5): 9-5"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("@every x", 'failed to parse duration @every x: time: invalid duration "x"'),
        (
            "@every 9999999999h",
            'failed to parse duration @every 9999999999h: time: invalid duration "9999999999h"',
        ),
        ("@often", "unrecognized descriptor: @often"),
        (
            "TZ=Nowhere/Land * * * * *",
            "provided bad location Nowhere/Land: unknown time zone Nowhere/Land",
        ),
    ],
)
def test_nonsense_is_refused(schedule: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        parse(schedule)


@given(st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1)), st.integers(1, 59))
def test_next_time_is_the_first_that_fits(start: datetime, step: int) -> None:
    start = start.replace(tzinfo=UTC)
    found = parse(f"*/{step} * * * *").after(start)
    minute = start.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while minute.minute % step:
        minute += timedelta(minutes=1)
    assert found == minute
