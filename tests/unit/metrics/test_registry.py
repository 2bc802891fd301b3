from __future__ import annotations

import prometheus_client as prometheus
import pytest

from quintant.metrics import Counter, Gauge, Histogram, Registry


def test_name_is_taken_before_anything_is_counted() -> None:
    registry = Registry([Histogram("wait_seconds", "Waits.", ("who",))])
    with pytest.raises(ValueError, match="wait_seconds_count"):
        registry.register(Gauge("wait_seconds_count", "Waits."))


def test_name_of_a_collector_of_prometheus_is_taken_too() -> None:
    registry = Registry([prometheus.Counter("done", "Done.", registry=None)])
    with pytest.raises(ValueError, match="done_total"):
        registry.register(Counter("done", "Done."))


def test_collectors_are_served_in_the_order_in_which_they_came() -> None:
    registry = Registry([Gauge("b", "B."), prometheus.Gauge("a", "A.", registry=None)])
    lines = registry.render().decode().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["b 0.0", "a 0.0"]


def test_one_number_can_be_asked_for() -> None:
    done = Counter("done", "Done.", ("what",))
    done.labels("this").inc(2)
    registry = Registry([done])
    assert registry.value("done_total", {"what": "this"}) == 2
    assert registry.value("done_total", {"what": "that"}) is None
    assert registry.value("done_total") is None
