"""Which runs are made with a foreign program: modes and points, those that find most first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.record import ForeignRecord
from quintant.testing.explore.injection.fault import (
    BY_OTHERS,
    FaultMode,
    PlannedFault,
    RunToken,
    named_fault,
)
from quintant.testing.explore.injection.trace import Point, PointKind

DISTURBED_POLLS = 2
"""Of a write that goes on at rest, how many are disturbed."""
NEAR_POINTS = 3
"""Points that are told to who asks for one that never comes."""
ORDER = (
    FaultMode.CRASH_AFTER,
    FaultMode.LOST,
    FaultMode.ERROR,
    FaultMode.CRASH_BEFORE,
    FaultMode.REWIND,
    FaultMode.CONFLICT,
    FaultMode.STALE,
    FaultMode.UNOBSERVED,
    FaultMode.HAND_OVER,
    *BY_OTHERS,
    FaultMode.TIMEOUT,
    FaultMode.THROTTLED,
    FaultMode.UNAVAILABLE,
)
"""What is tried; no remote of a foreign program is known, so nothing can be left outside."""
ON_EVENTS = frozenset((FaultMode.STALE, FaultMode.REWIND, FaultMode.UNOBSERVED))


class PointNeverCame(ConfigError):
    """The point of a token is not reached: it is of another version of the program, perhaps."""

    def __init__(self, token: RunToken, missing: Sequence[str], points: Sequence[Point]) -> None:
        near = get_close_matches(missing[0], [each.key for each in points], NEAR_POINTS)
        super().__init__(
            f"cannot make the run {token}",
            because=f"the point never came: {', '.join(missing)}",
            hint=f"without faults there is {' or '.join(near)}"
            if near
            else "explore again: the program or the scenario is another one",
        )


def planned(
    records: Sequence[ForeignRecord], modes: Sequence[FaultMode], polls: frozenset[str]
) -> Iterator[RunToken]:
    """A run for every mode at every point that all undisturbed runs have.

    Of what goes on at rest, the first times are enough.
    """
    common = set.intersection(*({each.key for each in record.trace.points} for record in records))
    points = [
        each
        for each in records[0].trace.points
        if each.key in common
        and (each.text not in polls or int(each.key.rpartition("#")[2]) <= DISTURBED_POLLS)
    ]
    writes = [each for each in points if each.kind is PointKind.WRITE]
    events = [each for each in points if each.kind is PointKind.EVENT]
    last = {each.subject: each.key for each in events}
    for mode in (each for each in ORDER if each in modes):
        chosen = events if mode in ON_EVENTS else writes
        if mode is FaultMode.UNOBSERVED:
            chosen = [each for each in events if last[each.subject] != each.key]
        elif mode in BY_OTHERS:
            chosen = writes[1:]
        elif mode is FaultMode.HAND_OVER and not all(each.elects for each in records):
            chosen = []
        for point in chosen:
            fault: PlannedFault = named_fault(mode, point.key)
            yield RunToken((fault,))
