"""The series of several clusters as one text: each family once, each series with its cluster.

Home's series stay as they are, so that nothing changes for who reads them; those of another cluster
have the label `cluster`, and go when it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quintant.metrics import Collector, Metric, MetricSample
from quintant.metrics.exposition import AnyMetric

LABEL = "cluster"


class ClusterSeries:
    """A collector of home's series, and of those of other clusters by their names."""

    def __init__(self, home: Collector, others: Mapping[str, Collector]) -> None:
        self._home, self._others = home, others

    def collect(self) -> Iterator[AnyMetric]:
        """The present numbers, family by family."""
        beside: dict[str, list[Metric]] = {}
        for name, collector in self._others.items():
            for metric in collector.collect():
                beside.setdefault(metric.name, []).append(_labelled(metric, name))
        for metric in self._home.collect():
            yield _joined(metric, beside.pop(metric.name, []))
        for metrics in beside.values():
            yield _joined(metrics[0], metrics[1:])


def _labelled(metric: AnyMetric, cluster: str) -> Metric:
    samples = [
        MetricSample(each.name, {**each.labels, LABEL: cluster}, each.value)
        for each in metric.samples
    ]
    return Metric(metric.name, metric.documentation, metric.type, samples)


def _joined(metric: AnyMetric, others: list[Metric]) -> AnyMetric:
    if not others:
        return metric
    samples = [*metric.samples, *(sample for each in others for sample in each.samples)]
    return Metric(metric.name, metric.documentation, metric.type, samples)  # type: ignore[arg-type]
