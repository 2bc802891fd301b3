"""Counters, gauges and histograms that cost next to nothing to use.

A reconcile touches some twenty of them. prometheus_client's take a lock for threads that are not
here, and look at a histogram's buckets one by one; these are plain numbers on one event loop, and
become text at a scrape.

    DONE = Counter("done_total", "What was done.", ("what",))
    DONE.labels("this").inc()

An instrument without labels shows up at 0; one with labels shows the values asked for so far.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

from quintant.metrics.exposition import Metric, MetricSample, number

# Seconds: from a request on this machine to one that no client waits for any more.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class CounterSeries:
    """A number that only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0.0

    def inc(self, amount: float = 1) -> None:
        """Add to it."""
        self.value += amount


class GaugeSeries(CounterSeries):
    """A number that goes up and down."""

    __slots__ = ()

    def dec(self, amount: float = 1) -> None:
        """Take away from it."""
        self.value -= amount

    def set(self, value: float) -> None:
        """Let it be this."""
        self.value: float = float(value)


class HistogramSeries:
    """How many values fell below which bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.total: float = 0.0
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)

    def observe(self, value: float) -> None:
        """Take a value in; a value equal to a bound is below it."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> Iterator[tuple[str, int]]:
        """Each bound, as it is written, with the number of values up to it."""
        bounds = (*self._bounds, math.inf)
        return zip(map(number, bounds), accumulate(self._counts), strict=True)


T = TypeVar("T")


class Instrument(Generic[T]):
    """One metric, with a series for each set of label values that was ever asked for."""

    TYPE = ""

    def __init__(self, name: str, documentation: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        self.documentation = documentation
        self._labels = tuple(labels)
        self._series: dict[tuple[str, ...], T] = {}
        if not labels:
            self.labels()

    def labels(self, *values: str) -> T:
        """The series for these values; it shows up from now on."""
        series = self._series.get(values)
        if series is None:
            if len(values) != len(self._labels):
                raise ValueError(f"{self.name} has the labels {self._labels}, not {values}")
            series = self._series[values] = self._make()
        return series

    def remove(self, *values: str) -> None:
        """Forget the series for these values, if there is one."""
        self._series.pop(values, None)

    def remove_by_labels(self, labels: Mapping[str, str]) -> None:
        """Forget every series that has these values."""
        wanted = [(self._labels.index(name), value) for name, value in labels.items()]
        for values in list(self._series):
            if all(values[at] == value for at, value in wanted):
                del self._series[values]

    def clear(self) -> None:
        """Forget every series."""
        self._series.clear()

    def describe(self) -> Iterator[Metric]:
        """The metric without numbers, for its name and labels."""
        yield Metric(self.name, self.documentation, self.TYPE, (), self._labels)

    def collect(self) -> Iterator[Metric]:
        """The present numbers."""
        samples = [
            sample
            for values, series in self._series.items()
            for sample in self._samples(dict(zip(self._labels, values, strict=True)), series)
        ]
        yield Metric(self.name, self.documentation, self.TYPE, samples, self._labels)

    def _make(self) -> T:
        """A series at zero."""
        raise NotImplementedError

    def _samples(self, labels: dict[str, str], series: T) -> Iterator[MetricSample]:
        """The numbers of one series."""
        raise NotImplementedError


class Counter(Instrument[CounterSeries]):
    """Counts what happens; its name ends in `_total`, whether that is said or not."""

    TYPE = "counter"

    def __init__(self, name: str, documentation: str, labels: Sequence[str] = ()) -> None:
        super().__init__(name.removesuffix("_total"), documentation, labels)

    def inc(self, amount: float = 1) -> None:
        """Count, where there are no labels."""
        self.labels().inc(amount)

    def _make(self) -> CounterSeries:
        return CounterSeries()

    def _samples(self, labels: dict[str, str], series: CounterSeries) -> Iterator[MetricSample]:
        yield MetricSample(f"{self.name}_total", labels, series.value)


class Gauge(Instrument[GaugeSeries]):
    """Measures what there is."""

    TYPE = "gauge"

    def inc(self, amount: float = 1) -> None:
        """Add, where there are no labels."""
        self.labels().inc(amount)

    def dec(self, amount: float = 1) -> None:
        """Take away, where there are no labels."""
        self.labels().dec(amount)

    def set(self, value: float) -> None:
        """Let it be this, where there are no labels."""
        self.labels().set(value)

    def _make(self) -> GaugeSeries:
        return GaugeSeries()

    def _samples(self, labels: dict[str, str], series: GaugeSeries) -> Iterator[MetricSample]:
        yield MetricSample(self.name, labels, series.value)


class Histogram(Instrument[HistogramSeries]):
    """Measures what differs each time: durations, sizes."""

    TYPE = "histogram"

    def __init__(
        self,
        name: str,
        documentation: str,
        labels: Sequence[str] = (),
        buckets: Sequence[float] = BUCKETS,
    ) -> None:
        self._buckets = tuple(buckets)
        super().__init__(name, documentation, labels)

    def observe(self, value: float) -> None:
        """Take a value in, where there are no labels."""
        self.labels().observe(value)

    def _make(self) -> HistogramSeries:
        return HistogramSeries(self._buckets)

    def _samples(self, labels: dict[str, str], series: HistogramSeries) -> Iterator[MetricSample]:
        count = 0
        for bound, count in series.buckets():
            yield MetricSample(f"{self.name}_bucket", {**labels, "le": bound}, count)
        yield MetricSample(f"{self.name}_count", labels, count)
        yield MetricSample(f"{self.name}_sum", labels, series.total)
