"""Promises of quintant.metrics.process; prometheus_client's collector is the oracle."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pytest
from prometheus_client import ProcessCollector as Official

from quintant.metrics.exposition import AnyMetric
from quintant.metrics.process import ProcessCollector


def described(metrics: Iterable[AnyMetric]) -> dict[str, tuple[str, str]]:
    return {metric.name: (metric.documentation, metric.type) for metric in metrics}


def values(metrics: Iterable[AnyMetric]) -> dict[str, float]:
    return {metric.name: metric.samples[0].value for metric in metrics}


@pytest.mark.skipif(sys.platform != "linux", reason="they are read from /proc")
def test_series_are_those_of_prometheus_own() -> None:
    ours, theirs = ProcessCollector(), Official(registry=None)
    assert described(ours.collect()) == described(theirs.collect())
    found, wanted = values(ours.collect()), values(theirs.collect())
    assert found["process_start_time_seconds"] == wanted["process_start_time_seconds"]
    assert found["process_max_fds"] == wanted["process_max_fds"]
    assert found == pytest.approx(wanted, rel=0.2)
