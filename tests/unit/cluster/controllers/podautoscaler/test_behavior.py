"""How fast replicas change, and for how long a proposal is held against earlier ones."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from quintant.api.kubernetes.autoscaling_v2 import (
    HorizontalPodAutoscalerBehavior,
    HPAScalingPolicy,
    HPAScalingRules,
)
from quintant.cluster.controllers.podautoscaler.behavior import (
    NormalizedReplicas,
    Recommendation,
    ScaleEvent,
    ScaleHistory,
    normalize_replicas,
)
from unit.cluster.controllers.podautoscaler.autoscaled_pods import NOW, autoscaler

ALL = HPAScalingPolicy(type="Percent", value=100, period_seconds=15)
FOUR = HPAScalingPolicy(type="Pods", value=4, period_seconds=15)


def before(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def recommended(*given: tuple[int, float]) -> ScaleHistory:
    return ScaleHistory(tuple(Recommendation(count, before(age)) for count, age in given))


def behavior(
    up: dict[str, Any] | None = None, down: dict[str, Any] | None = None
) -> HorizontalPodAutoscalerBehavior:
    """A behavior with what the server fills in."""
    usual = {"select_policy": "Max", "policies": (ALL,)}
    growth = {**usual, "policies": (FOUR, ALL), "stabilization_window_seconds": 0}
    return HorizontalPodAutoscalerBehavior(
        scale_up=HPAScalingRules(**{**growth, **(up or {})}),
        scale_down=HPAScalingRules(**{**usual, **(down or {})}),
    )


def reasons(found: NormalizedReplicas) -> list[str]:
    return [claim.reason for claim in found.claims]


@pytest.mark.parametrize(
    ("current", "proposed", "replicas", "limit"),
    [
        (3, 5, 5, "DesiredWithinRange"),
        (3, 0, 2, "TooFewReplicas"),
        (3, 7, 6, "ScaleUpLimit"),
        (1, 9, 4, "ScaleUpLimit"),
        (8, 30, 10, "TooManyReplicas"),
    ],
)
def test_without_a_behavior_a_target_at_most_doubles(
    current: int, proposed: int, replicas: int, limit: str
) -> None:
    found = normalize_replicas(autoscaler(min_replicas=2), current, proposed, ScaleHistory(), NOW)
    assert found.replicas == replicas
    assert reasons(found) == ["ReadyForNewScale", limit]
    assert found.claims[1].status is (limit != "DesiredWithinRange")


def test_the_highest_proposal_of_five_minutes_counts() -> None:
    found = normalize_replicas(autoscaler(), 6, 2, recommended((6, 300), (4, 10)), NOW)
    assert (found.replicas, reasons(found)[0]) == (6, "ScaleDownStabilized")
    later = normalize_replicas(autoscaler(), 6, 2, recommended((6, 301), (4, 10)), NOW)
    assert later.replicas == 4
    assert [each.replicas for each in later.history.recommendations] == [4, 2]


def test_a_history_begins_with_the_size_that_was_found() -> None:
    history = ScaleHistory().begun(5, NOW)
    assert history.recommendations == (Recommendation(5, NOW),)
    assert history.begun(9, NOW) is history


@pytest.mark.parametrize(
    ("rules", "proposed", "past", "replicas", "reason"),
    [
        # Growth is at once, shrinking waits for five minutes, unless they say otherwise.
        (behavior(), 6, recommended((1, 60)), 6, "ReadyForNewScale"),
        (behavior(), 2, recommended((4, 60)), 4, "ScaleDownStabilized"),
        (behavior(), 2, recommended((4, 300)), 2, "ReadyForNewScale"),
        (
            behavior(down={"stabilization_window_seconds": 0}),
            2,
            recommended((4, 60)),
            2,
            "ReadyForNewScale",
        ),
        (
            behavior(up={"stabilization_window_seconds": 120}),
            6,
            recommended((5, 60), (4, 130)),
            5,
            "ScaleUpStabilized",
        ),
    ],
)
def test_windows_hold_a_proposal_against_earlier_ones(
    rules: HorizontalPodAutoscalerBehavior,
    proposed: int,
    past: ScaleHistory,
    replicas: int,
    reason: str,
) -> None:
    found = normalize_replicas(autoscaler(behavior=rules), 4, proposed, past, NOW)
    assert (found.replicas, reasons(found)[0]) == (replicas, reason)


@pytest.mark.parametrize(
    ("select", "policies", "replicas"),
    [
        ("Max", (FOUR, ALL), 9),
        ("Min", (FOUR, ALL), 8),
        ("Disabled", (FOUR, ALL), 4),
        ("Max", (HPAScalingPolicy(type="Percent", value=10, period_seconds=60),), 5),
    ],
)
def test_growth_follows_the_policy_that_is_chosen(
    select: str, policies: tuple[HPAScalingPolicy, ...], replicas: int
) -> None:
    wider = HPAScalingPolicy(type="Pods", value=5, period_seconds=15)
    given = tuple(wider if each is FOUR and select == "Max" else each for each in policies)
    rules = behavior(up={"select_policy": select, "policies": given})
    found = normalize_replicas(
        autoscaler(behavior=rules, max_replicas=99), 4, 50, ScaleHistory(), NOW
    )
    assert (found.replicas, reasons(found)[1]) == (replicas, "ScaleUpLimit")


@pytest.mark.parametrize(
    ("select", "replicas", "limit"),
    [("Max", 4, "ScaleDownLimit"), ("Min", 7, "ScaleDownLimit"), ("Disabled", 8, "ScaleDownLimit")],
)
def test_shrinking_follows_the_policy_that_is_chosen(
    select: str, replicas: int, limit: str
) -> None:
    half = HPAScalingPolicy(type="Percent", value=50, period_seconds=60)
    one = HPAScalingPolicy(type="Pods", value=1, period_seconds=60)
    rules = behavior(
        down={
            "select_policy": select,
            "policies": (half, one),
            "stabilization_window_seconds": 0,
        }
    )
    found = normalize_replicas(autoscaler(behavior=rules), 8, 1, ScaleHistory(), NOW)
    assert (found.replicas, reasons(found)[1]) == (replicas, limit)


def test_what_was_done_within_the_period_counts_against_a_policy() -> None:
    two = HPAScalingPolicy(type="Pods", value=2, period_seconds=60)
    rules = behavior(up={"policies": (two,)})
    past = ScaleHistory(scale_ups=(ScaleEvent(2, before(59)),))
    asked = autoscaler(behavior=rules)
    assert normalize_replicas(asked, 6, 9, past, NOW).replicas == 6
    old = ScaleHistory(scale_ups=(ScaleEvent(2, before(60)),))
    assert normalize_replicas(asked, 6, 9, old, NOW).replicas == 8
    # What was taken away meanwhile may come back.
    down = ScaleHistory(scale_ups=past.scale_ups, scale_downs=(ScaleEvent(1, before(10)),))
    assert normalize_replicas(asked, 6, 9, down, NOW).replicas == 7


def test_changes_are_remembered_while_a_policy_counts_them() -> None:
    history = ScaleHistory(scale_ups=(ScaleEvent(1, before(16)), ScaleEvent(2, before(15))))
    grown = history.scaled(behavior(), 3, NOW)
    assert grown.scale_ups == (ScaleEvent(2, before(15)), ScaleEvent(3, NOW))
    assert history.scaled(behavior(), -3, NOW).scale_downs == (ScaleEvent(3, NOW),)
    assert history.scaled(None, 3, NOW) is history
