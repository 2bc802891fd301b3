"""The series of the Cosmos operator: what nodes said, and what was done about it."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from typing import get_args

from quintant.core.object import Request
from quintant.metrics import Collector, Counter, Gauge
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import FullNodePhase
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.runtime.manager.cache_gauges import Cached, CacheGauge, CacheGauges

_OF_NODE = ["namespace", "fullnode", "pod"]
_OF_FULL_NODE = ["namespace", "fullnode"]


class CosmosMetrics:
    """What is counted and measured; one set per manager."""

    def __init__(self) -> None:
        name = "cosmos_"
        self.height: Gauge = Gauge(name + "node_height", "The latest block of a node.", _OF_NODE)
        self.lag: Gauge = Gauge(
            name + "node_lag_blocks", "Blocks behind the highest sibling.", _OF_NODE
        )
        self.in_sync: Gauge = Gauge(name + "node_in_sync", "Whether a node is in sync.", _OF_NODE)
        self.disk: Gauge = Gauge(name + "node_disk_used_percent", "How full a volume is.", _OF_NODE)
        self.available: Gauge = Gauge(
            name + "fullnode_available", "Nodes that are in sync, and ready.", _OF_FULL_NODE
        )
        self.restarts: Counter = Counter(
            name + "node_restarts_total", "Pods deleted to mend a node, by reason.", ["reason"]
        )
        self.snapshots: Counter = Counter(
            name + "snapshots_total", "Copies of volumes, by how they ended.", ["result"]
        )
        for result in ("success", "failure"):
            self.snapshots.labels(result)
        self.gauges: CacheGauges = CacheGauges(
            CacheGauge(name + "fullnode_phase", "CosmosFullNodes by phase.", "phase", _by_phase)
        )

    def collectors(self) -> tuple[Collector, ...]:
        """All of them, to be served."""
        return (
            self.height, self.lag, self.in_sync, self.disk, self.available, self.restarts,
            self.snapshots, self.gauges,
        )  # fmt: skip

    def show(self, observed: Observed) -> None:
        """Set what nodes answered last."""
        namespace, name = observed.full_node.metadata.namespace, observed.full_node.metadata.name
        heights = [node.item.height or 0 for node in observed.nodes if node.item is not None]
        highest = max(heights, default=0)
        for node in observed.nodes:
            labels = (namespace, name, node.name)
            self.in_sync.labels(*labels).set(int(node.in_sync))
            if node.item is not None and node.item.height is not None:
                self.height.labels(*labels).set(node.item.height)
                self.lag.labels(*labels).set(highest - node.item.height)
        self.available.labels(namespace, name).set(observed.available)

    def show_disks(self, observed: Observed, used: Mapping[str, int]) -> None:
        """Set how full volumes are, by claim."""
        namespace, name = observed.full_node.metadata.namespace, observed.full_node.metadata.name
        for node in observed.nodes:
            if node.instance.claim in used:
                self.disk.labels(namespace, name, node.name).set(used[node.instance.claim])

    def count_snapshot(self, result: str) -> None:
        """Count how a copy ended; an empty result is none."""
        if result:
            self.snapshots.labels(result).inc()

    def forget(self, request: Request) -> None:
        """Remove the series of a CosmosFullNode that is gone."""
        labels = {"namespace": request.namespace, "fullnode": request.name}
        for gauge in (self.height, self.lag, self.in_sync, self.disk, self.available):
            gauge.remove_by_labels(labels)


def _by_phase(cached: Cached) -> dict[str, float]:
    found = (each.status.phase for each in cached.all(CosmosFullNode) if each.status)
    counted = Tally(found)
    return {phase: counted[phase] for phase in get_args(FullNodePhase)}
