"""A timeline tells moments as people read them, and a digest of everything."""

from __future__ import annotations

import pytest

from quintant.testing.simulate.timeline import Timeline, moment, parse_moment


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0d00:00:00"), (59.9, "0d00:00:59"), (187_506.0, "2d04:05:06")]
)
def test_a_moment_is_shown_as_until_takes_it(seconds: float, text: str) -> None:
    assert moment(seconds) == text
    assert parse_moment(text) == float(int(seconds))


@pytest.mark.parametrize("text", ["", "2d", "now", "04:05:06", "1d1:2", "-1d00:00:00"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"value|literal|unpack|-1d"):
        parse_moment(text)


def test_lines_are_shown_with_their_moment_and_change_the_digest() -> None:
    shown: list[str] = []
    timeline = Timeline(lambda: 61.0, shown.append)
    before = timeline.digest
    timeline.tell("a node dies")
    assert shown == ["0d00:01:01  a node dies"]
    assert timeline.digest != before
