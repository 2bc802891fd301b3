"""What a LightNetwork says of its network."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.meta import condition_of
from quintant.core.object import ObjectMeta, Request
from quintant.operators.klight.lightnetwork.api import (
    REPAIR,
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
)
from quintant.operators.klight.lightnetwork.plan import (
    STACK_SHOWN,
    STATUS_SECONDS,
    phase_of,
    states,
    status_of,
    write_pause,
)
from quintant.operators.klight.observe.membership import Membership
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import Observed, PeerView
from quintant.operators.klight.plan.candidates import PACE_SECONDS
from unit.operators.klight.plan.peers import peer

KEY, NOW = Request("a", "ns"), datetime(2026, 1, 1, tzinfo=UTC)


def member(name: str) -> PeerView:
    """A peer that is recorded as it is."""
    return replace(peer(name), record=Membership("ns/a", name, f"{name}:9081", "2026", "founder"))


def shown(asked: str = "", status: LightNetworkStatus | None = None) -> LightNetwork:
    annotations = {REPAIR: asked} if asked else {}
    meta = ObjectMeta(name="a", namespace="ns", generation=3, annotations=annotations)
    return LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id="a"), status=status)


MEMBERS = (member("p2"), member("p1"))


@pytest.mark.parametrize(
    ("observed", "memory", "phase", "why"),
    [
        (Observed(KEY), Memory(), "Empty", "no pod"),
        (Observed(KEY, (), (peer("p1"),)), Memory(), "Forming", "about to be formed"),
        (Observed(KEY, MEMBERS), Memory(), "Ready", "2 members"),
        (Observed(KEY, MEMBERS), Memory(misses={"p1": 1}), "Degraded", "ns/p1"),
        (Observed(KEY, MEMBERS), Memory(trouble="no room"), "Degraded", "no room"),
        (Observed(KEY, MEMBERS), Memory(missing={"p1": 2}), "Split", "ns/p1"),
        (Observed(KEY, MEMBERS), Memory(missing={"p1": 1}), "Ready", "2 members"),
        (Observed(KEY, MEMBERS, (peer("p3", lapsed=True),)), Memory(), "Degraded", "ns/p3"),
    ],
)
def test_phase_of_a_network_and_why(
    observed: Observed, memory: Memory, phase: str, why: str
) -> None:
    found, said = phase_of(observed, memory)
    assert found == phase
    assert why in said


def test_forming_network_says_for_what_it_waits() -> None:
    memory = Memory()
    memory.wait("p1", "p1", 0.0).reason = "p1:9081 is not listening"
    said = phase_of(Observed(KEY, (), (peer("p1"),)), memory)[1]
    assert said == "ns/p1: p1:9081 is not listening"


def test_status_has_the_numbers_and_as_much_of_the_stack_as_fits() -> None:
    stack = tuple(member(f"p{number}") for number in range(STACK_SHOWN + 5))
    observed = Observed(KEY, stack, (peer("new"), peer("old", lapsed=True)))
    status = status_of(shown(), observed, Memory(misses={"p0": 1}, head="h", height=7), NOW)
    assert (status.members, status.ready, status.pending, status.down) == (55, 54, 1, 1)
    assert (status.contact, len(status.stack)) == ("p0:9081", STACK_SHOWN)
    assert (status.head_id, status.height, status.observed_generation) == ("h", 7, 3)
    assert [each.state for each in status.peers[:2]] == ["Suspect", "Up"]


@pytest.mark.parametrize(
    ("memory", "handled"),
    [
        (Memory(), "monday"),
        (Memory(repaired="nothing to do", handled="monday"), "monday"),
        (Memory(repaired="nothing to do", handled="tuesday"), "tuesday"),
    ],
)
def test_request_for_a_repair_is_handled_once_there_was_one(memory: Memory, handled: str) -> None:
    before = LightNetworkStatus(repair_handled="monday")
    status = status_of(shown("tuesday", before), Observed(KEY, MEMBERS), memory, NOW)
    assert status.repair_handled == handled
    told = condition_of(status.conditions, "Repairing")
    assert (told.message if told else "") == memory.repaired


def test_every_pod_is_in_one_state() -> None:
    moved = replace(peer("m"), record=Membership("ns/b", "m", "m:9081", "2026", "founder"))
    barred = replace(peer("x"), obstacle="it is paused")
    observed = Observed(KEY, MEMBERS, (peer("new"), peer("old", lapsed=True), moved), (barred,))
    assert states(observed, Memory(misses={"p1": 1})) == dict.fromkeys(
        ("Up", "Suspect", "Down", "Waiting", "Moving", "Invalid"), 1
    )


@given(st.floats(0, 1e6), st.floats(0, 2))
def test_status_is_not_written_too_often_and_never_waited_for_without_an_end(
    written: float, passed: float
) -> None:
    now = written + passed
    pause = write_pause(written, now)
    assert pause == 0 or (pause >= PACE_SECONDS and now + pause > now)
    assert pause > 0 or now >= written + STATUS_SECONDS
    assert write_pause(float("-inf"), now) == 0
