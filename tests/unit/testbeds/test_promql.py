"""Names are found in expressions, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from testbeds.promql import Selector, names_in


@pytest.mark.parametrize(
    ("expr", "selectors", "grouping"),
    [
        ("up", [Selector("up", {})], set()),
        ('absent(up{job="a"} == 1)', [Selector("up", {"job": ("a",)})], set()),
        ("max by (kind) (age_seconds) > 900", [Selector("age_seconds", {})], {"kind"}),
        (
            'sum(rate(a_total{job="a",code=~"5..|<error>|Lost"}[5m])) / sum(rate(b_total[5m])) > 1',
            [Selector("a_total", {"job": ("a",), "code": ("Lost",)}), Selector("b_total", {})],
            set(),
        ),
        (
            "histogram_quantile(0.99, sum by (le, controller) (rate(s_bucket[$__rate_interval])))",
            [Selector("s_bucket", {})],
            {"le", "controller"},
        ),
        ("a offset 5m unless on (pod) b", [Selector("a", {}), Selector("b", {})], {"pod"}),
    ],
)
def test_series_and_labels_are_found(
    expr: str, selectors: list[Selector], grouping: set[str]
) -> None:
    found = names_in(expr)
    assert list(found.selectors) == selectors
    assert found.grouping == grouping
