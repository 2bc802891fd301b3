"""How the membership of a pod ends."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.object import replace
from quintant.operators.klight.api import GENERATION, INCARNATION, LABEL, PeerPod, PeerStatus
from quintant.operators.klight.observed.answers import Answer, PeerHealth
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import LeaveMemory, Memory, Wait
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import Leave, NetworkQuestion, PeerCall
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Erase, Warn
from quintant.operators.klight.plan.release import TRIES, ReleaseStep
from quintant.operators.klight.plan.step import StepDecision
from quintant.operators.klight.rules import incarnation_of
from unit.operators.klight.plan.peers import KEY, moment, peer, talk

SERVING, REFUSED = PeerHealth.SERVING, PeerHealth.REFUSED


def pod(name: str = "p", label: str = "", life: str = "") -> PeerPod:
    """A pod that runs and is recorded, in this life unless another is named."""
    made = peer(name).pod
    made = replace(made, status=PeerStatus(phase="Running", pod_ip=name))
    record = Membership("ns/a", life or incarnation_of(made), f"{name}:9081", "2026", "founder")
    meta = replace(
        made.metadata, labels={LABEL: label} if label else {}, annotations=record.annotations()
    )
    return replace(made, metadata=meta)


def ended(
    *pods: PeerPod,
    code: str = "OK",
    health: PeerHealth = SERVING,
    memory: Memory = Memory(),
    seconds: float = 10.0,
) -> tuple[StepDecision, list[NetworkQuestion[Any]]]:
    """What follows if a peer answers so."""

    def reply(question: NetworkQuestion[Any]) -> Answer | PeerHealth:
        return Answer(code) if isinstance(question, Leave) else health

    step = ReleaseStep(Options(), pods)
    return talk(step, Observed(KEY), memory, reply, moment(seconds))


def tried(failures: int, due: float = 0.0) -> Memory:
    """The memory of a peer that was asked to leave so often."""
    wait = Wait(incarnation_of(pod()), 0.0, failures=failures, due=due)
    return Memory(leave=LeaveMemory(waits={"p": wait}))


@pytest.mark.parametrize(
    ("code", "health", "failures", "actions"),
    [
        ("OK", SERVING, 0, [Erase]),
        ("UNIMPLEMENTED", SERVING, 0, [Warn, Erase]),
        ("UNAVAILABLE", REFUSED, 0, [Erase]),
        ("UNAVAILABLE", SERVING, 0, []),
        ("UNAVAILABLE", SERVING, TRIES - 1, []),
        ("UNAVAILABLE", SERVING, TRIES, [Warn, Erase]),
    ],
)
def test_record_goes_once_the_peer_left_or_cannot(
    code: str, health: PeerHealth, failures: int, actions: list[type]
) -> None:
    decision, questions = ended(pod(), code=code, health=health, memory=tried(failures))
    assert [type(each) for each in decision.actions] == actions
    checks = [each for each in questions if isinstance(each, PeerCall)]
    assert len(checks) == (code == "UNAVAILABLE")


def test_peer_that_did_not_leave_is_asked_again_later() -> None:
    memory = ended(pod(), code="UNAVAILABLE")[0].memory
    wait = memory.leave.waits["p"]
    assert (wait.failures, wait.due > 10.0) == (1, True)
    decision, questions = ended(pod(), memory=memory, seconds=wait.due - 0.1)
    assert (decision.actions, questions) == ((), [])


def test_peer_that_does_not_live_is_not_asked() -> None:
    decision, questions = ended(pod(life="another"))
    assert questions == []
    assert [type(each) for each in decision.actions] == [Erase]


@pytest.mark.parametrize(
    ("label", "remaining", "reason"),
    [("b", {INCARNATION, GENERATION}, "Moved"), ("", set(), "Left")],
)
def test_pod_that_moves_keeps_what_the_next_network_wants_to_know(
    label: str, remaining: set[str], reason: str
) -> None:
    (action,) = ended(pod(label=label))[0].actions
    assert isinstance(action, Erase)
    assert action.remaining.keys() == remaining
    assert action.event is not None
    assert action.event.reason == reason


def test_one_pod_after_another() -> None:
    decision, questions = ended(pod(), pod("q"))
    assert [each.address for each in questions if isinstance(each, Leave)] == ["p:9081"]
    assert decision.then == ReleaseStep(Options(), (pod("q"),))
