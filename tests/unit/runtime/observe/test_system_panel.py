"""States and sentences of objects, by their conditions alone."""

from __future__ import annotations

import pytest

from quintant.api.meta import Condition
from quintant.runtime.observe.system_panel import (
    NO_STATUS,
    ObjectState,
    columns,
    explain_condition,
    judge_conditions,
    text_of,
)


def condition(type: str, status: str, message: str = "", reason: str = "") -> Condition:
    return Condition(type=type, status=status, message=message, reason=reason)


READY = condition("Ready", "True", "all is there")
STALLED = condition("Stalled", "True", "no quota")
RECONCILING = condition("Reconciling", "True", "2 of 3 are there")


@pytest.mark.parametrize(
    ("conditions", "state", "sentence"),
    [
        ([READY], "well", "all is there"),
        ([READY, RECONCILING], "working", "2 of 3 are there"),
        ([READY, RECONCILING, STALLED], "broken", "no quota"),
        ([condition("Ready", "False", reason="NoQuota")], "broken", "NoQuota"),
        ([condition("Ready", "Unknown")], "unknown", "Ready is Unknown"),
        ([condition("Stalled", "False"), READY], "well", "all is there"),
        ([condition("Available", "True", "1 of 1")], "well", "1 of 1"),
        ([condition("Complete", "True", "done")], "well", "done"),
        ([condition("Synced", "True")], "unknown", "it has no condition Ready"),
        ([], "unknown", NO_STATUS),
    ],
)
def test_the_worst_that_conditions_say_is_the_state(
    conditions: list[Condition], state: ObjectState, sentence: str
) -> None:
    assert judge_conditions(conditions) == (state, sentence)


def test_a_condition_explains_itself_by_its_message_first() -> None:
    assert explain_condition(condition("Ready", "True", "words", "Reason")) == "words"
    assert explain_condition(condition("Ready", "True", reason="Reason")) == "Reason"
    assert explain_condition(condition("Ready", "True")) == "Ready is True"


def test_columns_of_numbers_stand_at_the_end() -> None:
    assert [(each.title, each.align) for each in columns("Name", "#Height")] == [
        ("Name", "start"),
        ("Height", "end"),
    ]


def test_a_cell_of_nothing_is_empty() -> None:
    assert [text_of(each) for each in (None, 0, "", "text")] == ["", "0", "", "text"]
