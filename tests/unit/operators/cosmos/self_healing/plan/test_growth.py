"""Volumes grow once, from the mark on, and never above the most."""

from __future__ import annotations

from typing import Any

from quintant.api.meta import Condition
from quintant.core.clock import timestamp
from quintant.operators.cosmos.api.full_node import PvcAutoScale
from quintant.operators.cosmos.remote import DiskUsage
from quintant.operators.cosmos.self_healing.observed import HealingObserved
from quintant.operators.cosmos.self_healing.plan.growth import larger_sizes, plan_growth
from unit.operators.cosmos.observations import NOW, claim, observed

SCALE = PvcAutoScale(used_space_percentage=80, increase_quantity="20Gi")


def sizes(used: int, scale: PvcAutoScale = SCALE, **given: Any) -> dict[str, str]:
    seen = observed("+", claims=(given.pop("claim", claim(0)),), **given)
    return {
        name: str(each.requested_size)
        for name, each in larger_sizes(seen, scale, {"pvc-hub-0": used}).items()
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
    most = PvcAutoScale(used_space_percentage=80, increase_quantity="20Gi", max_size="110Gi")
    assert sizes(90, most) == {"pvc-hub-0": "110Gi"}
    assert sizes(90, most, claim=claim(0, "110Gi")) == {}


def test_what_grows_is_reported_and_so_is_a_refusal() -> None:
    wanted = {"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "20Gi"}}
    seen = observed("+", claims=(claim(0),), selfHeal=wanted)
    plan = plan_growth(HealingObserved(seen, usage={"pvc-hub-0": 80}))
    assert plan is not None
    assert plan.event.note == "Volumes fill up and grow: pvc-hub-0 to 120Gi"
    assert plan.refusal("no").reason == "PVCAutoScaleSignalResize"


def test_nothing_grows_unless_it_is_asked_for_and_due() -> None:
    wanted = {"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "20Gi"}}
    seen = observed("+", claims=(claim(0),), selfHeal=wanted)
    assert plan_growth(HealingObserved(seen, usage={"pvc-hub-0": 79})) is None
    silent = observed("+", claims=(claim(0),))
    assert plan_growth(HealingObserved(silent, usage={"pvc-hub-0": 99})) is None
