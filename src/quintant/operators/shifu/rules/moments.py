"""Moments that stand in statuses, annotations and figures, as whoever wrote them there. Pure."""

from __future__ import annotations

from datetime import datetime

from quintant.core.clock import find_timestamp

SKEW_SECONDS = 300.0
"""By how much the clocks of two machines may differ: a moment further ahead is none."""


def seconds_since(moment: str | None, now: datetime) -> float | None:
    """How long ago a moment was, 0.0 if it is just ahead; None if the text means no such moment."""
    found = find_timestamp(moment) if moment else None
    if found is None:
        return None
    passed = (now - found).total_seconds()
    return max(0.0, passed) if passed > -SKEW_SECONDS else None
