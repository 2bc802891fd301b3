"""The metric families of a manager: names, labels and buckets, nothing else.

Names and labels are those of controller-runtime and client-go where a series means the same, since
dashboards exist for them; what only we have starts with `quintant_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from quintant.metrics import Counter, CounterSeries, Gauge, Histogram
from quintant.metrics.instruments import GaugeSeries, Instrument

# Upper bounds in seconds, finest where most reconciles end: below half a second.
RECONCILE_BUCKETS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
)  # fmt: skip
# Seconds, from 10 ns to 1000 s: a queue is either idle or badly behind.
QUEUE_BUCKETS = tuple(10.0**exponent for exponent in range(-8, 4))
# Seconds: API calls take milliseconds, their time-outs up to a minute.
REQUEST_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
# Bytes: from a status patch to a list of 16 MiB.
SIZE_BUCKETS = (64, 256, 512, *(4.0**exponent for exponent in range(5, 13)))
# Seconds: a webhook must answer within the API server's 10 s.
WEBHOOK_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

F = TypeVar("F", bound=Instrument[Any])


class MetricFamilies:
    """Every family that is counted as things happen; `all` are to be registered."""

    def __init__(self) -> None:
        self.all: list[Instrument[Any]] = []
        self._reconciles()
        self._queues()
        self._requests()
        self._webhooks()
        self._election()
        self._ours()

    def _reconciles(self) -> None:
        name, by = "controller_runtime_", "controller"
        count, gauge = self._counter, self._gauge
        self.reconciles: Counter = count(
            name + "reconcile_total", "Reconciles by result.", by, "result"
        )
        self.errors: Counter = count(name + "reconcile_errors_total", "Reconciles that failed.", by)
        self.terminals: Counter = count(
            name + "terminal_reconcile_errors_total", "Reconciles that failed for good.", by
        )
        self.panics: Counter = count(
            name + "reconcile_panics_total", "Reconciles that raised what nobody expects.", by
        )
        self.timeouts: Counter = count(
            name + "reconcile_timeouts_total", "Reconciles cut short.", by
        )
        self.reconcile_seconds: Histogram = self._histogram(
            name + "reconcile_time_seconds", "Time of a reconcile.", RECONCILE_BUCKETS, by
        )
        self.workers: Gauge = gauge(
            name + "max_concurrent_reconciles", "Reconciles that may run at once.", by
        )
        self.active: Gauge = gauge(name + "active_workers", "Reconciles that run now.", by)

    def _queues(self) -> None:
        by = "name", "controller"
        self.adds: Counter = self._counter("workqueue_adds_total", "Keys added.", *by)
        self.retries: Counter = self._counter(
            "workqueue_retries_total", "Keys added with a delay.", *by
        )
        self.queued: Histogram = self._histogram(
            "workqueue_queue_duration_seconds", "Time a key waited.", QUEUE_BUCKETS, *by
        )
        self.worked: Histogram = self._histogram(
            "workqueue_work_duration_seconds", "Time a key was worked on.", QUEUE_BUCKETS, *by
        )

    def _requests(self) -> None:
        name, to = "rest_client_", ("verb", "host")
        self.requests: Counter = self._counter(
            name + "requests_total", "Requests by status.", "code", "method", "host"
        )
        self.request_retries: Counter = self._counter(
            name + "request_retries_total", "Requests sent again.", "code", *to
        )
        self.request_seconds: Histogram = self._histogram(
            name + "request_duration_seconds", "Time to the answer.", REQUEST_BUCKETS, *to
        )
        self.throttled: Histogram = self._histogram(
            name + "rate_limiter_duration_seconds", "Time held back.", REQUEST_BUCKETS, *to
        )
        self.sent: Histogram = self._histogram(
            name + "request_size_bytes", "Size of a request body.", SIZE_BUCKETS, *to
        )
        self.received: Histogram = self._histogram(
            name + "response_size_bytes", "Size of an answer's body.", SIZE_BUCKETS, *to
        )

    def _webhooks(self) -> None:
        name, at = "controller_runtime_webhook_", "webhook"
        self.admissions: Counter = self._counter(
            name + "requests_total", "Webhook requests by status.", at, "code"
        )
        self.admission_seconds: Histogram = self._histogram(
            name + "latency_seconds", "Time to a webhook's answer.", WEBHOOK_BUCKETS, at
        )
        self.admitting: Gauge = self._gauge(
            name + "requests_in_flight", "Webhook requests not yet answered.", at
        )
        self.certificates: CounterSeries = self._counter(
            "certwatcher_read_certificate_total", "Serving certificates read."
        ).labels()
        self.certificate_errors: CounterSeries = self._counter(
            "certwatcher_read_certificate_errors_total", "Serving certificates that did not load."
        ).labels()

    def _election(self) -> None:
        self.master: Gauge = self._gauge(
            "leader_election_master_status", "1 while this replica holds the lease.", "name"
        )
        self.slow: Counter = self._counter(
            "leader_election_slowpath_total", "Renewals that had to read the lease.", "name"
        )

    def _ours(self) -> None:
        name = "quintant_"
        self.conflicts: Counter = self._counter(
            name + "conflicts_total", "Reconciles that lost a race and try again.", "controller"
        )
        self.reconcile_api_seconds: Histogram = self._histogram(
            name + "reconcile_api_seconds",
            "The part of a reconcile spent waiting for the API server.",
            RECONCILE_BUCKETS,
            "controller",
        )
        self.source_failures: Counter = self._counter(
            name + "source_failures_total",
            "Sources and conversations that raised what nobody expects.",
            "controller",
        )
        self.runnable_failures: Counter = self._counter(
            name + "runnable_failures_total",
            "Runnables that raised, and were begun again.",
            "runnable",
        )
        self.restarts: Counter = self._counter(
            name + "watch_restarts_total", "Watches opened again.", "kind", "reason"
        )
        self.daemons: Gauge = self._gauge(
            name + "daemons", "Daemons of objects that run.", "controller"
        )
        self.daemon_failures: Counter = self._counter(
            name + "daemon_failures_total",
            "Daemons that raised, and are begun again.",
            "controller",
        )
        self.stale_holds: Counter = self._counter(
            name + "stale_holds_total",
            "Keys that were put back, for a cache was too old to act on.",
            "controller",
        )
        self.overlay_hits: CounterSeries = self._counter(
            name + "overlay_hits_total", "Cached reads answered by our own newer write."
        ).labels()
        self.events_dropped: CounterSeries = self._counter(
            name + "events_dropped_total", "Events that never reached the API server."
        ).labels()
        self.loop_lag: GaugeSeries = self._gauge(
            name + "loop_lag_seconds", "How late the event loop ran its last timer."
        ).labels()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return self._registered(Counter(name, text, labels))

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return self._registered(Gauge(name, text, labels))

    def _histogram(self, name: str, text: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return self._registered(Histogram(name, text, labels, buckets))

    def _registered(self, family: F) -> F:
        self.all.append(family)
        return family
