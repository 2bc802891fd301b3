"""Volumes grow once, and nodes that fell behind are restarted once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quintant.api.meta import Condition
from quintant.core.clock import timestamp
from quintant.operators.cosmos.api.full_node import (
    HeightDriftMitigation,
    PvcAutoScale,
    SelfHeal,
    StallRestart,
)
from quintant.operators.cosmos.cache.plan import CometItem
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.remote import DiskUsage
from quintant.operators.cosmos.self_healing.plan import (
    FirstSeen,
    lagging,
    plan_growth,
    plan_restarts,
    sightings,
    troubles,
)
from unit.operators.cosmos.observations import NOW, claim, observed

SCALE = PvcAutoScale(used_space_percentage=80, increase_quantity="20Gi")
EARLIER = {
    f"hub-{at}": FirstSeen(f"uid-{at}", "drift", NOW - timedelta(seconds=5)) for at in range(4)
}


def drift(threshold: int) -> SelfHeal:
    return SelfHeal(height_drift_mitigation=HeightDriftMitigation(threshold=threshold))


def restarts(seen: Observed, threshold: int, before: dict[str, FirstSeen]) -> list[str]:
    return [each.node.name for each in plan_restarts(seen, drift(threshold), {}, before)]


def sizes(used: int, scale: PvcAutoScale = SCALE, **given: Any) -> dict[str, str]:
    seen = observed("+", claims=(given.pop("claim", claim(0)),), **given)
    return {
        name: str(each.requested_size)
        for name, each in plan_growth(seen, scale, {"pvc-hub-0": used}).items()
    }


def test_a_volume_grows_from_the_mark_on() -> None:
    assert sizes(79) == {}
    assert sizes(80) == {"pvc-hub-0": "120Gi"}


def test_usage_is_rounded() -> None:
    assert DiskUsage(all_bytes=1000, free_bytes=15).percent == 98
    assert DiskUsage(all_bytes=1000, free_bytes=14).percent == 99


def test_what_is_asked_for_already_is_not_asked_for_again() -> None:
    entry = {"requestedSize": "120Gi", "requestedAt": timestamp(NOW)}
    status = {"selfHealing": {"pvcAutoScaler": {"pvc-hub-0": entry}}}
    assert sizes(99, status=status) == {}


def test_a_volume_that_is_growing_is_left_alone() -> None:
    assert sizes(99, claim=claim(0, "100Gi", "130Gi")) == {}
    resizing = Condition(type="FileSystemResizePending", status="True")
    assert sizes(99, claim=claim(0, conditions=(resizing,))) == {}


def test_no_volume_grows_above_the_most() -> None:
    most = PvcAutoScale(used_space_percentage=80, increase_quantity="20Gi", max_size="110Gi")  # type: ignore[arg-type]
    assert sizes(90, most) == {"pvc-hub-0": "110Gi"}
    assert sizes(90, most, claim=claim(0, "110Gi")) == {}


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
    seen = Observed(crd=seen.crd, pods=seen.pods, items=items, now=NOW)
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
