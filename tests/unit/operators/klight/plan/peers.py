"""Peers by name, moments and answers, for plans to decide about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from quintant.core.clock import Random
from quintant.core.object import ObjectMeta, Request
from quintant.operators.klight.api import GENERATION, INCARNATION, PeerPod
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import Memory
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import Answers, NetworkQuestion, PeerCall
from quintant.operators.klight.plan.step import Now, StepDecision, TurnStep

KEY = Request("a", "ns")
NOW = datetime(2026, 1, 1, tzinfo=UTC)

Reply = Callable[[NetworkQuestion[Any]], Any]
"""What is answered to a question."""


def peer(name: str, *, made: str = "", generation: int = 0, lapsed: bool = False) -> PeerView:
    """A peer that runs; `generation` is how often it was joined before, `lapsed` in this life."""
    annotations = {GENERATION: str(generation)} if generation else {}
    annotations |= {INCARNATION: name} if lapsed else {}
    meta = ObjectMeta(
        name=name, namespace="ns", uid=name, creation_timestamp=made, annotations=annotations
    )
    return PeerView(PeerPod(metadata=meta), KEY, f"{name}:9081", name, None, "")


def member(name: str, *, joined: str = "2025-01-01T00:00:00.000000Z") -> PeerView:
    """A peer that is recorded as it is."""
    record = Membership("ns/a", name, f"{name}:9081", joined, "founder")
    return replace(peer(name), record=record)


def moment(seconds: float = 0.0, began: float | None = None) -> Now:
    """A moment at which a step decides; it began then, too, unless told otherwise."""
    return Now(seconds if began is None else began, seconds, NOW, Random(1))


def replies(**methods: Mapping[str, Any] | Any) -> Reply:
    """Answers to calls by method, then by the name of the peer; anything else answers all."""

    def reply(question: NetworkQuestion[Any]) -> Any:
        assert isinstance(question, PeerCall)
        answer = methods[question.method]
        name = question.address.removesuffix(":9081")
        return answer[name] if isinstance(answer, Mapping) else answer

    return reply


def talk(
    step: TurnStep, observed: Observed, memory: Memory, reply: Reply, now: Now | None = None
) -> tuple[StepDecision, list[NetworkQuestion[Any]]]:
    """What one step decides if it is answered so, and what it asked."""
    answers, questions, now = Answers(), list[NetworkQuestion[Any]](), now or moment()
    while more := step.questions(observed, memory, answers, now):
        assert not any(each in answers for each in more), "nothing is asked twice"
        questions += more
        answers = answers.extended([(each, reply(each)) for each in more])
    return step.decide(observed, memory, answers, now), questions


def asked_of(questions: list[NetworkQuestion[Any]], method: str) -> list[str]:
    """The peers that were called by a method, in this order."""
    calls = [each for each in questions if isinstance(each, PeerCall) and each.method == method]
    return [each.address.removesuffix(":9081") for each in calls]
