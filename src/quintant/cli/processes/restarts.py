"""When a process that ended starts again: after 1 s, then twice as long, up to 30 s. Pure."""

from __future__ import annotations

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""Who lived for longer did not end because of how it starts: the wait is the first one again."""


def restart_delay(before: float, lived: float) -> float:
    """Seconds to wait, after those waited before (0 for none) and a life of so many."""
    if not before or lived >= STEADY_SECONDS:
        return FIRST_SECONDS
    return min(2 * before, LONGEST_SECONDS)
