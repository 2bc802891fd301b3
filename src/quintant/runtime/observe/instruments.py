"""Counters, gauges and histograms that cost next to nothing to use.

A reconcile touches some twenty of them. prometheus_client's own take a lock for threads that are
not here, and look at a histogram's buckets one by one; these are plain numbers on one event loop,
and become its families when somebody scrapes: only then is it loaded, since it brings a web server
along and most managers of an embedded cluster are never asked.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from prometheus_client.metrics_core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
        Metric,
    )


class Count:
    """A number that only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1) -> None:
        """Add to it."""
        self.value += amount


class Level(Count):
    """A number that goes up and down."""

    __slots__ = ()

    def set(self, value: float) -> None:
        """Let it be this."""
        self.value = value


class Spread:
    """How many values fell below which bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.total = 0.0
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)

    def observe(self, value: float) -> None:
        """Take a value in; a value equal to a bound is below it."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """Each bound with the number of values up to it, as Prometheus writes them."""
        from prometheus_client.utils import floatToGoString

        bounds = (*self._bounds, math.inf)
        return [
            (floatToGoString(bound), count)  # type: ignore[no-untyped-call]
            for bound, count in zip(bounds, accumulate(self._counts), strict=True)
        ]


T = TypeVar("T")


class Family(ABC, Generic[T]):
    """One metric, with a child for each set of label values that was ever asked for.

    It is what prometheus_client calls a collector.
    """

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        self._name, self._text, self._labels = name, text, labels
        self._children: dict[tuple[str, ...], T] = {}

    def labels(self, *values: str) -> T:
        """The child for these values; it shows up from now on."""
        child = self._children.get(values)
        if child is None:
            child = self._children[values] = self._make()
        return child

    def describe(self) -> Iterator[Metric]:
        """The names that this metric takes."""
        yield self._metric()

    @abstractmethod
    def collect(self) -> Iterator[Metric]:
        """The present numbers."""

    @abstractmethod
    def _make(self) -> T:
        """A child at zero."""

    @abstractmethod
    def _metric(self) -> Metric:
        """The metric without numbers."""


class Counts(Family[Count]):
    """A counter."""

    def collect(self) -> Iterator[Metric]:
        metric = self._metric()
        for values, child in self._children.items():
            metric.add_metric(values, child.value)
        yield metric

    def _make(self) -> Count:
        return Count()

    def _metric(self) -> CounterMetricFamily:
        from prometheus_client.metrics_core import CounterMetricFamily

        return CounterMetricFamily(self._name, self._text, labels=self._labels)


class Levels(Family[Level]):
    """A gauge."""

    def collect(self) -> Iterator[Metric]:
        metric = self._metric()
        for values, child in self._children.items():
            metric.add_metric(values, child.value)
        yield metric

    def _make(self) -> Level:
        return Level()

    def _metric(self) -> GaugeMetricFamily:
        from prometheus_client.metrics_core import GaugeMetricFamily

        return GaugeMetricFamily(self._name, self._text, labels=self._labels)


class Spreads(Family[Spread]):
    """A histogram."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]
    ) -> None:
        super().__init__(name, text, labels)
        self._bounds = tuple(bounds)

    def collect(self) -> Iterator[Metric]:
        metric = self._metric()
        for values, child in self._children.items():
            metric.add_metric(values, child.buckets(), child.total)
        yield metric

    def _make(self) -> Spread:
        return Spread(self._bounds)

    def _metric(self) -> HistogramMetricFamily:
        from prometheus_client.metrics_core import HistogramMetricFamily

        return HistogramMetricFamily(self._name, self._text, labels=self._labels)
