"""Pods are asked only for what the user wants to be mended, and where they can answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quintant.core.errors import Cause
from quintant.operators.cosmos.self_healing.plan.question import HealingQuestion, question
from unit.operators.cosmos.observations import observed

SCALE = {"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "20Gi"}}
STALL = {"stall": {"seconds": 60}}


def names(states: str, wanted: dict[str, Any]) -> tuple[list[str], list[str]]:
    found = question(observed(states, selfHeal=wanted))
    return (
        [pod.metadata.name for pod in found.usage],
        [pod.metadata.name for pod in found.peers],
    )


def test_usage_and_peers_are_asked_for_apart() -> None:
    assert names("++", SCALE) == (["hub-0", "hub-1"], [])
    assert names("++", STALL) == ([], ["hub-0", "hub-1"])


def test_a_pod_that_goes_or_has_no_address_is_not_asked() -> None:
    assert names("+dx ", SCALE | STALL) == (["hub-0"], ["hub-0"])


def test_nothing_is_asked_without_a_wish_or_by_a_spec_that_makes_no_sense() -> None:
    assert question(observed("++")) == HealingQuestion()
    wrong = replace(observed("++", selfHeal=SCALE), errors=(Cause("spec", "no"),))
    assert question(wrong) == HealingQuestion()
