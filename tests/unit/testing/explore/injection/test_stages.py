"""In which order faults go on once the world is quiet."""

from __future__ import annotations

from quintant.testing.explore.injection.stages import FaultStages
from quintant.testing.explore.injection.trace import Trace


async def act() -> None:
    """Nothing is done: only the order is asked for."""


async def other() -> None:
    """Nothing either."""


def test_old_views_end_before_somebody_makes_a_thing_anew() -> None:
    stages = FaultStages(Trace())
    stages.add(0, act, urgent=False)
    stages.add(0, other)
    assert stages.urgent()
    taken = [stages.take(), stages.take(), stages.take()]
    assert [each.act if each else None for each in taken] == [other, act, None]


def test_a_stage_waits_for_its_step() -> None:
    trace = Trace()
    stages = FaultStages(trace)
    stages.add(1, act)
    assert (stages.take(), stages.left(last=True)) == (None, True)
    trace.steps += 1
    assert stages.left()
