"""Figures of operators, from the text of their metrics."""

from __future__ import annotations

import pytest

from quintant.console.figures import parse_totals

TEXT = """
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="a",result="success"} 10.0
controller_runtime_reconcile_total{controller="b",result="error"} 2
controller_runtime_reconcile_errors_total{controller="b"} 2
other_total 99
"""


def test_series_of_all_controllers_are_added_up() -> None:
    assert parse_totals(TEXT) == (12.0, 2.0)


@pytest.mark.parametrize("text", ["", "<html>", "controller_runtime_reconcile_total{ 1", "\0" * 99])
def test_what_is_no_metrics_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ValueError, match="no reconciles"):
        parse_totals(text)
