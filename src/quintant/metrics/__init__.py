"""Metric instruments and their text: for the runtime, operators and agents alike.

    instruments   Counter, Gauge, Histogram: plain numbers on one event loop
    exposition    Prometheus' text format
    registry      what is served together; no name twice
    process       the `process_` series, on Linux

The words are prometheus_client's, and a collector of its can be served beside ours. Stands alone:
nothing of ours below.
"""

from quintant.metrics.exposition import CONTENT_TYPE, Collector, Metric, MetricSample, render
from quintant.metrics.instruments import Counter, CounterSeries, Gauge, Histogram
from quintant.metrics.registry import Registry

__all__ = [
    "CONTENT_TYPE",
    "Collector",
    "Counter",
    "CounterSeries",
    "Gauge",
    "Histogram",
    "Metric",
    "MetricSample",
    "Registry",
    "render",
]
