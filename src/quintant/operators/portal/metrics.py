"""The series of Portal Expose, under the names of its contract.

Counters and durations are taken as passes end. Gauges are computed from the caches when they
are scraped, so that they cannot drift from what is there.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import get_args

from quintant.core.clock import find_timestamp, monotonic
from quintant.core.errors import AlreadyExists, Conflict
from quintant.metrics import Collector, Counter, Histogram
from quintant.operators.portal.api import (
    Phase,
    PortalExposeStatus,
    RelayState,
    TunnelClass,
)
from quintant.operators.portal.api.claims import Claiming, claiming_kind
from quintant.operators.portal.observed import Observed
from quintant.operators.portal.tunnel_class.plan import references
from quintant.runtime.manager.cache_gauges import Cached, CacheGauge, CacheGauges

# Seconds; half a second is what the contract promises, API calls excepted.
_PASS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
# Seconds; five are promised.
_LAG_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 10, 30)


class PortalMetrics:
    """What Portal Expose counts and measures; one set per manager."""

    def __init__(self, *, sharded: bool = False) -> None:
        name, kind = "portalexpose_", claiming_kind(sharded=sharded)
        self.duration: Histogram = Histogram(
            name + "reconcile_duration_seconds", "Time of a reconcile.",
            buckets=_PASS_BUCKETS,
        )  # fmt: skip
        self.total: Counter = Counter(name + "reconcile_total", "Reconciles by result.", ["result"])
        self.lag: Histogram = Histogram(
            name + "status_lag_seconds", "From a tunnel's report to the status that tells of it.",
            buckets=_LAG_BUCKETS,
        )  # fmt: skip
        self.visits: Counter = Counter(name + "visits_total", "Visitors, as tunnels tell of them.")
        self.gauges: CacheGauges = CacheGauges(
            CacheGauge(name + "status_phase", "PortalExposes by phase.", "phase",
                       partial(_by_phase, kind)),
            CacheGauge(
                name + "relay_connections_total", "Relays of PortalExposes by status.", "status",
                partial(_by_connection, kind),
            ),
            CacheGauge(
                "tunnelclass_referenced_total", "PortalExposes by the class in force.",
                "tunnelclass", partial(_by_class, kind),
            ),
        )  # fmt: skip
        for result in ("success", "error"):
            self.total.labels(result)

    def collectors(self) -> tuple[Collector, ...]:
        """All of them, to be served."""
        return self.duration, self.total, self.lag, self.visits, self.gauges

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure a pass; a lost race is no error, the next pass continues."""
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

    def lagged(self, observed: Observed, status: PortalExposeStatus | None) -> None:
        """Note how old the newest report is when the status takes it over."""
        before = observed.expose.status
        if status is None or (before is not None and before.relay == status.relay):
            return
        times = [find_timestamp(each.observed_at) for each in observed.reports.values()]
        if newest := max(filter(None, times), default=None):
            self.lag.observe(max((observed.now - newest).total_seconds(), 0.0))


def _by_phase(kind: type[Claiming], cached: Cached) -> dict[str, float]:
    counted = Tally(each.status.phase for each in cached.all(kind) if each.status)
    return {phase: counted[phase] for phase in get_args(Phase)}


def _by_connection(kind: type[Claiming], cached: Cached) -> dict[str, float]:
    counted = Tally(
        relay.status
        for each in cached.all(kind)
        if each.status and each.status.relay
        for relay in each.status.relay.connected
    )
    return {state: counted[state] for state in get_args(RelayState)}


def _by_class(kind: type[Claiming], cached: Cached) -> dict[str, int]:
    return dict(sorted(references(cached.all(kind), cached.all(TunnelClass)).items()))
