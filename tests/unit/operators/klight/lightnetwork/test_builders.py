"""What a LightNetwork says of its network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quintant.api.meta import condition_of
from quintant.core.object import ObjectMeta
from quintant.operators.klight.api.lightnetwork import (
    REPAIR,
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
)
from quintant.operators.klight.lightnetwork.builders import (
    STACK_SHOWN,
    phase_of,
    states,
    status_of,
)
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import (
    JoinMemory,
    LeaveMemory,
    Memory,
    ProbeMemory,
    ShowMemory,
    Wait,
)
from quintant.operators.klight.observed.network import Observed
from unit.operators.klight.plan.peers import KEY, NOW, member, peer


def lightnetwork(request: str = "", status: LightNetworkStatus | None = None) -> LightNetwork:
    annotations = {REPAIR: request} if request else {}
    meta = ObjectMeta(name="a", namespace="ns", generation=3, annotations=annotations)
    return LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id="a"), status=status)


MEMBERS = (member("p2"), member("p1"))


@pytest.mark.parametrize(
    ("observed", "memory", "phase", "why"),
    [
        (Observed(KEY), Memory(), "Empty", "no pod"),
        (Observed(KEY, (), (peer("p1"),)), Memory(), "Forming", "about to be formed"),
        (Observed(KEY, MEMBERS), Memory(), "Ready", "2 members"),
        (Observed(KEY, MEMBERS), Memory(probe=ProbeMemory(misses={"p1": 1})), "Degraded", "ns/p1"),
        (Observed(KEY, MEMBERS), Memory(join=JoinMemory(trouble="no room")), "Degraded", "no room"),
        (Observed(KEY, MEMBERS), Memory(probe=ProbeMemory(missing={"p1": 2})), "Split", "ns/p1"),
        (
            Observed(KEY, MEMBERS),
            Memory(probe=ProbeMemory(missing={"p1": 1})),
            "Ready",
            "2 members",
        ),
        (Observed(KEY, MEMBERS, (peer("p3", lapsed=True),)), Memory(), "Degraded", "ns/p3"),
    ],
)
def test_phase_of_a_network_and_why(
    observed: Observed, memory: Memory, phase: str, why: str
) -> None:
    shown, message = phase_of(observed, memory)
    assert shown == phase
    assert why in message


def test_forming_network_says_for_what_it_waits() -> None:
    waits = {"p1": Wait("p1", 0.0, reason="p1:9081 is not listening")}
    message = phase_of(Observed(KEY, (), (peer("p1"),)), Memory(join=JoinMemory(waits)))[1]
    assert message == "ns/p1: p1:9081 is not listening"


def test_status_has_the_numbers_and_as_much_of_the_stack_as_fits() -> None:
    stack = tuple(member(f"p{number}") for number in range(STACK_SHOWN + 5))
    observed = Observed(KEY, stack, (peer("new"), peer("old", lapsed=True)))
    memory = Memory(probe=ProbeMemory(misses={"p0": 1}, head="h", height=7))
    status = status_of(lightnetwork(), observed, memory, NOW, "manual")
    assert (status.members, status.ready, status.pending, status.down) == (55, 54, 1, 1)
    assert (status.contact, len(status.stack)) == ("p0:9081", STACK_SHOWN)
    assert (status.head_id, status.height, status.observed_generation) == ("h", 7, 3)
    assert [each.state for each in status.peers[:2]] == ["Suspect", "Up"]


@pytest.mark.parametrize(
    ("memory", "handled"),
    [
        (Memory(), "monday"),
        (Memory(show=ShowMemory(repaired="nothing to do", handled="monday")), "monday"),
        (Memory(show=ShowMemory(repaired="nothing to do", handled="tuesday")), "tuesday"),
    ],
)
def test_request_for_a_repair_is_handled_once_there_was_one(memory: Memory, handled: str) -> None:
    before = LightNetworkStatus(repair_handled="monday")
    status = status_of(
        lightnetwork("tuesday", before), Observed(KEY, MEMBERS), memory, NOW, "manual"
    )
    assert status.repair_handled == handled
    condition = condition_of(status.conditions, "Repairing")
    assert (condition.message if condition else "") == memory.show.repaired


def test_every_pod_is_in_one_state() -> None:
    moved = replace(peer("m"), record=Membership("ns/b", "m", "m:9081", "2026", "founder"))
    barred = replace(peer("x"), obstacle="it is paused")
    observed = Observed(KEY, MEMBERS, (peer("new"), peer("old", lapsed=True), moved), (barred,))
    assert states(observed, Memory(probe=ProbeMemory(misses={"p1": 1}))) == dict.fromkeys(
        ("Up", "Suspect", "Down", "Waiting", "Moving", "Invalid"), 1
    )


def test_pod_that_has_not_left_is_shown_so_that_a_restart_continues() -> None:
    memory = Memory(leave=LeaveMemory(leaving={"gone": peer("gone").pod}))
    status = status_of(lightnetwork(), Observed(KEY, MEMBERS), memory, NOW, "manual")
    assert (status.peers[0].pod, status.peers[0].state) == ("gone", "Moving")
