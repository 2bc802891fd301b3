"""A dashboard follows from metrics."""

from __future__ import annotations

import pytest
from prometheus_client import Counter as ForeignCounter

from quintant.metrics import Counter, Gauge, Histogram
from quintant.runtime.observe.dashboard import Panel, Query, Row, dashboard, own_row

OWN = '{job="shop"}'


@pytest.mark.parametrize(
    ("instrument", "panel"),
    [
        (
            Counter("sold_total", "Sold.", ("what",)),
            Panel(
                "sold_total",
                (Query(f"sum by (what) (rate(sold_total{OWN}[$__rate_interval]))", "{{what}}"),),
                "ops",
                "Sold.",
            ),
        ),
        (
            Gauge("shelf_bytes", "Room."),
            Panel("shelf_bytes", (Query(f"max (shelf_bytes{OWN})"),), "bytes", "Room."),
        ),
    ],
)
def test_a_metric_becomes_a_graph(instrument: Counter | Gauge, panel: Panel) -> None:
    assert own_row("shop", [instrument]) == Row("shop", (panel,))


def test_a_histogram_becomes_its_median_and_its_99th_percentile() -> None:
    [panel] = own_row("shop", [Histogram("wait_seconds", "Waits.", ("desk",))]).panels
    rate = f"sum by (le, desk) (rate(wait_seconds_bucket{OWN}[$__rate_interval]))"
    assert panel.unit == "s"
    assert panel.queries == (
        Query(f"histogram_quantile(0.5, {rate})", "{{desk}} p50"),
        Query(f"histogram_quantile(0.99, {rate})", "{{desk}} p99"),
    )


def test_metrics_of_prometheus_client_have_graphs_too() -> None:
    foreign = ForeignCounter("foreign_total", "Of others.", registry=None)
    [panel] = own_row("shop", [foreign]).panels
    assert panel.title == "foreign_total"


def test_rows_without_graphs_are_left_out() -> None:
    panel = Panel("A", (Query("up"),))
    found = dashboard("shop", [Row("empty", ()), Row("full", (panel,) * 4)])
    kinds = [each["type"] for each in found["panels"]]
    assert kinds == ["row", "timeseries", "timeseries", "timeseries", "timeseries"]
    assert [each["gridPos"]["y"] for each in found["panels"]] == [0, 1, 1, 1, 8]
