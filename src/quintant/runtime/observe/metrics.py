"""What a manager counts and measures.

Every manager has a registry of its own, so that two of them in one process do not mix. The label
sets of a controller, queue, watch or lease are made when it is declared: they show up at 0, so
that rate() sees the first event, and counting on the hot path is one call on a ready child.
Names, labels and buckets are in `metric_families`; what is computed on scrape is in `collectors`.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from functools import cached_property
from typing import Final, Literal, get_args

from quintant.core.errors import ConfigError
from quintant.metrics import Collector, Registry, render
from quintant.metrics.instruments import CounterSeries, HistogramSeries
from quintant.metrics.process import ProcessCollector
from quintant.runtime.observe.collectors import (
    BlockedCleanupCollector,
    HotLoopCollector,
    HotLoopView,
    NamespaceCollector,
    NamespacesView,
    QueueCollector,
    QueueView,
    StalenessCollector,
    StalenessView,
    WatchCollector,
    WatchView,
)
from quintant.runtime.observe.metric_families import MetricFamilies

Outcome = Literal["success", "error", "requeue", "requeue_after", "conflict"]
"""How a reconcile ended. Ours never asks for a bare requeue; dashboards expect the series."""

RESTARTS = ("timeout", "idle", "410", "error", "eof")
"""Why watches are opened again, as a rule; rarer reasons show up when they happen."""


# How long requests of a verb took, and the sizes that went up and down.
_PerVerb = tuple[HistogramSeries, HistogramSeries, HistogramSeries]


class Metrics:
    """All series of one manager; `Manager.add_collectors` adds a program's own.

    Informers report to it directly (`restarted`, `overlaid`).
    """

    def __init__(self, *, of_process: bool = True) -> None:
        """Without `of_process`, the process's own series are left out: others serve them."""
        self._families, self._of_process = MetricFamilies(), of_process
        self.clusters: dict[str, Metrics] = {}
        """Those of clusters beside home, which are served with these, by the cluster's name."""
        self._queues, self._watches = QueueCollector(), WatchCollector()
        self._hot_loops, self._blocked = HotLoopCollector(), BlockedCleanupCollector()
        self._staleness = StalenessCollector()

        self.certificate_read: Final = self._families.certificates.inc
        self.certificate_failed: Final = self._families.certificate_errors.inc
        self.event_dropped: Final = self._families.events_dropped.inc
        self.overlaid: Final = self._families.overlay_hits.inc
        self.lagged: Final = self._families.loop_lag.set

    @cached_property
    def registry(self) -> Registry:
        """What is served; made when first asked for, since most managers of a cluster never are."""
        ours = self._queues, self._watches, self._staleness, self._hot_loops, self._blocked
        process = (ProcessCollector(),) if self._of_process else ()
        return Registry((*process, *self._families.all, *ours))

    def controller(self, name: str, workers: int = 1) -> ControllerMetrics:
        """Declare a controller."""
        return ControllerMetrics(self._families, name, workers)

    def runnable_failed(self, name: str) -> Callable[[], None]:
        """Declare a runnable; what is returned counts a failure of it."""
        return self._families.runnable_failures.labels(name).inc

    def queue_observer(self, name: str) -> QueueMetrics:
        """Declare a queue: the observer to give to its constructor."""
        return QueueMetrics(self._families, name)

    def add_queue(self, name: str, queue: QueueView) -> None:
        """Ask `queue` for its depth and unfinished work on every scrape."""
        self._queues.add(name, queue)

    def add_hot_loops(self, name: str, hot_loops: HotLoopView) -> None:
        """Ask a controller on every scrape how many of its keys are reconciled without rest."""
        self._hot_loops.add(name, hot_loops)

    def add_blocked_cleanups(self, name: str, blocked: Sized) -> None:
        """Ask a controller on every scrape how many objects it holds and cannot clean up."""
        self._blocked.add(name, blocked)

    def stale_holds(self, controller: str) -> Callable[[], None]:
        """Declare a controller that acts on recent views only; what is returned counts a hold."""
        return self._families.stale_holds.labels(controller).inc

    def daemons(self, controller: str) -> DaemonMetrics:
        """Declare a controller with a task per object."""
        return DaemonMetrics(self._families, controller)

    def add_staleness(self, controller: str, views: StalenessView) -> None:
        """Ask a controller on every scrape how far its caches are behind."""
        self._staleness.add(controller, views)

    def add_namespaces(self, namespaces: NamespacesView) -> None:
        """Ask on every scrape how many namespaces are selected by label."""
        self.registry.register(NamespaceCollector(namespaces))

    def add_informer(self, informer: WatchView) -> None:
        """Declare a watched kind, and ask its informer for its state on every scrape."""
        self._watches.add(informer)
        for reason in RESTARTS:
            self._families.restarts.labels(informer.resource.full_name, reason)

    def restarted(self, kind: str, reason: str) -> None:
        """A watch of `kind` is opened again."""
        self._families.restarts.labels(kind, reason).inc()

    def rest(self, host: str) -> RestMetrics:
        """Declare an API server that requests go to."""
        return RestMetrics(self._families, host)

    def leader(self, name: str) -> LeaderMetrics:
        """Declare a lease that this process competes for."""
        return LeaderMetrics(self._families, name)

    def webhook(self, path: str) -> WebhookMetrics:
        """Declare a webhook that is served at `path`."""
        return WebhookMetrics(self._families, path)

    def add_collector(self, collector: Collector) -> None:
        """Serve series that are not ours; ConfigError if a name is taken."""
        try:
            self.registry.register(collector)
        except ValueError as error:
            raise ConfigError(
                "cannot serve a metric",
                because=str(error),
                hint="give it another name, and make it with registry=None",
            ) from error

    def render(self) -> bytes:
        """Every series in Prometheus' text format; those of other clusters name theirs."""
        if not self.clusters:
            return self.registry.render()
        # Loaded where there are several clusters.
        from quintant.runtime.observe.cluster_series import ClusterSeries

        registries = {name: each.registry for name, each in self.clusters.items()}
        return render((ClusterSeries(self.registry, registries),))


