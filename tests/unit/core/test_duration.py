"""Durations as Go writes them."""

from __future__ import annotations

import pytest

from quintant.core.duration import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("90s", 90), ("1h30m", 5400), ("500ms", 0.5), ("1.5m", 90), ("2us", 2e-6)],
)
def test_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "-1s", "1d", "s", "1s ", "1m garbage"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)
