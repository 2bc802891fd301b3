"""Promises of quintant.metrics.exposition; prometheus_client's text is the oracle."""

from __future__ import annotations

import math
from collections.abc import Iterable

import prometheus_client as prometheus
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import metrics_core as core
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from quintant.metrics import Counter, Gauge, Histogram, render
from quintant.metrics.exposition import number


class Given(Collector):
    """A collector of prometheus_client with metrics made by hand."""

    def __init__(self, *metrics: core.Metric) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[core.Metric]:
        return self._metrics


def official(*collectors: Collector) -> bytes:
    registry = CollectorRegistry()
    for each in collectors:
        registry.register(each)
    return generate_latest(registry)


@given(st.floats() | st.integers(-(10**12), 10**12))
def test_numbers_are_written_as_go_does(value: float) -> None:
    assert number(value) == floatToGoString(value)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("value", [0, 1, True, 0.1, 1e5, 1e6, 1e21, 123456.5, 1234567.5, math.inf])
def test_common_numbers_are_written_as_go_does(value: float) -> None:
    assert number(value) == floatToGoString(value)  # type: ignore[no-untyped-call]


@given(st.text(), st.text(), st.text())
def test_any_text_is_escaped_as_prometheus_own_would(help: str, one: str, other: str) -> None:
    ours = Gauge("a", help, ("x", "b"))
    theirs = prometheus.Gauge("a", help, ("x", "b"), registry=None)
    ours.labels(one, other).set(1)
    theirs.labels(one, other).set(1)
    assert render([ours]) == official(theirs)


def test_collectors_of_prometheus_are_written_as_by_itself() -> None:
    summary = core.SummaryMetricFamily("took", "Took.", count_value=2, sum_value=3.5)
    histogram = core.GaugeHistogramMetricFamily(
        "now", "Now.", buckets=[("1.0", 2), ("+Inf", 4)], gsum_value=9
    )
    info = core.InfoMetricFamily("build", "Build.", value={"version": "1"})
    states = core.StateSetMetricFamily("light", "Light.", value={"on": True, "off": False})
    unknown = core.UnknownMetricFamily("odd", "Odd.", labels=["a"])
    unknown.add_metric(["x"], 1.25, timestamp=1700000000.5)
    given = Given(summary, histogram, info, states, unknown)
    assert render([given]) == official(given)


def test_created_series_are_left_out() -> None:
    counter = prometheus.Counter("done", "Done.", registry=None)
    histogram = prometheus.Histogram("took", "Took.", registry=None)
    assert b"_created" in official(counter, histogram)
    assert b"_created" not in render([counter, histogram])


def test_others_read_what_we_write() -> None:
    plain = Gauge("plain", "No labels.")
    many = Counter("many_total", 'With "labels".', ["relay", "result"])
    took = Histogram("took_seconds", "How long.")
    many.labels("a\\b", 'x"y\nz').inc()
    many.labels("a\\b", 'x"y\nz').inc(2)
    plain.set(1.5)
    for seconds in (0.0001, 0.003, 99):
        took.observe(seconds)
    text = render((plain, many, took)).decode()
    families = {each.name: each for each in text_string_to_metric_families(text)}
    assert families["plain"].samples[0].value == 1.5
    (sample,) = families["many"].samples
    assert sample.labels == {"relay": "a\\b", "result": 'x"y\nz'}
    assert sample.value == 3
    found = {
        (each.name, each.labels.get("le")): each.value for each in families["took_seconds"].samples
    }
    assert found["took_seconds_bucket", "0.0005"] == 1
    assert found["took_seconds_bucket", "0.005"] == 2
    assert found["took_seconds_bucket", "+Inf"] == 3
    assert found["took_seconds_count", None] == 3
