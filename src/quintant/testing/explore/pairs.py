"""Two faults in one run: what a recovery does that is itself disturbed.

Every ordered pair whose second point is reached in a run with the first. Where there are many
points, a sample of them that is the same every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from quintant.core.clock import Random
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import FaultMode, RunToken

FEW_POINTS = 40
"""Below so many points all pairs are tried."""
SAMPLED_FIRST, SAMPLED_PAIRS = 150, 3000
"""Else so many first faults, and so many pairs of them."""
PAIR_MODES = (
    FaultMode.CRASH_AFTER,
    FaultMode.LOST,
    FaultMode.ERROR,
    FaultMode.UNAVAILABLE,
    FaultMode.CHILD_DELETED,
    FaultMode.STALE,
)
"""What is paired unless modes are named: one of each sort."""


def plan_pairs(explorer: Explorer, modes: Iterable[FaultMode]) -> list[RunToken]:
    """A run for every pair, or for a sample of them."""
    named = tuple(modes)
    chosen = PAIR_MODES if set(named) == set(FaultMode) else named
    singles = explorer.plan(chosen)
    if sum(explorer.points.values()) < FEW_POINTS:
        return list(_pairs(explorer, singles, chosen))
    random = Random("pairs")
    first = random.sample(singles, min(len(singles), SAMPLED_FIRST))
    found = list(_pairs(explorer, first, chosen))
    return random.sample(found, min(len(found), SAMPLED_PAIRS))


def _pairs(
    explorer: Explorer, singles: Sequence[RunToken], modes: Sequence[FaultMode]
) -> Iterator[RunToken]:
    for single in singles:
        for second in explorer.faults_after(single, modes):
            yield RunToken((*single.faults, second))
