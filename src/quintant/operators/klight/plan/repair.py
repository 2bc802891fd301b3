"""The step that brings the parts of a network together, if that is due. Pure.

`plan.parts` says when and whom, `plan.reunion` how.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from quintant.api.events import PlannedEvent
from quintant.core.text import one_line
from quintant.operators.klight.observed.answers import Answer, JoinResult, join_result
from quintant.operators.klight.observed.memory import Memory
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import Answers, NetworkLook, Questions, status
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import reunion
from quintant.operators.klight.plan.actions import Announce, CountRepair, Warn
from quintant.operators.klight.plan.parts import requested, summary, wanted
from quintant.operators.klight.plan.reunion import STATUS_SECONDS, Reunion, ReunionStage
from quintant.operators.klight.plan.step import Now, StepDecision, decided


@dataclass(frozen=True, slots=True)
class RepairStep:
    """Asks every member whom it sees, if a repair is due."""

    options: Options

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """Who the members are, also by the API server, then whom they see."""
        if not self._wanted(observed, memory):
            return ()
        look = doubtful(observed)
        if look.keys and look not in answers:
            return (look,)
        stack = _network(observed, answers).stack
        return answers.unanswered(status(peer, STATUS_SECONDS) for peer in stack)

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Bring those together who do not see each other."""
        if not self._wanted(observed, memory):
            return StepDecision((), memory)
        began = reunion.begin(_network(observed, answers), answers)
        return _reunited(ReunionStep(self.options, began), observed, memory, now)

    def _wanted(self, observed: Observed, memory: Memory) -> bool:
        probe, policy = memory.probe, self.options.repair
        return wanted(observed.lightnetwork, policy, probe.missing, bool(probe.forked))


def doubtful(observed: Observed) -> NetworkLook:
    """The network with pods that its status shows, and that are no members by the caches.

    By caches that are behind, a request would be done with while those whom they lack stay apart.
    """
    members = {peer.uid for peer in observed.stack}
    return NetworkLook(tuple(key for uid, key in observed.listed.items() if uid not in members))


def _network(observed: Observed, answers: Answers) -> Observed:
    return answers.get(doubtful(observed)) or observed


@dataclass(frozen=True, slots=True)
class ReunionStep:
    """Makes the next call of a reunion that has not ended."""

    options: Options
    reunion: Reunion

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """What the reunion asks next."""
        return answers.unanswered(reunion.questions(self.reunion, self.options))

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Continue, or report how it went."""
        later = reunion.after(self.reunion, answers, self.options)
        return _reunited(replace(self, reunion=later), observed, memory, now)


def _reunited(step: ReunionStep, observed: Observed, memory: Memory, now: Now) -> StepDecision:
    if step.reunion.stage is not ReunionStage.END:
        return StepDecision((), memory, step)
    replies, stack = step.reunion.replies, step.reunion.network.stack
    failed = sum(join_result(answer) is not JoinResult.JOINED for answer in replies.values())
    result, message = summary(len(replies), failed, step.reunion.silent)
    memory = replace(
        memory,
        show=replace(memory.show, repaired=message, handled=requested(observed.lightnetwork)),
        probe=replace(memory.probe, missing={}, newest={}, forked=""),
    )
    reports = [_report(peer, replies[peer.uid]) for peer in stack if peer.uid in replies]
    event = _event(failed, message) if replies else None
    count = CountRepair(result, len(replies), failed, observed.lightnetwork, event)
    return decided(memory, (*reports, count), now)


def _report(peer: PeerView, answer: Answer) -> Announce | Warn:
    if join_result(answer) is JoinResult.JOINED:
        return Announce(peer.pod, "Repaired", "brought back to its network")
    note = f"could not be brought back: {one_line(answer.text) or answer.code}"
    return Warn(peer.pod, "RepairFailed", note)


def _event(failed: int, message: str) -> PlannedEvent:
    if failed:
        return PlannedEvent("Warning", "RepairFailed", message)
    return PlannedEvent("Normal", "Repaired", message)
