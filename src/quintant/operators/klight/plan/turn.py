"""One turn of a network: what is written down first, which steps follow, and when the next is due.

Pure. Each step has a look of its own; a network that is paused is only checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from quintant.operators.klight.observed.memory import Memory, counted
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Action, Save, Warn
from quintant.operators.klight.plan.candidates import waiting
from quintant.operators.klight.plan.join import JoinStep
from quintant.operators.klight.plan.leave import LeaveStep
from quintant.operators.klight.plan.probe import ProbeStep
from quintant.operators.klight.plan.repair import RepairStep
from quintant.operators.klight.plan.step import Now, StepDecision, TurnStep, decided

PACE_SECONDS = 0.05
"""A turn that left something to do is followed by the next one no sooner."""


def begin(observed: Observed, memory: Memory, now: Now) -> StepDecision:
    """Write down what could not be written before, and warn of what users wrote wrongly."""
    actions = (*_saves(observed, memory), *_complaints(observed))
    return decided(counted(memory, len(observed.peers), now.seconds), actions, now)


def steps(observed: Observed, options: Options, began: datetime) -> tuple[TurnStep, ...]:
    """What is done for a network, in this order, by a process that began at a moment."""
    probe = ProbeStep(options)
    if observed.paused:
        return (probe,)
    return LeaveStep(options), probe, JoinStep(options, began), RepairStep(options)


def next_look(observed: Observed, memory: Memory, now: float) -> float:
    """Seconds until there is something to do though nothing changes."""
    moments = [memory.probe.due]
    if not observed.paused:
        moments += _due(observed, memory)
    return max(PACE_SECONDS, min(moments) - now)


def _saves(observed: Observed, memory: Memory) -> Iterator[Action]:
    for peer in observed.peers:
        if peer.uid in memory.join.unsaved:
            yield Save(peer.pod, memory.join.unsaved[peer.uid])


def _complaints(observed: Observed) -> Iterator[Action]:
    for peer in observed.peers:
        for complaint in peer.complaints:
            yield Warn(peer.pod, *complaint)


def _due(observed: Observed, memory: Memory) -> Iterator[float]:
    """When each pod that is to join or to leave may be tried; one that never was, at once."""
    never = float("-inf")
    joins, leaves = memory.join.waits, memory.leave.waits
    for peer in waiting(observed):
        yield joins[peer.uid].due if peer.uid in joins else never
    for uid in (*(pod.metadata.uid for pod in observed.leavers), *memory.leave.leaving):
        yield leaves[uid].due if uid in leaves else never
