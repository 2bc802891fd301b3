from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintant.cluster.apiserver.response.printers.age import age, duration

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (120, "2m"),
        (9 * MINUTE + 5, "9m5s"),
        (10 * MINUTE + 5, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 30 * MINUTE, "7h30m"),
        (8 * HOUR + 30 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (7 * DAY + 3 * HOUR, "7d3h"),
        (8 * DAY + 3 * HOUR, "8d"),
        (2 * YEAR - DAY, "729d"),
        (2 * YEAR + 3 * DAY, "2y3d"),
        (8 * YEAR + 3 * DAY, "8y"),
    ],
)
def test_a_duration_is_told_in_at_most_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_age_needs_a_beginning() -> None:
    now = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
    assert age("2026-01-01T00:00:00Z", now) == "60s"
    assert age(None, now) == "<unknown>"
