"""HumanDuration: how long ago, as short as a column of a table: 42s, 5m10s, 3h, 7d, 2y30d."""

from __future__ import annotations

from datetime import datetime

from quintant.core.clock import parse_timestamp

UNKNOWN = "<unknown>"
INVALID = "<invalid>"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY
# Below a limit (in seconds) a duration is written in a unit, with a second one if it says more.
_SCALE = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def age(since: str | None, now: datetime) -> str:
    """The time since a timestamp; unknown if there is none."""
    return elapsed(parse_timestamp(since), now) if since else UNKNOWN


def elapsed(since: datetime, until: datetime) -> str:
    """The time between two moments."""
    return duration((until - since).total_seconds())


def duration(exact: float) -> str:
    """A number of seconds in at most two units."""
    seconds = int(exact)
    if seconds < -1:
        return INVALID
    seconds = max(seconds, 0)
    for limit, unit, name, rest, small in _SCALE:
        if seconds < limit:
            left = seconds % unit // rest if rest else 0
            return f"{seconds // unit}{name}" + (f"{left}{small}" if left else "")
    return f"{seconds // _YEAR}y"
