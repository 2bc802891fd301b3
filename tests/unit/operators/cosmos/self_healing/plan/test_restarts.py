"""Nodes that fell behind or stand still are restarted once, within the budget."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quintant.core.clock import timestamp
from quintant.operators.cosmos.api.full_node import (
    HeightDriftMitigation,
    SelfHeal,
    StallRestart,
)
from quintant.operators.cosmos.observed.comet import CometItem
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.self_healing.observed import FirstSeen, HealingMemory
from quintant.operators.cosmos.self_healing.plan.restarts import (
    lagging,
    node_restarts,
    plan_restarts,
    sightings,
    troubles,
)
from unit.operators.cosmos.observations import NOW, observed

EARLIER = {
    f"hub-{at}": FirstSeen(f"uid-{at}", "drift", NOW - timedelta(seconds=5)) for at in range(4)
}


def drift(threshold: int) -> SelfHeal:
    return SelfHeal(height_drift_mitigation=HeightDriftMitigation(threshold=threshold))


def restarts(seen: Observed, threshold: int, before: dict[str, FirstSeen]) -> list[str]:
    return [each.node.name for each in plan_restarts(seen, drift(threshold), {}, before)]


@pytest.mark.parametrize(
    ("threshold", "most", "names"),
    [(10, 1, ["hub-3"]), (5, 4, ["hub-2", "hub-3"]), (3, 1, ["hub-2"])],
)
def test_nodes_that_are_behind_are_restarted_within_the_budget(
    threshold: int, most: int, names: list[str]
) -> None:
    seen = observed("++++", {0: 100, 1: 100, 2: 95, 3: 90}, strategy={"maxUnavailable": most})
    assert restarts(seen, threshold, EARLIER) == names


def test_a_node_that_catches_up_is_not_behind() -> None:
    seen = observed("++~", {2: 10})
    assert lagging(seen.nodes, 10) == []


def test_no_node_is_restarted_on_one_answer() -> None:
    seen = observed("+++", {2: 10})
    assert restarts(seen, 10, {}) == []
    found = sightings(troubles(seen, drift(10), {}), {})
    assert list(found) == ["hub-2"]
    assert restarts(seen, 10, found) == []


def test_a_node_that_was_restarted_is_left_alone_for_a_while() -> None:
    def due(minutes: int) -> list[str]:
        moment = timestamp(NOW - timedelta(minutes=minutes))
        status = {"selfHealing": {"restartedAt": {"hub-2": moment}}}
        seen = observed("+++", {2: 10}, status=status)
        return restarts(seen, 10, EARLIER)

    assert due(9) == []
    assert due(10) == ["hub-2"]


def test_a_newcomer_is_left_alone() -> None:
    young = {"pod2": {"created": NOW - timedelta(seconds=119)}}
    assert restarts(observed("+++", {2: 10}, **young), 10, EARLIER) == []


def test_without_a_budget_nobody_is_restarted() -> None:
    seen = observed("++~", {1: 10}, strategy={"maxUnavailable": 1})
    assert restarts(seen, 10, EARLIER) == []


def stall(states: str, ages: dict[int, int], **given: Any) -> list[str]:
    """The nodes that are stalled for a minute; ages are those of their heights, in seconds."""
    seen = observed(states, **given)
    items = dict(seen.items)
    for at, age in ages.items():
        known = items[f"uid-{at}"]
        since = NOW - timedelta(seconds=age)
        items[f"uid-{at}"] = CometItem(known.asked_at, known.status, NOW, since, known.error,
                                       known.failures, known.failing_since)  # fmt: skip
    seen = Observed(full_node=seen.full_node, pods=seen.pods, items=items, now=NOW)
    wanted = SelfHeal(stall=StallRestart(seconds=60))
    alone = given.get("alone", {})
    return [each.node.name for each in troubles(seen, wanted, alone)]


def test_a_node_that_stands_still_while_others_advance_is_stalled() -> None:
    assert stall("+++", {0: 61}, heights={1: 200}) == ["hub-0"]
    assert stall("+++", {0: 59}, heights={1: 200}) == []
    assert stall("+++", {0: 61, 1: 61, 2: 61}, heights={1: 200}) == []


def test_a_silent_node_is_stalled_after_a_while() -> None:
    assert stall("!++", {}) == ["hub-0"]
    assert stall("#++", {}) == []
    assert stall("?++", {}) == []


def test_a_node_that_is_down_is_restarted_though_the_budget_is_spent_by_itself() -> None:
    wanted = SelfHeal(stall=StallRestart(seconds=60))
    before = {"hub-0": FirstSeen("uid-0", "stall", NOW - timedelta(seconds=5))}
    seen = observed("!++", strategy={"maxUnavailable": 1})
    assert [each.node.name for each in plan_restarts(seen, wanted, {}, before)] == ["hub-0"]
    busy = observed("!~+", strategy={"maxUnavailable": 1})
    assert plan_restarts(busy, wanted, {}, before) == []


def test_a_restart_and_its_refusal_are_reported_by_what_was_wrong() -> None:
    seen, memory = observed("+++", {2: 10}), HealingMemory(troubles=EARLIER)
    (due,) = node_restarts(seen, drift(10), memory)
    assert (due.pod.metadata.name, due.reason) == ("hub-2", "drift")
    assert due.event.reason == "HeightDriftMitigation"
    assert due.event.note == "Restarted hub-2: 10 blocks behind or more"
    refusal = due.refusal("forbidden")
    assert (refusal.type, refusal.reason) == ("Warning", "HeightDriftMitigationDeletePod")
