"""The step that shows a network: its LightNetwork, the gates of its pods, its series. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from quintant.api.events import PlannedEvent
from quintant.api.meta import condition_of
from quintant.operators.klight.api.lightnetwork import (
    WRITABLE,
    LightNetwork,
    LightNetworkStatus,
)
from quintant.operators.klight.lightnetwork import builders
from quintant.operators.klight.lightnetwork.builders import states, status_of
from quintant.operators.klight.observed.memory import Memory, retained
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import Answers, Create, Questions
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Action, Conclude, Measure, Retire, SetGate
from quintant.operators.klight.plan.joiner import gate_condition
from quintant.operators.klight.plan.leave import marked
from quintant.operators.klight.plan.step import Now, StepDecision
from quintant.operators.klight.plan.turn import PACE_SECONDS, next_look
from quintant.operators.klight.rules import lightnetwork_key
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

STATUS_SECONDS = 1.0
"""The status of a network is written at most so often: a thousand joins are not a thousand."""


@dataclass(frozen=True, slots=True)
class ShowStep:
    """Shows what a network is like now, in the gates of its pods and in the metrics."""

    options: Options

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """None: all is known."""
        return ()

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Open and close gates; then write the status, if it is time to."""
        alive = frozenset(observed.uids | memory.leave.leaving.keys())
        memory = retained(memory, alive)
        members = {peer.uid: peer.key for peer in observed.peers if marked(peer.pod)}
        memory = replace(memory, leave=replace(memory.leave, members=members))
        measure = Measure(states(observed, memory), len(observed.stack), alive)
        actions: tuple[Action, ...] = (measure, *gates(observed, now))
        if not observed.peers and not memory.leave.leaving:
            return self._retired(observed, memory, actions, now)
        memory = replace(memory, show=replace(memory.show, empty=None))
        due = next_look(observed, memory, now.seconds)
        if pause := write_pause(memory.show.written, now.seconds):
            return StepDecision(actions, memory, again=Result(min(due, pause)))
        return StepDecision(actions, memory, PublishStep(self.options, Result(due)))

    def _retired(
        self, observed: Observed, memory: Memory, actions: tuple[Action, ...], now: Now
    ) -> StepDecision:
        """Show an empty network for a while, then remove its object."""
        empty = now.seconds if memory.show.empty is None else memory.show.empty
        memory = replace(memory, show=replace(memory.show, empty=empty))
        left = empty + self.options.gc_after - now.seconds
        if observed.lightnetwork is not None and left > 0:
            return StepDecision(actions, memory, PublishStep(self.options, Result(left)))
        return StepDecision((*actions, Retire(observed.lightnetwork)), memory)


@dataclass(frozen=True, slots=True)
class PublishStep:
    """Writes the status of a network's LightNetwork, which is created if there is none."""

    options: Options
    again: Result
    """When the network is to be looked at again."""

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """Create the LightNetwork, if there is none."""
        return () if observed.lightnetwork else answers.unanswered([self._create(observed)])

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """The status, and what is worth an event about it."""
        lightnetwork = observed.lightnetwork or answers[self._create(observed)]
        if lightnetwork is None:
            return StepDecision((), memory, again=self.again)
        memory = replace(memory, show=replace(memory.show, written=now.seconds))
        network = observed if observed.peers or memory.leave.leaving else Observed(observed.key)
        status = status_of(lightnetwork, network, memory, now.time, self.options.repair)
        conclusion = Conclusion(status, events=tuple(changes(lightnetwork, status)))
        return StepDecision((Conclude(lightnetwork, conclusion),), memory, again=self.again)

    def _create(self, observed: Observed) -> Create:
        key = lightnetwork_key(observed.key, self.options)
        return Create(key, builders.lightnetwork(key, observed.key.name))


def gates(observed: Observed, now: Now) -> Iterator[SetGate]:
    """What the readiness gates of pods are to show, where they show something else."""
    waits = {peer.uid: "" for peer in observed.stack}
    for peer in (*observed.candidates, *observed.excluded):
        waits[peer.uid] = peer.obstacle or f"not in {observed.key.name} yet"
    for peer in observed.peers:
        condition = gate_condition(peer.pod, waits[peer.uid], now.time)
        if condition is not None:
            yield SetGate(peer.pod, condition)


def write_pause(written: float, now: float) -> float:
    """Seconds until a status may follow the one before; 0 if it may.

    Never a sliver of a second that a float cannot add to the time: that would spin.
    """
    left = written + STATUS_SECONDS - now
    return max(PACE_SECONDS, left) if left > 0 else 0.0


def changes(lightnetwork: LightNetwork, status: LightNetworkStatus) -> Iterator[PlannedEvent]:
    """What is worth an event on the network itself: another phase, and whether it takes writes."""
    before = lightnetwork.status or LightNetworkStatus()
    ready = condition_of(status.conditions, "Ready")
    if status.phase != before.phase and status.phase is not None:
        bad = status.phase in ("Degraded", "Split")
        note = (ready.message if ready else "") or ""
        yield PlannedEvent("Warning" if bad else "Normal", status.phase, note)
    was, now = (condition_of(each.conditions, WRITABLE) for each in (before, status))
    if now is not None and now.status != (was.status if was is not None else "True"):
        note = now.message or ""
        if now.status == "True":
            yield PlannedEvent("Normal", "Writable", note)
        else:
            yield PlannedEvent("Warning", "NotWritable", note)
