"""Conditions in words."""

from __future__ import annotations

import pytest

from quintant.api.meta import Condition
from quintant.console.boards.conditions import condition_row, judge_condition


@pytest.mark.parametrize(
    ("type", "status", "state"),
    [("Ready", "True", "well"), ("Ready", "False", "broken"), ("Ready", "Unknown", "unknown"),
     ("MemoryPressure", "True", "broken"), ("MemoryPressure", "False", "well"),
     ("Reconciling", "True", "working"), ("Stalled", "True", "broken"),
     ("ReplicaFailure", "True", "broken"), ("Ready", "Perhaps", "unknown")],
)  # fmt: skip
def test_a_condition_is_good_or_bad_by_its_type(type: str, status: str, state: str) -> None:
    assert judge_condition(Condition(type=type, status=status)) == state


def test_of_an_object_on_its_way_nothing_is_broken_yet() -> None:
    ready = Condition(type="Ready", status="False")
    assert condition_row(ready, "", "working")["state"] == "working"
    assert condition_row(ready, "", "broken")["state"] == "broken"


def test_what_is_well_needs_no_advice() -> None:
    row = condition_row(Condition(type="Ready", status="True"), "", "well")
    assert (row["advice"], bool(row["meaning"])) == ("", True)
