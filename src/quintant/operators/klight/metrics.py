"""The series of klight, beside those of every manager."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.core.object import Request
from quintant.metrics import Collector, Counter, Gauge, Histogram

# From a join on one machine to one that streams a long chain.
_JOIN_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class KlightMetrics:
    """What klight counts and measures; one set per manager."""

    def __init__(self) -> None:
        network = ["namespace", "network"]
        self.networks: Gauge = Gauge("klight_networks", "Networks that have pods.")
        self.members: Gauge = Gauge("klight_members", "Pods of a network.", [*network, "state"])
        self.depth: Gauge = Gauge(
            "klight_stack_depth", "Contacts in the stack of a network.", network
        )
        self.joins: Counter = Counter(
            "klight_joins_total", "Attempts to join a pod, by how they ended.", ["result"]
        )
        self.seconds: Histogram = Histogram(
            "klight_join_seconds", "JoinNetwork calls.", buckets=_JOIN_BUCKETS
        )
        self.failures: Counter = Counter(
            "klight_probe_failures_total", "Checks of members that failed."
        )
        self.repairs: Counter = Counter(
            "klight_repairs_total", "Repairs of networks, by how they ended.", ["result"]
        )
        for result in ("mended", "failed", "nothing"):
            self.repairs.labels(result)
        self.rebuild: Gauge = Gauge(
            "klight_rebuild_seconds", "From the start until every network was looked at once."
        )

    def collectors(self) -> tuple[Collector, ...]:
        """All of them, to be served."""
        return (
            self.networks, self.members, self.depth, self.joins, self.seconds, self.failures,
            self.repairs, self.rebuild,
        )  # fmt: skip

    def show(self, network: Request, states: Mapping[str, int], depth: int) -> None:
        """Tell how many pods of a network are in which state, and how many are contacts."""
        for state, count in states.items():
            self.members.labels(network.namespace, network.name, state).set(count)
        self.depth.labels(network.namespace, network.name).set(depth)

    def forget(self, network: Request) -> None:
        """Let go of the series of a network that is no more."""
        labels = {"namespace": network.namespace, "network": network.name}
        self.members.remove_by_labels(labels)
        self.depth.remove_by_labels(labels)
