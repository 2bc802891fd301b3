"""Promises of quintant.runtime.observe.instruments; prometheus_client's metrics are the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from quintant.runtime.observe.instruments import Counts, Levels, Spreads

BOUNDS = (0.005, 0.1, 1, 2.5, 10)


def shown(*families: object) -> bytes:
    registry = CollectorRegistry()
    for family in families:
        registry.register(family)  # type: ignore[arg-type]
    lines = generate_latest(registry).splitlines()
    return b"\n".join(line for line in lines if b"_created" not in line)


@given(st.lists(st.floats(0, 20) | st.sampled_from(BOUNDS)))
def test_histogram_shows_what_prometheus_own_would(values: list[float]) -> None:
    ours = Spreads("wait_seconds", "Waits.", ("who",), BOUNDS)
    theirs = Histogram("wait_seconds", "Waits.", ("who",), registry=None, buckets=BOUNDS)
    ours.labels("me"), theirs.labels("me")
    for value in values:
        ours.labels("me").observe(value)
        theirs.labels("me").observe(value)

    assert shown(ours) == shown(theirs)


def test_counter_and_gauge_show_what_prometheus_own_would() -> None:
    counts, counter = Counts("done_total", "Done.", ()), Counter("done", "Done.", registry=None)
    levels, gauge = Levels("busy", "Busy.", ("a",)), Gauge("busy", "Busy.", ("a",), registry=None)
    counts.labels().inc()
    counter.inc()
    levels.labels("x").inc(-2)
    gauge.labels("x").dec(2)
    levels.labels("y").set(0.5)
    gauge.labels("y").set(0.5)

    assert shown(counts, levels) == shown(counter, gauge)


def test_label_set_shows_up_when_it_is_first_asked_for() -> None:
    counts = Counts("done_total", "Done.", ("what",))
    assert b'what="x"' not in shown(counts)
    counts.labels("x")
    assert b'done_total{what="x"} 0.0' in shown(counts)


def test_name_is_taken_before_anything_is_counted() -> None:
    registry = CollectorRegistry()
    registry.register(Spreads("wait_seconds", "Waits.", (), BOUNDS))
    with pytest.raises(ValueError, match="Duplicated"):
        Counter("wait_seconds_count", "Waits.", registry=registry)
