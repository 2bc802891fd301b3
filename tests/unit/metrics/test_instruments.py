"""Promises of quintant.metrics.instruments; prometheus_client's metrics are the oracle."""

from __future__ import annotations

from collections.abc import Iterable

import prometheus_client as prometheus
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from quintant.metrics import Counter, Gauge, Histogram, render

BOUNDS = (0.005, 0.1, 1, 2.5, 10, 1e6, 1e7)


def official(*collectors: Collector) -> bytes:
    """What prometheus_client writes, without the `_created` series that it adds."""
    registry = CollectorRegistry()
    for each in collectors:
        registry.register(each)
    return without_created(generate_latest(registry).splitlines())


def without_created(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines if b"_created" not in line)


@given(st.lists(st.floats(0, 2e7) | st.sampled_from(BOUNDS)))
def test_histogram_shows_what_prometheus_own_would(values: list[float]) -> None:
    ours = Histogram("wait_seconds", "Waits.", ("who",), BOUNDS)
    theirs = prometheus.Histogram("wait_seconds", "Waits.", ("who",), registry=None, buckets=BOUNDS)
    ours.labels("me"), theirs.labels("me")
    for value in values:
        ours.labels("me").observe(value)
        theirs.labels("me").observe(value)

    assert render([ours]) == official(theirs)


def test_counter_and_gauge_show_what_prometheus_own_would() -> None:
    ours = Counter("done_total", "Done."), Gauge("busy", "Busy.", ("a",))
    theirs = (
        prometheus.Counter("done", "Done.", registry=None),
        prometheus.Gauge("busy", "Busy.", ("a",), registry=None),
    )
    for counter in (ours[0], theirs[0]):
        counter.inc()
        counter.inc(0.5)
    for gauge in (ours[1], theirs[1]):
        gauge.labels("x").dec(2)
        gauge.labels("y").set(0.5)
        gauge.labels("y").inc()

    assert render(ours) == official(*theirs)


@pytest.mark.parametrize("name", ["done", "done_total"])
def test_name_of_a_counter_ends_in_total_once(name: str) -> None:
    assert b"\ndone_total 0.0\n" in render([Counter(name, "Done.")])


def test_instrument_without_labels_is_there_at_zero() -> None:
    text = render([Counter("done", "Done."), Gauge("busy", "Busy."), Histogram("took", "Took.")])
    assert {b"done_total 0.0", b"busy 0.0", b"took_count 0.0"} <= set(text.splitlines())


def test_instruments_without_labels_need_no_labels() -> None:
    done, busy, took = Counter("done", ""), Gauge("busy", ""), Histogram("took", "", (), (1,))
    done.inc(2)
    busy.set(7)
    busy.inc()
    busy.dec(3)
    took.observe(4)
    text = render([done, busy, took])
    assert {b"done_total 2.0", b"busy 5.0", b"took_sum 4.0"} <= set(text.splitlines())


def test_label_set_shows_up_when_it_is_first_asked_for() -> None:
    counts = Counter("done_total", "Done.", ("what",))
    assert b'what="x"' not in render([counts])
    counts.labels("x")
    assert b'done_total{what="x"} 0.0' in render([counts])


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="what"):
        Counter("done_total", "Done.", ("what",)).inc()


def test_series_can_be_forgotten_one_by_one_and_by_a_label() -> None:
    pods = Gauge("pods", "Pods.", ("namespace", "phase"))
    for namespace, phase in (("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")):
        pods.labels(namespace, phase).set(1)
    pods.remove_by_labels({"namespace": "a"})
    pods.remove("b", "y")
    pods.remove("b", "unknown")
    assert render([pods]).splitlines()[2:] == [b'pods{namespace="b",phase="x"} 1.0']
    pods.clear()
    assert render([pods]).splitlines()[2:] == []
