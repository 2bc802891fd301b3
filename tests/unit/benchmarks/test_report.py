"""Promises of benchmarks.report."""

from __future__ import annotations

from benchmarks.report import Budget, Table, times

TABLE = Table(
    "Speed",
    "as measured",
    ("", "CPU"),
    [("Quintant", "1 ms"), ("other", "10 ms")],
    [Budget("at most 2 ms", "1 ms", True), Budget("at most 1/20", "1/10", False)],
)


def test_table_is_markdown_with_its_method_and_its_budgets() -> None:
    assert str(TABLE).splitlines() == [
        "### Speed",
        "",
        "|          |   CPU |",
        "| -------- | ----: |",
        "| Quintant |  1 ms |",
        "| other    | 10 ms |",
        "",
        "Method: as measured",
        "",
        "- met: at most 2 ms: 1 ms",
        "- MISSED: at most 1/20: 1/10",
    ]


def test_ratio_is_shown_unless_there_is_none() -> None:
    assert times(5.0, 2.0) == "2.5x"
    assert times(5.0, 0.0) == "-"