class ControllerMetrics:
    """The series of one controller: `error()`, `conflict()` and so on count one each."""

    def __init__(self, families: MetricFamilies, name: str, workers: int) -> None:
        self._results = {
            result: families.reconciles.labels(name, result) for result in get_args(Outcome)
        }
        self._seconds = families.reconcile_seconds.labels(name)
        self._api_seconds = families.reconcile_api_seconds.labels(name)
        self.error: Final = families.errors.labels(name).inc
        self.terminal: Final = families.terminals.labels(name).inc
        self.panic: Final = families.panics.labels(name).inc
        self.timeout: Final = families.timeouts.labels(name).inc
        self.conflict: Final = families.conflicts.labels(name).inc
        self.source_failed: Final = families.source_failures.labels(name).inc
        self.active: Final = families.active.labels(name)
        families.workers.labels(name).set(workers)

    def reconciled(self, result: Outcome, seconds: float, api_seconds: float) -> None:
        """A reconcile ended; errors and conflicts are counted by their own calls as well."""
        self._results[result].inc()
        self._seconds.observe(seconds)
        self._api_seconds.observe(api_seconds)


class DaemonMetrics:
    """The series of a controller's daemons: how many run, and `failed()`."""

    def __init__(self, families: MetricFamilies, name: str) -> None:
        self.running: Final = families.daemons.labels(name)
        self.failed: Final = families.daemon_failures.labels(name).inc


class QueueMetrics:
    """What a queue reports as it happens: `queued(seconds)` and `worked(seconds)` are durations."""

    def __init__(self, families: MetricFamilies, name: str) -> None:
        # A queue is named after its controller; dashboards use either label.
        self.added: Final = families.adds.labels(name, name).inc
        self.retried: Final = families.retries.labels(name, name).inc
        self.queued: Final = families.queued.labels(name, name).observe
        self.worked: Final = families.worked.labels(name, name).observe


class RestMetrics:
    """The requests to one API server; a label set appears with its first request."""

    def __init__(self, families: MetricFamilies, host: str) -> None:
        self._families, self._host = families, host
        self._codes: dict[tuple[str, int | str], CounterSeries] = {}
        self._verbs: dict[str, _PerVerb] = {}

    def requested(
        self, method: str, code: int | str, seconds: float, *, sent: int = 0, received: int = 0
    ) -> None:
        """A request ended; `code` is the HTTP status, or NO_ANSWER. Sizes are bodies, in bytes."""
        count = self._codes.get((method, code)) or self._code(method, code)
        took, up, down = self._verbs.get(method) or self._verb(method)
        count.inc()
        took.observe(seconds)
        up.observe(sent)
        down.observe(received)

    def of_host(self, host: str) -> RestMetrics:
        """Those to another API server, under its own label."""
        return RestMetrics(self._families, host)

    def retried(self, method: str, code: int | str) -> None:
        """A request is sent again because of `code`."""
        self._families.request_retries.labels(str(code), method, self._host).inc()

    def throttled(self, method: str, seconds: float) -> None:
        """Our own rate limit held a request back."""
        self._families.throttled.labels(method, self._host).observe(seconds)

    def _code(self, method: str, code: int | str) -> CounterSeries:
        count = self._families.requests.labels(str(code), method, self._host)
        return self._codes.setdefault((method, code), count)

    def _verb(self, method: str) -> _PerVerb:
        took = self._families.request_seconds.labels(method, self._host)
        up = self._families.sent.labels(method, self._host)
        down = self._families.received.labels(method, self._host)
        return self._verbs.setdefault(method, (took, up, down))


class LeaderMetrics:
    """The series of one lease; `slow()` counts a renewal that had to read it first."""

    def __init__(self, families: MetricFamilies, name: str) -> None:
        self._master = families.master.labels(name)
        self.slow: Final = families.slow.labels(name).inc

    def leading(self, leads: bool) -> None:
        """This replica holds the lease, or does not any more."""
        self._master.set(leads)


class WebhookMetrics:
    """The series of one webhook."""

    def __init__(self, families: MetricFamilies, path: str) -> None:
        self._path, self._requests = path, families.admissions
        self._seconds = families.admission_seconds.labels(path)
        self._flying = families.admitting.labels(path)
        for code in ("200", "500"):
            self._requests.labels(path, code)

    def started(self) -> None:
        """A request came in."""
        self._flying.inc()

    def answered(self, code: int, seconds: float) -> None:
        """Its answer went out."""
        self._flying.inc(-1)
        self._seconds.observe(seconds)
        self._requests.labels(self._path, str(code)).inc()
