"""The step that finds whose membership is over."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.object import ObjectMeta, Request, replace
from quintant.operators.klight.api import LABEL, PeerPod
from quintant.operators.klight.api.lightnetwork import (
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
    NetworkPeer,
)
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import LeaveMemory, Memory
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import NetworkQuestion, PodsLook
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.leave import LeaveStep, released
from quintant.operators.klight.plan.release import ReleaseStep
from quintant.operators.klight.plan.step import StepDecision
from unit.operators.klight.plan.peers import KEY, peer, talk

RECORD = Membership("ns/a", "p", "p:9081", "2026", "founder")
ELSEWHERE = Membership("ns/b", "p", "p:9081", "2026", "founder")


def pod(record: Membership | None = RECORD, label: str = "", uid: str = "p") -> PeerPod:
    labels = {LABEL: label} if label else {}
    annotations = record.annotations() if record is not None else {}
    made = peer("p").pod
    meta = replace(made.metadata, labels=labels, annotations=annotations, uid=uid)
    return replace(made, metadata=meta)


def decided(
    memory: Memory,
    cached: PeerPod | None = None,
    live: PeerPod | None = None,
    observed: Observed = Observed(KEY),
) -> tuple[StepDecision, list[bool]]:
    """What follows if caches and API server have these, and which of them were asked."""

    def reply(question: NetworkQuestion[Any]) -> dict[Request, PeerPod]:
        assert isinstance(question, PodsLook)
        found = live if question.live else cached
        return {found.key: found} if found is not None else {}

    decision, questions = talk(LeaveStep(Options()), observed, memory, reply)
    return decision, [each.live for each in questions if isinstance(each, PodsLook)]


MEMBER = Memory(leave=LeaveMemory(members={"p": Request("p", "ns")}))


def test_nothing_is_looked_for_where_no_pod_is_expected() -> None:
    decision, looks = decided(Memory())
    assert (looks, decision.then) == ([], None)


def test_pod_that_caches_have_is_not_looked_for_at_the_server() -> None:
    decision, looks = decided(MEMBER, cached=pod(label="a"))
    assert (looks, decision.then) == ([False], None)
    assert decision.memory == MEMBER


def test_pod_without_its_label_leaves() -> None:
    decision, looks = decided(MEMBER, live=pod())
    assert looks == [False, True]
    assert decision.then == ReleaseStep(Options(), (pod(),))
    assert decision.memory.leave.leaving == {"p": pod()}


@pytest.mark.parametrize("live", [None, pod(uid="another"), pod(label="a"), pod(ELSEWHERE)])
def test_pod_that_is_gone_or_has_a_network_is_looked_for_once(live: PeerPod | None) -> None:
    decision, _ = decided(MEMBER, live=live)
    assert decision.then is None
    assert decision.memory.leave == LeaveMemory(ended=frozenset({"p"}))
    status = LightNetworkStatus(peers=(NetworkPeer(pod="p", uid="p"),))
    meta = ObjectMeta(name="a", namespace="ns")
    shown = LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id="a"), status=status)
    observed = Observed(KEY, lightnetwork=shown)
    assert decided(decision.memory, observed=observed)[1] == []


def test_pod_that_has_its_label_again_is_leaving_no_more() -> None:
    memory = Memory(leave=LeaveMemory(leaving={"p": pod()}))
    decision, _ = decided(memory, cached=pod(label="a"))
    assert (decision.memory.leave.leaving, decision.then) == ({}, None)


def test_pods_with_another_label_leave_too() -> None:
    moved = pod(label="b")
    decision, _ = decided(Memory(), observed=Observed(KEY, leavers=(moved,)))
    assert decision.then == ReleaseStep(Options(), (moved,))


@pytest.mark.parametrize(
    ("candidate", "over"),
    [
        (pod(), True),
        (pod(ELSEWHERE), False),
        (pod(None), False),
        (pod(label="a"), False),
    ],
)
def test_pod_is_released_if_it_bears_our_record_and_no_label(
    candidate: PeerPod, over: bool
) -> None:
    assert released(candidate, KEY, Options()) is over
