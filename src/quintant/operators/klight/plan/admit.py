"""One pod becomes a member, or waits; then the next one. Pure.

A joiner that is a member already is only recorded. One that was down a moment ago waits until peers
of another make have forgotten it. Every other one goes through the steps of an `Attempt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from quintant.operators.klight.observed.memory import Memory, wait_of
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import (
    Answers,
    NetworkQuestion,
    Questions,
    Unchanged,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Action, Drop, Enrol, Postpone, Warn
from quintant.operators.klight.plan.attempt import Attempt, after, begin, conclude, next_question
from quintant.operators.klight.plan.candidates import claim_pause, eviction_pause, join_deadline
from quintant.operators.klight.plan.joiner import adopt, withdrawn
from quintant.operators.klight.plan.proof import MembershipProof, membership_proof
from quintant.operators.klight.plan.step import Now, StepDecision, decided
from quintant.operators.klight.plan.transitions import claimed, until

UNDER_WAY = (
    "another klight began to join it, and may be at it still: looking before any retry; "
    "two that run at once need leader election"
)


@dataclass(frozen=True, slots=True)
class JoinQueue:
    """Those who serve and are to join, one after another."""

    options: Options
    began: datetime
    """When this process first looked at anything."""
    joiners: tuple[PeerView, ...]
    stack: tuple[PeerView, ...]
    """The members by now, newest first."""
    deadline: float
    """When the rest is left to the next turn."""

    @property
    def joiner(self) -> PeerView:
        """Whose turn it is."""
        return self.joiners[0]

    def step(self) -> AdmitStep | None:
        """The step for the first; None if there is none left."""
        return AdmitStep(self) if self.joiners else None

    def after(self, actions: Iterable[Action]) -> JoinQueue:
        """The rest of the queue, with the members that there are after these actions."""
        return replace(self, joiners=self.joiners[1:], stack=stack_after(self.stack, actions))

    def decided(self, memory: Memory, actions: Iterable[Action], now: Now) -> StepDecision:
        """The decision for the first, and for whose turn is next."""
        intents = memory.join.intents
        actions = [
            withdrawn(each, intents) if isinstance(each, Postpone) else each for each in actions
        ]
        return decided(memory, actions, now, self.after(actions).step())


def stack_after(stack: tuple[PeerView, ...], actions: Iterable[Action]) -> tuple[PeerView, ...]:
    """The members after these actions."""
    for action in actions:
        if isinstance(action, Drop):
            stack = tuple(peer for peer in stack if peer.uid != action.peer.uid)
        elif isinstance(action, Enrol):
            stack = (action.member, *stack)
    return stack


@dataclass(frozen=True, slots=True)
class AdmitStep:
    """Asks whether a joiner is still who it was, and whether it is a member already."""

    queue: JoinQueue

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """The next question about the joiner, each after the answers to those before it."""
        if now.began > self.queue.deadline:
            return ()
        rounds = (answers.unanswered([each]) for each in self._in_turn(memory, answers, now))
        return next(filter(None, rounds), ())

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Record a member, leave one alone that was just down, or have the joiner join."""
        queue, joiner = self.queue, self.queue.joiner
        if now.began > queue.deadline:
            return StepDecision((), memory)
        if not answers[self._unchanged]:
            return queue.decided(memory, (), now)
        proof, foreign = self._proof(memory, now), False
        if proof is not None:
            foreign = proof.foreign(answers)
            memory = _make_noted(memory, joiner, foreign)
            if proof.holds(answers):
                return queue.decided(memory, (adopt(joiner, queue.stack, now.time),), now)
        if foreign:
            memory = claimed(memory, joiner, now.began)
        wait = wait_of(memory.join.waits, joiner.uid, joiner.incarnation, now.began)
        pause = claim_pause(wait, queue.options, now.seconds) if foreign else 0.0
        if pause > 0:
            warn = Warn(joiner.pod, "JoinUnderWay", UNDER_WAY)
            memory = until(memory, joiner, now.seconds + pause, now.began, UNDER_WAY)
            return queue.decided(memory, (warn,), now)
        pause = eviction_pause(joiner, foreign, wait.since, now.seconds)
        if pause > 0:
            due, reason = now.seconds + pause, "it was down a moment ago"
            return queue.decided(until(memory, joiner, due, now.began, reason), (), now)
        attempt = begin(joiner, queue.stack, precheck=queue.options.precheck_contact)
        within = join_deadline(queue.options, wait.late, len(queue.stack))
        intent = foreign and joiner.uid not in memory.join.intents and not joiner.intended
        return _attempted(AttemptStep(queue, attempt, within, intent), memory, now)

    @property
    def _unchanged(self) -> Unchanged:
        return Unchanged(self.queue.joiner.uid, self.queue.joiner)

    def _in_turn(
        self, memory: Memory, answers: Answers, now: Now
    ) -> Iterator[NetworkQuestion[Any]]:
        yield self._unchanged
        proof = self._proof(memory, now)
        if answers[self._unchanged] and proof is not None:
            yield from proof.questions(answers)

    def _proof(self, memory: Memory, now: Now) -> MembershipProof | None:
        """None where there is no member that a joiner could know."""
        queue, joiner = self.queue, self.queue.joiner
        if not queue.stack:
            return None
        wait = wait_of(memory.join.waits, joiner.uid, joiner.incarnation, now.began)
        return membership_proof(joiner, queue.stack, wait, queue.options, queue.began)


@dataclass(frozen=True, slots=True)
class AttemptStep:
    """Takes the next step of an attempt that has not ended."""

    queue: JoinQueue
    attempt: Attempt
    within: float
    """How long the join may take."""
    intent: bool
    """Whether it has to be written down first that the joiner is being joined."""

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """What the attempt asks next."""
        return answers.unanswered([self._question(memory)])

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """Go on with the attempt, or conclude it."""
        attempt = after(self.attempt, answers[self._question(memory)])
        return _attempted(replace(self, attempt=attempt), memory, now)

    def _question(self, memory: Memory) -> NetworkQuestion[Any]:
        # An intent is written once, however many contacts are tried.
        noted = self.attempt.joiner.uid in memory.join.intents
        return next_question(self.attempt, self.within, intent=self.intent and not noted)


def _attempted(step: AttemptStep, memory: Memory, now: Now) -> StepDecision:
    if step.attempt.end is None:
        return StepDecision((), memory, step)
    actions = conclude(step.attempt, step.queue.options, now.time)
    return step.queue.decided(memory, actions, now)


def _make_noted(memory: Memory, joiner: PeerView, foreign: bool) -> Memory:
    """The memory with whether a joiner is a peer of another make."""
    others = memory.probe.foreign - {joiner.uid}
    probe = replace(memory.probe, foreign=others | {joiner.uid} if foreign else others)
    return replace(memory, probe=probe)
