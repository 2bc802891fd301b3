"""The form of every step of a turn: ask until nothing is left to ask, then decide. Pure.

    questions(observed, memory, answers, now) ──> at once ──> answers ──> … ──> ()
    decide(observed, memory, answers, now) ──> actions, memory, what comes then

`questions` is called again with every answer so far, and returns what has to be known besides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from quintant.core.clock import Random
from quintant.operators.klight.observed.memory import Memory
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import Answers, Questions
from quintant.operators.klight.plan.actions import Action
from quintant.operators.klight.plan.transitions import begun
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class Now:
    """When a step decides, and its source of chance."""

    began: float
    """Seconds of the loop at which the step began: the same for all its questions."""
    seconds: float
    """Seconds of the loop by now."""
    time: datetime
    """The time of day."""
    random: Random


@dataclass(frozen=True, slots=True)
class StepDecision:
    """What follows from the answers."""

    actions: tuple[Action, ...]
    """Carried out in this order; the first that fails ends the turn."""
    memory: Memory
    """Holds from before the first action."""
    then: TurnStep | None = None
    """The step that follows at once, without another look."""
    again: Result | None = None
    """When the network is to be looked at again; None if it is no more."""


class TurnStep(Protocol):
    """One step of a turn."""

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        """What is to be asked, after these answers; empty if enough is known."""

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        """What is to be done."""


def decided(
    memory: Memory, actions: Iterable[Action], now: Now, then: TurnStep | None = None
) -> StepDecision:
    """The decision for these actions, with what they do to the memory."""
    actions = tuple(actions)
    for action in actions:
        memory = begun(memory, action, now.began, now.seconds, now.random)
    return StepDecision(actions, memory, then)
