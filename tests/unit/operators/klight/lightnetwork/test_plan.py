"""The step that shows a network: gates, series, its LightNetwork, and when to look again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.core import PodReadinessGate
from quintant.core.object import ObjectMeta, Request
from quintant.core.object import replace as replaced
from quintant.operators.klight.api import JOINED, PeerSpec
from quintant.operators.klight.api.lightnetwork import (
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
)
from quintant.operators.klight.lightnetwork.plan import (
    STATUS_SECONDS,
    PublishStep,
    ShowStep,
    gates,
    write_pause,
)
from quintant.operators.klight.observed.memory import LeaveMemory, Memory, ProbeMemory, ShowMemory
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import Create, NetworkQuestion
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Conclude, Measure, Retire
from quintant.operators.klight.plan.step import StepDecision
from quintant.operators.klight.plan.turn import PACE_SECONDS
from quintant.runtime.reconcile.result import Result
from unit.operators.klight.plan.peers import KEY, member, moment, peer, replies, talk

OPTIONS = Options(gc_after=300.0)
LIGHTNETWORK = LightNetwork(
    metadata=ObjectMeta(name="a", namespace="ns"), spec=LightNetworkSpec(network_id="a")
)
NETWORK = Observed(KEY, (member("p"),), lightnetwork=LIGHTNETWORK)


def shown(observed: Observed, memory: Memory, seconds: float = 100.0) -> StepDecision:
    return talk(ShowStep(OPTIONS), observed, memory, replies(), moment(seconds))[0]


def gated(view: PeerView) -> PeerView:
    """A peer whose pod is ready only as a member."""
    spec = PeerSpec(readiness_gates=(PodReadinessGate(condition_type=JOINED),))
    return replace(view, pod=replaced(view.pod, spec=spec))


def test_gates_show_members_and_for_what_the_others_wait() -> None:
    barred = replace(gated(peer("x")), obstacle="it is paused")
    observed = Observed(KEY, (gated(member("p")), member("q")), (gated(peer("new")),), (barred,))
    found = {each.pod.metadata.name: each.condition for each in gates(observed, moment())}
    assert {name: (each.status, each.message) for name, each in found.items()} == {
        "p": ("True", ""), "new": ("False", "not in a yet"), "x": ("False", "it is paused"),
    }  # fmt: skip


def test_status_is_written_at_once_and_then_not_too_often() -> None:
    memory = Memory(probe=ProbeMemory(due=105.0))
    decision = shown(NETWORK, memory)
    assert decision.then == PublishStep(OPTIONS, Result(5.0))
    soon = replace(memory, show=ShowMemory(written=99.5))
    assert shown(NETWORK, soon).then is None
    assert shown(NETWORK, soon).again == Result(0.5)


def test_pods_that_are_no_more_are_forgotten_and_measured_no_more() -> None:
    decision = shown(NETWORK, Memory(probe=ProbeMemory(misses={"gone": 1})))
    assert decision.memory.probe.misses == {}
    measure = decision.actions[0]
    assert isinstance(measure, Measure)
    assert (measure.uids, measure.depth, measure.states["Up"]) == (frozenset("p"), 1, 1)


@pytest.mark.parametrize(
    ("lightnetwork", "empty", "again", "retired"),
    [
        (LIGHTNETWORK, None, 300.0, False),
        (LIGHTNETWORK, 50.0, 250.0, False),
        (LIGHTNETWORK, -200.0, None, True),
        (None, None, None, True),
    ],
)
def test_empty_network_is_shown_for_a_while_then_removed(
    lightnetwork: LightNetwork | None, empty: float | None, again: float | None, retired: bool
) -> None:
    observed = Observed(KEY, lightnetwork=lightnetwork)
    decision = shown(observed, Memory(show=ShowMemory(empty=empty)))
    then = PublishStep(OPTIONS, Result(again)) if again is not None else None
    assert decision.then == then
    assert (decision.actions[-1] == Retire(lightnetwork)) is retired


def test_network_whose_last_pod_has_not_left_is_not_empty() -> None:
    memory = Memory(leave=LeaveMemory(leaving={"p": peer("p").pod}), show=ShowMemory(empty=1.0))
    assert shown(Observed(KEY, lightnetwork=LIGHTNETWORK), memory).memory.show.empty is None


def test_lightnetwork_is_created_with_the_first_status() -> None:
    def reply(question: NetworkQuestion[Any]) -> LightNetwork:
        assert isinstance(question, Create)
        assert question.key == Request("a", "ns")
        return question.wanted

    step, observed = PublishStep(OPTIONS, Result(5.0)), replace(NETWORK, lightnetwork=None)
    decision, _ = talk(step, observed, Memory(), reply, moment(7.0))
    (action,) = decision.actions
    assert isinstance(action, Conclude)
    status = action.conclusion.status
    assert status is not None
    assert (status.phase, status.members) == ("Ready", 1)
    assert [each.reason for each in action.conclusion.events] == ["Ready"]
    assert (decision.memory.show.written, decision.again) == (7.0, Result(5.0))


def test_lightnetwork_that_another_made_is_left_to_the_next_look() -> None:
    step, observed = PublishStep(OPTIONS, Result(5.0)), replace(NETWORK, lightnetwork=None)
    decision, _ = talk(step, observed, Memory(), lambda _: None)
    assert (decision.actions, decision.again) == ((), Result(5.0))
    assert decision.memory == Memory()


def test_phase_that_stays_is_no_event() -> None:
    before = replaced(LIGHTNETWORK, status=LightNetworkStatus(phase="Ready"))
    step = PublishStep(OPTIONS, Result(5.0))
    (action,) = talk(step, replace(NETWORK, lightnetwork=before), Memory(), replies())[0].actions
    assert isinstance(action, Conclude)
    assert action.conclusion.events == ()


@given(st.floats(0, 1e6), st.floats(0, 2))
def test_status_is_not_written_too_often_and_never_waited_for_without_an_end(
    written: float, passed: float
) -> None:
    now = written + passed
    pause = write_pause(written, now)
    assert pause == 0 or (pause >= PACE_SECONDS and now + pause > now)
    assert pause > 0 or now >= written + STATUS_SECONDS
    assert write_pause(float("-inf"), now) == 0
