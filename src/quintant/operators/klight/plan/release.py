"""How the membership of a pod ends: its peer leaves, then the record goes. Pure.

The record goes last, so that a crash in between resumes; the other network waits for that. One of
our own peers leaves when it is asked to. A peer of another make cannot: its old network continues
to list it, which a warning reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from quintant.api.events import PlannedEvent
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.observed.answers import OK, PeerHealth
from quintant.operators.klight.observed.membership import Membership, cleared
from quintant.operators.klight.observed.memory import Memory, Wait, wait_of
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import Answers, Leave, PeerCall, Questions
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Action, Erase, Warn
from quintant.operators.klight.plan.joiner import gate_condition
from quintant.operators.klight.plan.step import Now, StepDecision, decided
from quintant.operators.klight.rules import incarnation_of, is_own_address, network_of, obstacle
from quintant.runtime.workqueue.attempts import JITTER

LEAVE_SECONDS = 2.0
"""How long a peer may take to leave: it tells the others."""
TRIES = 3
"""How often a peer that serves is asked to leave before we give up."""
_UNABLE = "UNIMPLEMENTED"


class Departure(Enum):
    """How far a peer is with leaving."""

    LATER = auto()
    """It is not due."""
    FAILED = auto()
    """It serves and did not leave: it is asked again."""
    LEFT = auto()
    LISTED = auto()
    """It cannot be made to leave: the members of its network continue to list it."""

    @property
    def over(self) -> bool:
        """Whether the record can go."""
        return self in (Departure.LEFT, Departure.LISTED)


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """Ends the membership of the first of several pods, then those of the rest."""

    options: Options
    pods: tuple[PeerPod, ...]

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """Have the peer leave; if it does not, whether it serves."""
        record = living_record(self.pods[0], self.options)
        if record is None or self._wait(memory, now).due > now.began:
            return ()
        rounds = _rounds(record.address, observed.key.name, answers)
        return next(filter(None, map(answers.unanswered, rounds)), ())

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Take the record off the pod, unless its peer is to be asked again."""
        pod, name, record = (
            self.pods[0],
            observed.key.name,
            living_record(self.pods[0], self.options),
        )
        then = ReleaseStep(self.options, self.pods[1:]) if self.pods[1:] else None
        departure, actions = Departure.LEFT, list[Action]()
        if record is not None:
            wait = self._wait(memory, now)
            departure = leaves(wait, record.address, name, answers, now.began)
            memory = _noted(memory, pod, _tried(wait, departure, now))
            if departure is Departure.LISTED:
                actions.append(_still_listed(pod, record.address, name))
        if departure.over:
            actions.append(erasure(pod, name, self.options, now))
        return decided(memory, actions, now, then)

    def _wait(self, memory: Memory, now: Now) -> Wait:
        pod = self.pods[0]
        return wait_of(memory.leave.waits, pod.metadata.uid, incarnation_of(pod), now.began)


def living_record(pod: PeerPod, options: Options) -> Membership | None:
    """The record of a pod whose peer lives and so could leave; else None.

    Nobody is called for it but what is at the pod's own address: whoever may annotate a pod would
    else choose which peer leaves, and who is shown our token.
    """
    record = Membership.read(pod.metadata.annotations)
    if record is None or incarnation_of(pod) != record.incarnation or obstacle(pod):
        return None
    return record if is_own_address(record.address, pod, options) else None


def leaves(wait: Wait, address: str, name: str, answers: Answers, now: float) -> Departure:
    """How far the peer at an address is with leaving a network."""
    if wait.due > now:
        return Departure.LATER
    answer = answers[_leave(address, name)]
    if answer.code == OK:
        return Departure.LEFT
    if answer.code == _UNABLE:
        return Departure.LISTED
    if not answers[_check(address)].serves:
        return Departure.LEFT
    return Departure.FAILED if wait.failures < TRIES else Departure.LISTED


def erasure(pod: PeerPod, name: str, options: Options, now: Now) -> Erase:
    """Take the record of a network off a pod; all of ours goes if the pod has no network now."""
    target = network_of(pod, options)
    annotations = pod.metadata.annotations
    remaining = cleared(annotations) if target is not None else {}
    reason, goal = ("Moved", f" for {target.name}") if target else ("Left", "")
    event = PlannedEvent("Normal", reason, f"left network {name}{goal}")
    recorded = Membership.read(annotations) is not None
    condition = gate_condition(pod, f"left {name}", now.time)
    return Erase(pod, remaining, condition, event if recorded else None)


def _rounds(address: str, name: str, answers: Answers) -> Iterator[Questions]:
    yield (_leave(address, name),)
    if answers[_leave(address, name)].code not in (OK, _UNABLE):
        yield (_check(address),)


def _leave(address: str, name: str) -> Leave:
    return Leave(address, f"left {name}", LEAVE_SECONDS)


def _check(address: str) -> PeerCall[PeerHealth]:
    return PeerCall("check", address, LEAVE_SECONDS)


def _tried(wait: Wait, departure: Departure, now: Now) -> Wait:
    if departure is not Departure.FAILED:
        return wait
    return wait.failed(now.seconds + now.random.jitter(wait.backoff, JITTER))


def _noted(memory: Memory, pod: PeerPod, wait: Wait) -> Memory:
    waits = {**memory.leave.waits, pod.metadata.uid: wait}
    return replace(memory, leave=replace(memory.leave, waits=waits))


def _still_listed(pod: PeerPod, address: str, name: str) -> Warn:
    note = f"{address} cannot leave network {name}, whose members go on listing it"
    return Warn(pod, "StillListed", f"{note}; delete the pod if they cannot write")
