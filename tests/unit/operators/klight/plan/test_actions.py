"""What is done about a peer that does not serve, and what pods with a gate are told."""

from __future__ import annotations

from datetime import UTC, datetime

from quintant.api.core import PodReadinessGate
from quintant.core.object import replace
from quintant.operators.klight.api import JOINED, PeerPod, PeerSpec, PeerStatus
from quintant.operators.klight.plan.actions import (
    START_SECONDS,
    End,
    gate_condition,
    not_serving,
    warning,
)
from quintant.operators.klight.plan.join_result import PeerHealth
from unit.operators.klight.plan.peers import peer


def test_nobody_is_warned_of_a_peer_that_only_starts() -> None:
    assert not_serving(peer("p"), PeerHealth.REFUSED, START_SECONDS).reason == ""
    late = not_serving(peer("p"), PeerHealth.REFUSED, START_SECONDS + 1)
    assert (late.reason, late.long, late.end) == ("Waiting", False, None)
    assert warning(late) == "p:9081 is not listening; is lightpeer running there?"


def test_something_else_that_listens_is_left_alone_for_long_and_named() -> None:
    action = not_serving(peer("p"), PeerHealth.FOREIGN, 0.0)
    assert (action.reason, action.long, action.end) == ("NotALightpeer", True, End.NOT_A_PEER)
    assert action.unsettled is None
    assert "no lightpeer" in warning(action)


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def gated() -> PeerPod:
    """A pod that is ready only as a member."""
    spec = PeerSpec(readiness_gates=(PodReadinessGate(condition_type=JOINED),))
    return replace(peer("p").pod, spec=spec)


def test_pod_with_the_gate_is_told_once_that_it_waits_and_once_that_it_is_a_member() -> None:
    pod = gated()
    for waits, status in (("not in a yet", "False"), ("", "True")):
        told = gate_condition(pod, waits, NOW)
        assert told is not None
        assert (told.status, told.message) == (status, waits)
        pod = replace(pod, status=PeerStatus(conditions=(told,)))
        assert gate_condition(pod, waits, NOW) is None


def test_pod_without_the_gate_is_told_nothing() -> None:
    assert gate_condition(peer("p").pod, "", NOW) is None
