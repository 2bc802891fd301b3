"""Paths of printer columns, as definitions of strangers write them."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.console.boards.json_path import MOST_VALUES, values_at

OBJECT = {
    "spec": {"a": 1, "list": [{"x": 1}, {"x": 2}], "dotted.name": "d"},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other"}, 7]},
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".spec.a", [1]),
        ("{.spec.a}", [1]),
        (".spec.list[*].x", [1, 2]),
        (".spec.list[0].x", [1]),
        (".spec.list[-1].x", [2]),
        (r".spec.dotted\.name", ["d"]),
        (".spec['dotted.name']", ["d"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".spec.missing.more", []),
        (".spec.a[0]", []),
        (".spec.list.x", []),
        ("what is this", []),
        (".spec[?(@.x > 3)]", []),
    ],
)
def test_a_path_leads_to_what_is_there_and_nowhere_else(path: str, values: list[Any]) -> None:
    assert values_at(path, OBJECT) == values


def test_a_path_leads_to_no_more_values_than_can_be_shown() -> None:
    assert len(values_at(".a[*]", {"a": list(range(10_000))})) == MOST_VALUES
