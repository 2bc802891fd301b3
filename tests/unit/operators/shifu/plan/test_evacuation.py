"""Who leaves a lost node, when, in which order; and when nobody does."""

from __future__ import annotations

import pytest

from quintant.core.object import Request
from quintant.operators.shifu.plan.evacuation import (
    Evacuee,
    GuardPhase,
    GuardState,
    LostNode,
    guard_step,
    leaving,
)

CLEAR, HOLDING, EXPIRED = GuardPhase.CLEAR, GuardPhase.HOLDING, GuardPhase.EXPIRED


def key(name: str) -> Request:
    return Request(name, "devices")


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
