"""Runs by chance: a seed decides the order of what is ready at one moment, and the faults.

The same seed is the same run, in every process. Where exploration by points tries every single
fault in one order of events, seeds try a few together, in orders that nobody thought of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintant.core.clock import Random
from quintant.testing.explore.injection.fault import RunToken

# Faults in one run: with more, a run is mostly about being disturbed.
MOST_FAULTS = 3


def seeded_runs(plan: Sequence[RunToken], seeds: Iterable[int]) -> list[RunToken]:
    """A run for every seed, with some of the planned faults, at points of their own."""
    return [_seeded(plan, seed) for seed in seeds]


def _seeded(plan: Sequence[RunToken], seed: int) -> RunToken:
    random = Random(f"faults {seed}")
    count = min(random.randint(1, MOST_FAULTS), len(plan))
    chosen = [plan[at].faults[0] for at in sorted(random.sample(range(len(plan)), count))]
    single = {(fault.kind, fault.index): fault for fault in chosen}
    return RunToken(tuple(single.values()), seed)


def sampled(plan: Sequence[RunToken], seed: int = 0) -> list[RunToken]:
    """The plan in an order that a seed decides: whatever is made of it is a fair sample."""
    order = list(plan)
    Random(f"sample {seed}").shuffle(order)
    return order
