"""Panels of kinds that nobody made one for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.console.boards.crd_panel import (
    MOST_CONDITIONS,
    judge_plain,
    read_conditions,
    row_of_definition,
)
from quintant.console.links import CELL_LENGTH
from quintant.console.views import console_kind
from quintant.core import codec
from quintant.core.resource import Resource

KIND = console_kind(Resource("strangers.dev", "v1", "Widget", "widgets"))


def condition(type: str, status: str) -> dict[str, str]:
    return {"type": type, "status": status, "message": f"{type} is {status}"}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (None, "unknown"),
        ("text", "unknown"),
        ({"conditions": [condition("Ready", "True")]}, "well"),
        ({"conditions": [condition("Ready", "False")]}, "broken"),
        ({"conditions": [condition("Ready", "True"), condition("Stalled", "True")]}, "broken"),
        (
            {"conditions": [condition("Ready", "False"), condition("Reconciling", "True")]},
            "working",
        ),
        ({"conditions": "no list", "phase": "Running"}, "well"),
        ({"phase": "Nobody knows it"}, "unknown"),
        ({"phase": 7}, "unknown"),
        ({"greeted": True}, "unknown"),
        ({"state": "FAILED"}, "broken"),
    ],
)
def test_a_state_follows_from_conditions_or_else_from_the_phase(status: Any, state: str) -> None:
    assert judge_plain({"status": status})[0] == state


def test_of_many_conditions_some_are_read_and_what_is_none_is_left_out() -> None:
    many = [condition(f"T{number}", "True") for number in range(500)]
    assert len(read_conditions(many)) == MOST_CONDITIONS
    assert read_conditions([7, None, {"type": "a"}, condition("b", "True")])[0].type == "b"


def test_cells_are_cut() -> None:
    raw = msgspec.json.encode({"metadata": {"name": "a"}, "spec": {"x": "y" * 100_000}})
    row = row_of_definition((".spec.x", ".spec.absent"), codec.decode(KIND, raw))
    assert len(row.cells[0]) < CELL_LENGTH + 20
    assert row.cells[1] == ""


def test_a_status_that_says_nothing_of_a_state_is_not_taken_for_none() -> None:
    assert judge_plain({"status": {"greeted": True}})[1] != judge_plain({})[1]
