"""Stories of failures: from the fault to the first difference, and no longer than can be read."""

from __future__ import annotations

import pytest

from quintant.testing.explore.checks import Breach
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.injection.trace import PointKind, Trace
from quintant.testing.explore.simulation.run import RunRecord
from quintant.testing.explore.story import MOST_LINES, failure_story

TOKEN = RunToken.parse("lost@w3")
WORST_LINES = MOST_LINES + 20
"""With what leads up to the fault, and the lines that close a story."""


def record(*, writes: int, events: int = 0, after: int = 5) -> RunRecord:
    """Some writes up to a fault, more of them until the world differs, and a few more."""
    trace = Trace()
    for _ in range(4):
        trace.point(PointKind.WRITE, "apply configmaps default/a")
    trace.tell("! lost at w3")
    for _ in range(events):
        trace.point(PointKind.EVENT, "MODIFIED configmaps default/a")
    for _ in range(writes):
        trace.point(PointKind.WRITE, "delete configmaps default/b")
    trace.tell("  quiet (1)")
    for _ in range(after):
        trace.point(PointKind.WRITE, "apply configmaps default/c")
    trace.tell("  quiet (2)")
    return RunRecord(TOKEN, trace)


@pytest.mark.parametrize(("writes", "events"), [(30, 0), (30, 100), (200, 0), (200, 400)])
def test_a_story_reaches_the_first_difference_and_ends_there(writes: int, events: int) -> None:
    story = failure_story(
        record(writes=writes, events=events), Breach("it differs", "quiet (1)"), "f.py:S"
    )
    lines = [line.strip() for line in story.splitlines()]
    assert "! lost at w3" in lines
    assert f"w{3 + writes} delete configmaps default/b" in lines
    assert "quiet (1)" in lines
    assert not [line for line in lines if "default/c" in line]
    assert lines[-2:] == ["=> it differs", "repeat: quintant explore f.py:S --replay 'lost@w3'"]
    assert len(lines) <= WORST_LINES


def test_what_is_left_out_is_counted() -> None:
    story = failure_story(record(writes=200, events=400), Breach("it differs", "quiet (1)"))
    assert "… 400 events in between" in story
    assert f"… {200 + 2 - MOST_LINES} lines" in story


def test_a_difference_at_the_end_is_told_to_the_end() -> None:
    story = failure_story(record(writes=3), Breach("it differs"))
    assert story.splitlines()[-2].strip() == "quiet (2)"


def test_a_story_names_the_reconcile_that_failed_last() -> None:
    failing = record(writes=3)
    failing.failing = "ValueError: no such place"
    story = failure_story(failing, Breach("it differs", "quiet (1)"))
    assert "! the last reconcile that failed: ValueError: no such place" in story
