"""What the clusters beside home are at, computed when it is scraped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quintant.metrics import Gauge, Metric
from quintant.runtime.clusters.states import ClusterCondition


class ClusterCollector:
    """One series per cluster and state: 1 for the state that it is in."""

    def __init__(self, conditions: Mapping[str, ClusterCondition]) -> None:
        self._conditions = conditions

    def collect(self) -> Iterator[Metric]:
        text = "1 for the state that a cluster beside home is in."
        gauge = Gauge("quintant_cluster_state", text, ("cluster", "state"))
        for name, condition in self._conditions.items():
            gauge.labels(name, condition.state.value).set(1)
        yield from gauge.collect()
