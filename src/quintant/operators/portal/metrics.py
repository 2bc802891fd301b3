"""The series of Portal Expose, under the names of its contract.

Counters and durations are taken as passes end. Gauges are computed from the caches when somebody
asks, so that they cannot drift from what is there.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from quintant.core.clock import monotonic, parse_timestamp
from quintant.core.errors import AlreadyExists, Conflict
from quintant.core.object import K
from quintant.metrics import Collector, Counter, Gauge, Histogram, Metric
from quintant.operators.portal.api import (
    Phase,
    PortalExpose,
    PortalExposeStatus,
    RelayState,
    TunnelClass,
)
from quintant.operators.portal.observe import Observed
from quintant.operators.portal.tunnel_class.plan import references
from quintant.runtime.cache.client import Client

# Seconds; half a second is what the contract promises, API calls excepted.
_PASS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
# Seconds; five are promised.
_LAG_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 10, 30)


class PortalMetrics:
    """What Portal Expose counts and measures; one set per manager."""

    def __init__(self) -> None:
        name = "portalexpose_"
        self.duration = Histogram(
            name + "reconcile_duration_seconds", "Time of a reconcile.",
            buckets=_PASS_BUCKETS,
        )  # fmt: skip
        self.total = Counter(name + "reconcile_total", "Reconciles by result.", ["result"])
        self.lag = Histogram(
            name + "status_lag_seconds", "From a tunnel's report to the status that tells of it.",
            buckets=_LAG_BUCKETS,
        )  # fmt: skip
        self.gauges = Gauges()
        for result in ("success", "error"):
            self.total.labels(result)

    def collectors(self) -> tuple[Collector, ...]:
        """All of them, to be served."""
        return self.duration, self.total, self.lag, self.gauges

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure a pass; a lost race is no error, the next pass goes on."""
        began, result = monotonic(), "error"
        try:
            yield
            result = "success"
        except (Conflict, AlreadyExists):
            result = "success"
            raise
        finally:
            self.total.labels(result).inc()
            self.duration.observe(monotonic() - began)

    def lagged(self, observed: Observed, status: PortalExposeStatus) -> None:
        """Note how old the newest report was when it was told in the status."""
        before = observed.expose.status
        if before is not None and before.relay == status.relay:
            return
        told = [each.observed_at for each in observed.reports.values() if each.observed_at]
        if told:
            newest = max(map(parse_timestamp, told))
            self.lag.observe(max((observed.now - newest).total_seconds(), 0.0))


class Gauges:
    """The numbers of what there is, taken from the caches on every scrape."""

    def __init__(self) -> None:
        self._client: Client | None = None

    async def bind(self, client: Client) -> None:
        """Know whose caches to ask; a side task of the manager."""
        self._client = client

    def describe(self) -> Iterator[Metric]:
        """The names that are taken."""
        for gauge in _gauges():
            yield from gauge.describe()

    def collect(self) -> Iterator[Metric]:
        """The present numbers."""
        phases, relays, classes = _gauges()
        exposes, known = self._all(PortalExpose), self._all(TunnelClass)
        counted = Tally(each.status.phase for each in exposes if each.status)
        for phase in get_args(Phase):
            phases.labels(phase).set(counted[phase])
        connections = Tally(
            relay.status
            for each in exposes
            if each.status and each.status.relay
            for relay in each.status.relay.connected
        )
        for state in get_args(RelayState):
            relays.labels(state).set(connections[state])
        for name, count in sorted(references(exposes, known).items()):
            classes.labels(name).set(count)
        for gauge in (phases, relays, classes):
            yield from gauge.collect()

    def _all(self, kind: type[K]) -> list[K]:
        if self._client is None or self._client.caches is None:
            return []
        return list(self._client.caches.of(kind).store)


def _gauges() -> Iterator[Gauge]:
    yield Gauge("portalexpose_status_phase", "PortalExposes by phase.", ["phase"])
    yield Gauge(
        "portalexpose_relay_connections_total", "Relays of PortalExposes by status.",
        ["status"],
    )  # fmt: skip
    yield Gauge(
        "tunnelclass_referenced_total", "PortalExposes by the class in force.",
        ["tunnelclass"],
    )  # fmt: skip
