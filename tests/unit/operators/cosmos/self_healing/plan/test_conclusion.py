"""What is new is confirmed soon, and each refusal is reported once."""

from __future__ import annotations

from typing import Any

from quintant.operators.cosmos.self_healing.observed import (
    FirstSeen,
    HealingMemory,
    HealingObserved,
)
from quintant.operators.cosmos.self_healing.plan.conclusion import (
    CONFIRM_SECONDS,
    PASS_SECONDS,
    conclude,
)
from quintant.runtime.reconcile.result import Result
from unit.operators.cosmos.observations import NOW, observed

NOTHING = HealingMemory()
TROUBLE = HealingMemory(troubles={"hub-0": FirstSeen("uid-0", "drift", NOW)})
SCALE = {"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "20Gi"}}


def healing(**given: Any) -> HealingObserved:
    wanted = given.pop("selfHeal", {"crashLoop": {"restarts": 3, "windowSeconds": 600}})
    return HealingObserved(observed("+", selfHeal=wanted), **given)


def test_a_new_trouble_is_looked_at_again_soon_and_a_known_one_is_not() -> None:
    assert conclude(healing(), NOTHING, TROUBLE).again == Result(after=CONFIRM_SECONDS)
    assert conclude(healing(), TROUBLE, TROUBLE).again == Result(after=PASS_SECONDS)
    assert conclude(healing(), TROUBLE, NOTHING).again == Result(after=PASS_SECONDS)


def test_a_refusal_is_reported_when_it_is_another() -> None:
    one, other = HealingMemory(refused="a"), HealingMemory(refused="b")
    (event,) = conclude(healing(), one, other).events
    assert (event.reason, event.note) == ("CrashLoopRebuildRefused", "b")
    assert conclude(healing(), one, one).events == ()
    assert conclude(healing(), one, NOTHING).events == ()


def test_why_no_usage_is_known_is_reported() -> None:
    (event,) = conclude(
        healing(selfHeal=SCALE, unanswered=("hub-0: refused",)), NOTHING, NOTHING
    ).events
    assert (event.reason, event.note) == (
        "PVCAutoScaleCollectUsage", "No sidecar told: hub-0: refused",
    )  # fmt: skip
    (none,) = conclude(healing(selfHeal=SCALE), NOTHING, NOTHING).events
    assert none.note == "No sidecar told: there are no pods"
    assert conclude(healing(selfHeal=SCALE, usage={"a": 1}), NOTHING, NOTHING).events == ()
