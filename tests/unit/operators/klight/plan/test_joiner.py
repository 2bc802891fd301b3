"""What is done about a peer that does not serve, and what the gates of pods show."""

from __future__ import annotations

import dataclasses

import pytest

from quintant.api.core import PodReadinessGate
from quintant.core.object import replace
from quintant.operators.klight.api import JOINED, JOINING, PeerPod, PeerSpec, PeerStatus
from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import End, Postpone
from quintant.operators.klight.plan.joiner import (
    LONG_SECONDS,
    START_SECONDS,
    adopt,
    found_network,
    gate_condition,
    not_serving,
    warning,
    withdrawn,
)
from quintant.runtime.workqueue.attempts import JITTER
from unit.operators.klight.plan.peers import NOW, member, peer


def test_a_peer_that_answers_the_truth_again_is_tried_within_a_minute() -> None:
    assert LONG_SECONDS * (1 + JITTER) + Options().join_timeout < 60


def test_nobody_is_warned_of_a_peer_that_only_starts() -> None:
    assert not_serving(peer("p"), PeerHealth.REFUSED, START_SECONDS).reason == ""
    late = not_serving(peer("p"), PeerHealth.REFUSED, START_SECONDS + 1)
    assert (late.reason, late.backoff, late.end) == ("Waiting", None, None)
    assert warning(late) == "p:9081 is not listening; is lightpeer running there?"


def test_something_else_that_listens_is_left_alone_for_long_and_named() -> None:
    action = not_serving(peer("p"), PeerHealth.FOREIGN, 0.0)
    assert (action.reason, action.end) == ("NotALightpeer", End.NOT_A_PEER)
    assert action.backoff == LONG_SECONDS
    assert action.unsettled is None
    assert "no lightpeer" in warning(action)


def gated() -> PeerPod:
    """A pod that is ready only as a member."""
    spec = PeerSpec(readiness_gates=(PodReadinessGate(condition_type=JOINED),))
    return replace(peer("p").pod, spec=spec)


def test_pod_with_the_gate_is_told_once_that_it_waits_and_once_that_it_is_a_member() -> None:
    pod = gated()
    for waits, status in (("not in a yet", "False"), ("", "True")):
        condition = gate_condition(pod, waits, NOW)
        assert condition is not None
        assert (condition.status, condition.message) == (status, waits)
        pod = replace(pod, status=PeerStatus(conditions=(condition,)))
        assert gate_condition(pod, waits, NOW) is None


def test_pod_without_the_gate_is_told_nothing() -> None:
    assert gate_condition(peer("p").pod, "", NOW) is None


def test_founder_and_adopted_member_are_recorded_one_generation_on() -> None:
    joiner, stack = peer("p", generation=2), (member("c"),)
    for action, via in (
        (found_network(joiner, (), NOW), "founder"),
        (adopt(joiner, stack, NOW), "adopted"),
    ):
        assert (action.record.joined_via, action.record.generation) == (via, 3)
        assert action.member.current


def intended(name: str) -> PeerView:
    """A peer on whose pod an intent stands."""
    joiner = peer(name)
    meta = replace(joiner.pod.metadata, annotations={JOINING: f"c:9081 {name}"})
    return dataclasses.replace(joiner, pod=replace(joiner.pod, metadata=meta))


@pytest.mark.parametrize(
    ("joiner", "end", "intents", "withdraws"),
    [
        (peer("p"), End.REFUSED, {"p"}, True),
        (intended("p"), End.REFUSED, set(), True),
        (peer("p"), End.REFUSED, set(), False),
        (intended("p"), End.UNSETTLED, {"p"}, False),
        (intended("p"), None, {"p"}, False),
    ],
)
def test_intent_is_withdrawn_if_it_was_surely_not_followed(
    joiner: PeerView, end: End | None, intents: set[str], withdraws: bool
) -> None:
    assert withdrawn(Postpone(joiner, "", end=end), intents).withdraws is withdraws
