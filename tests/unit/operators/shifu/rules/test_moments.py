"""A moment that somebody wrote is a moment of the past, or none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintant.operators.shifu.rules.moments import seconds_since

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_moment_is_so_many_seconds_ago() -> None:
    assert seconds_since("2026-05-01T11:59:00Z", NOW) == 60.0


def test_a_clock_that_is_ahead_a_little_says_now() -> None:
    assert seconds_since("2026-05-01T12:00:20Z", NOW) == 0.0


@pytest.mark.parametrize(
    "text", [None, "", "x", "2026-05-01", "2026-05-01T11:00:00", "9999-12-31T23:59:59Z",
             "0001-01-01T00:00:00Z", "2026-99-99T99:99:99Z", "2027-01-01T00:00:00Z"],
)  # fmt: skip
def test_what_means_no_moment_is_none(text: str | None) -> None:
    assert seconds_since(text, NOW) is None
