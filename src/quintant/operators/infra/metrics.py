"""The series of infra, beside those of every manager.

Counters and durations are taken as things end; what can be counted is counted from the caches when
the series are read.
"""

from __future__ import annotations

from collections import Counter as Tally
from datetime import datetime
from typing import get_args

from quintant.core.object import Request
from quintant.metrics import Collector, Counter, Gauge, Histogram
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.api.cluster_status import Operation, State
from quintant.operators.infra.observed.moments import seconds_since
from quintant.runtime.manager.cache_gauges import Cached, CacheGauge, CacheGauges

# Seconds: from a call that is answered at once to an update of many machines.
_REQUEST_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
# Seconds: from a reconfiguration to a cluster of many machines.
_OPERATION_BUCKETS = (5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600)


class InfraMetrics:
    """What infra counts and measures; one set per manager."""

    def __init__(self) -> None:
        name = "infra_"
        self.requests: Counter = Counter(
            name + "provider_requests_total", "Calls to providers, by what and how they ended.",
            ["op", "code"],
        )  # fmt: skip
        self.seconds: Histogram = Histogram(
            name + "provider_request_seconds", "Time of calls to providers.",
            buckets=_REQUEST_BUCKETS,
        )  # fmt: skip
        self.up: Gauge = Gauge(
            name + "provider_up", "Whether a provider answers and accepts us.",
            ["namespace", "provider"],
        )  # fmt: skip
        self.operations: Histogram = Histogram(
            name + "operation_seconds", "From the record of an operation to its end.",
            buckets=_OPERATION_BUCKETS,
        )  # fmt: skip
        self.reconfigurations: Counter = Counter(
            name + "reconfigure_attempts_total", "Requests to set something right."
        )
        self.adoptions: Counter = Counter(
            name + "adoptions_total", "Infrastructures found by their token, or taken over by id."
        )
        self.observer_failures: Counter = Counter(
            name + "observer_failures_total", "Looks at made clusters that failed."
        )
        self.gauges: CacheGauges = CacheGauges(
            CacheGauge(name + "cluster_state", "Clusters by state.", "state", _by_state),
            CacheGauge(name + "bound_clusters", "Clusters by cloud.", "cloud", _by_cloud),
        )

    def collectors(self) -> tuple[Collector, ...]:
        """All of them, to be served."""
        return (
            self.requests, self.seconds, self.up, self.operations, self.reconfigurations,
            self.adoptions, self.observer_failures, self.gauges,
        )  # fmt: skip

    def forget(self, request: Request) -> None:
        """Drop the series of a provider that is gone."""
        self.up.remove_by_labels({"namespace": request.namespace, "provider": request.name})

    def ended(self, operation: Operation, now: datetime) -> None:
        """Note an operation that is over."""
        if (passed := seconds_since(now, operation.started_at)) is not None:
            self.operations.observe(max(passed, 0.0))

    def requested(self, op: str, code: str, seconds: float) -> None:
        """Note a call to a provider."""
        self.requests.labels(op, code).inc()
        self.seconds.observe(seconds)


def _by_state(cached: Cached) -> dict[str, float]:
    counted = Tally(
        (each.status.state or "PENDING") if each.status else "PENDING"
        for each in cached.all(Cluster)
    )
    return {state: counted[state] for state in get_args(State)}


def _by_cloud(cached: Cached) -> dict[str, int]:
    bound = [each.status.scheduled_to for each in cached.all(Cluster) if each.status]
    return dict(sorted(Tally(f"{each.kind}/{each.name}" for each in bound if each).items()))
