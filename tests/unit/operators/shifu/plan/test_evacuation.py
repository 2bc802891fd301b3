"""Which devices leave a lost node, when, in which order and to which node; and when none does."""

from __future__ import annotations

import pytest

from quintant.core.object import ObjectMeta, Request
from quintant.operators.shifu.api.device import EdgeDeviceSpec
from quintant.operators.shifu.observed.device_view import ShifuDevice
from quintant.operators.shifu.observed.moves import EvacuationView, LostNode, StrandedDevice
from quintant.operators.shifu.plan.evacuation import (
    Evacuation,
    EvacuationMemory,
    Evacuee,
    GuardPhase,
    GuardState,
    guard_step,
    leaving,
    plan_evacuation,
)
from quintant.operators.shifu.plan.placement import NodeOffer, NodeTable
from quintant.operators.shifu.rules.amounts import MEBIBYTE

CLEAR, HOLDING, EXPIRED = GuardPhase.CLEAR, GuardPhase.HOLDING, GuardPhase.EXPIRED


def key(name: str) -> Request:
    return Request(name, "devices")


def stranded(name: str, *, avoided: str = "", **hints: str) -> StrandedDevice:
    notes = {f"shifu.edgenesis.io/{hint.replace('_', '-')}": text for hint, text in hints.items()}
    device = ShifuDevice(
        metadata=ObjectMeta(name=name, namespace="devices", annotations=notes),
        spec=EdgeDeviceSpec(protocol="HTTP", address="b:1"),
    )
    return StrandedDevice(key(name), device, "n1", frozenset(avoided.split()))


def view(*devices: StrandedDevice, away: int = 1, capacity: int = 7) -> EvacuationView:
    lost = {"n1": LostNode(since=0.0)}
    return EvacuationView(100.0, 4, away, capacity, lost, devices)


def planned(
    given: EvacuationView, memory: EvacuationMemory = EvacuationMemory(), free: int = 64
) -> Evacuation:
    """What is planned where n2 has room for so many MiB, and n1 is lost."""

    def new_table() -> NodeTable:
        return NodeTable([NodeOffer("n1", "Lost"), NodeOffer("n2", free=free * MEBIBYTE)])

    return plan_evacuation(given, memory, new_table, expires=600.0)


def test_the_most_important_gets_the_room_that_there_is() -> None:
    evacuation = planned(view(stranded("a"), stranded("b", priority="5")))
    assert [each.name for each in evacuation.due] == ["b", "a"]
    (move,) = evacuation.moves
    assert (move.key, move.node, move.decision.node) == (key("b"), "n1", "n2")
    assert list(evacuation.unplaced) == [key("a")]
    assert "InsufficientMemory" in evacuation.unplaced[key("a")]


def test_those_that_stay_are_in_no_plan() -> None:
    evacuation = planned(view(stranded("a", reschedule="never"), stranded("b", edge_node="n1")))
    assert (evacuation.due, evacuation.moves, evacuation.unplaced) == ((), (), {})


def test_a_node_that_did_not_work_out_is_better_than_none() -> None:
    (move,) = planned(view(stranded("a", avoided="n2"))).moves
    assert move.decision.node == "n2"


def test_the_same_is_not_tried_again_before_a_node_has_room() -> None:
    first = planned(view(stranded("a")), free=1)
    assert (first.due, first.moves) == ((key("a"),), ())
    memory = EvacuationMemory(first.memory.guard, first.memory.tried, capacity=7)
    assert planned(view(stranded("a")), memory).due == ()
    assert planned(view(stranded("a"), stranded("b")), memory).due == (key("a"), key("b"))
    assert planned(view(stranded("a"), capacity=8), memory).moves != ()


def test_nobody_leaves_while_most_nodes_are_away() -> None:
    evacuation = planned(view(stranded("a"), away=3))
    assert (evacuation.held, evacuation.due) == (True, ())
    assert not planned(view(stranded("a")), evacuation.memory).held


def test_the_more_important_leave_first_then_the_older() -> None:
    lost = {"n1": LostNode(since=0.0)}
    evacuees = [
        Evacuee(key("c"), "n1", created="2026-01-02"),
        Evacuee(key("b"), "n1", created="2026-01-01"),
        Evacuee(key("a"), "n1", created="2026-01-02"),
        Evacuee(key("z"), "n1", priority=9, created="2026-01-09"),
        Evacuee(key("last"), "n1", priority=-1, created="2025-01-01"),
    ]
    assert [each.key.name for each in leaving(evacuees, lost, 100.0)] == [
        "z", "b", "a", "c", "last",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("node", "evacuee", "leaves"),
    [
        ({}, {}, True),
        ({}, {"stays": True}, False),
        ({}, {"autonomy": 101.0}, False),
        ({}, {"autonomy": 100.0}, True),
        ({"autonomy": 300.0}, {}, False),
        ({"autonomy": 300.0}, {"autonomy": 50.0}, True),
        ({"autonomy": 300.0, "crashed": True}, {}, True),
        ({"crashed": True}, {"autonomy": 500.0}, True),
        ({"crashed": True}, {"stays": True}, False),
    ],
)
def test_who_leaves(node: dict[str, float], evacuee: dict[str, float], leaves: bool) -> None:
    lost = {"n1": LostNode(0.0, **node)}  # type: ignore[arg-type]
    found = leaving([Evacuee(key("a"), "n1", **evacuee)], lost, 100.0)  # type: ignore[arg-type]
    assert bool(found) is leaves


@pytest.mark.parametrize(
    ("known", "away", "phase"),
    [(3, 2, CLEAR), (3, 3, HOLDING), (10, 5, CLEAR), (10, 6, HOLDING), (100, 55, CLEAR)],
)
def test_the_guard_holds_when_most_nodes_are_away(known: int, away: int, phase: GuardPhase) -> None:
    found = guard_step(GuardState(), known=known, away=away, now=5.0, expires=600.0)
    assert found.phase is phase


def test_the_guard_ends_with_the_trouble_or_with_its_time() -> None:
    state, found = GuardState(), []
    for now, away in ((0, 8), (599, 8), (600, 8), (900, 8), (901, 2), (902, 8)):
        state = guard_step(state, known=10, away=away, now=float(now), expires=600.0)
        found.append(state.phase)
    assert found == [HOLDING, HOLDING, EXPIRED, EXPIRED, CLEAR, HOLDING]
