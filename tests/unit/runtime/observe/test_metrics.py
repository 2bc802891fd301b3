from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from prometheus_client.parser import text_string_to_metric_families

from quintant.api.core import Pod
from quintant.client.retry import NO_ANSWER
from quintant.core.resource import Resource, resource_of
from quintant.metrics import Counter
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.watch.observer import CacheObserver
from quintant.runtime.workqueue import workqueue as queues
from quintant.testing.loop import advance


@dataclass
class Queue:
    ready: dict[int, int] = field(default_factory=dict)
    running: tuple[float, ...] = ()

    def depths(self) -> dict[int, int]:
        return self.ready

    def unfinished_seconds(self) -> float:
        return sum(self.running)

    def longest_running_seconds(self) -> float:
        return max(self.running, default=0.0)


@dataclass
class Informer:
    objects: int
    alive_at: float
    misfits: int = 0
    resource: ClassVar[Resource] = resource_of(Pod)

    @property
    def store(self) -> range:
        return range(self.objects)

    @property
    def undecodable(self) -> range:
        return range(self.misfits)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def value(metrics: Metrics, name: str, /, **labels: str) -> float | None:
    return metrics.registry.value(name, labels)


def scraped(metrics: Metrics) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(metrics.render().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_declared_controller_shows_every_series_at_zero(metrics: Metrics) -> None:
    metrics.controller("portal", workers=4)

    for result in ("success", "error", "requeue", "requeue_after", "conflict"):
        name = "controller_runtime_reconcile_total"
        assert value(metrics, name, controller="portal", result=result) == 0
    for name in (
        "controller_runtime_reconcile_errors_total",
        "controller_runtime_terminal_reconcile_errors_total",
        "controller_runtime_reconcile_panics_total",
        "controller_runtime_reconcile_timeouts_total",
        "controller_runtime_reconcile_time_seconds_count",
        "controller_runtime_active_workers",
        "quintant_conflicts_total",
        "quintant_reconcile_api_seconds_count",
    ):
        assert value(metrics, name, controller="portal") == 0
    assert value(metrics, "controller_runtime_max_concurrent_reconciles", controller="portal") == 4


def test_reconcile_is_counted_by_result_and_timed(metrics: Metrics) -> None:
    controller = metrics.controller("portal")
    controller.reconciled("success", 0.02, 0.01)
    controller.reconciled("requeue_after", 3, 1)

    found = scraped(metrics)
    totals = found["controller_runtime_reconcile_total"]
    buckets = found["controller_runtime_reconcile_time_seconds_bucket"]
    sums = found["controller_runtime_reconcile_time_seconds_sum"]
    assert totals[("controller", "portal"), ("result", "success")] == 1
    assert totals[("controller", "portal"), ("result", "requeue_after")] == 1
    assert buckets[("controller", "portal"), ("le", "0.025")] == 1
    assert sums[(("controller", "portal"),)] == pytest.approx(3.02)
    waited = found["quintant_reconcile_api_seconds_sum"]
    assert waited[(("controller", "portal"),)] == pytest.approx(1.01)


def test_each_way_to_fail_has_its_own_counter(metrics: Metrics) -> None:
    controller = metrics.controller("portal")
    controller.error()
    controller.terminal()
    controller.panic()
    controller.timeout()
    controller.conflict()

    for name in ("terminal_reconcile_errors", "reconcile_panics", "reconcile_timeouts"):
        assert value(metrics, f"controller_runtime_{name}_total", controller="portal") == 1
    assert value(metrics, "controller_runtime_reconcile_errors_total", controller="portal") == 1
    assert value(metrics, "quintant_conflicts_total", controller="portal") == 1


def test_active_workers_go_up_and_down(metrics: Metrics) -> None:
    controller = metrics.controller("portal")
    controller.active.inc()
    controller.active.inc()
    controller.active.dec()

    assert value(metrics, "controller_runtime_active_workers", controller="portal") == 1


def test_queue_observer_counts_adds_retries_and_durations(metrics: Metrics) -> None:
    observer = metrics.queue_observer("portal")
    observer.added()
    observer.retried()
    observer.queued(0.5)
    observer.worked(2)

    labels = {"name": "portal", "controller": "portal"}
    assert value(metrics, "workqueue_adds_total", **labels) == 1
    assert value(metrics, "workqueue_retries_total", **labels) == 1
    assert value(metrics, "workqueue_queue_duration_seconds_sum", **labels) == 0.5
    assert value(metrics, "workqueue_work_duration_seconds_sum", **labels) == 2


def test_queue_gauges_are_those_of_the_moment_of_the_scrape(metrics: Metrics) -> None:
    queue = Queue()
    metrics.add_queue("portal", queue)
    labels = {"name": "portal", "controller": "portal"}
    assert value(metrics, "workqueue_depth", priority="0", **labels) == 0

    queue.ready, queue.running = {0: 3, -100: 7}, (1.0, 4.0)
    assert value(metrics, "workqueue_depth", priority="0", **labels) == 3
    assert value(metrics, "workqueue_depth", priority="-100", **labels) == 7
    assert value(metrics, "workqueue_unfinished_work_seconds", **labels) == 5
    assert value(metrics, "workqueue_longest_running_processor_seconds", **labels) == 4


async def test_informers_of_one_kind_are_added_up_and_the_quietest_counts(
    metrics: Metrics,
) -> None:
    await advance(10)
    metrics.add_informer(Informer(objects=10, alive_at=9.0))
    metrics.add_informer(Informer(objects=5, alive_at=3.0, misfits=2))

    assert value(metrics, "quintant_cache_objects", kind="pods") == 15
    assert value(metrics, "quintant_caches", kind="pods") == 2
    assert value(metrics, "quintant_watch_age_seconds", kind="pods") == 7
    assert value(metrics, "quintant_undecodable_objects", kind="pods") == 2


async def test_watch_that_never_heard_from_the_server_has_no_age(metrics: Metrics) -> None:
    metrics.add_informer(Informer(objects=0, alive_at=0.0))

    assert value(metrics, "quintant_watch_age_seconds", kind="pods") is None


def test_watch_restarts_are_counted_by_reason(metrics: Metrics) -> None:
    metrics.add_informer(Informer(objects=0, alive_at=0.0))
    metrics.restarted("pods", "idle")
    metrics.restarted("pods", "429")

    name = "quintant_watch_restarts_total"
    assert value(metrics, name, kind="pods", reason="idle") == 1
    assert value(metrics, name, kind="pods", reason="429") == 1
    assert value(metrics, name, kind="pods", reason="410") == 0


def test_queue_and_informers_can_report_to_metrics(metrics: Metrics) -> None:
    queue: queues.QueueObserver = metrics.queue_observer("portal")
    informer: CacheObserver = metrics
    queue.added()
    informer.overlaid()

    assert value(metrics, "workqueue_adds_total", name="portal", controller="portal") == 1
    assert value(metrics, "quintant_overlay_hits_total") == 1


def test_requests_are_counted_by_method_and_status(metrics: Metrics) -> None:
    rest = metrics.rest("example:6443")
    rest.requested("GET", 200, 0.01, received=2048)
    rest.requested("GET", 200, 0.01, received=2048)
    rest.requested("PATCH", 409, 0.01, sent=100)
    rest.requested("PATCH", NO_ANSWER, 30)
    rest.retried("GET", 429)
    rest.throttled("GET", 0.2)

    count = "rest_client_requests_total"
    assert value(metrics, count, method="GET", code="200", host="example:6443") == 2
    assert value(metrics, count, method="PATCH", code="409", host="example:6443") == 1
    assert value(metrics, count, method="PATCH", code="<error>", host="example:6443") == 1
    get, patch = ({"verb": verb, "host": "example:6443"} for verb in ("GET", "PATCH"))
    assert value(metrics, "rest_client_request_duration_seconds_count", **get) == 2
    assert value(metrics, "rest_client_response_size_bytes_sum", **get) == 4096
    assert value(metrics, "rest_client_request_size_bytes_sum", **patch) == 100
    assert value(metrics, "rest_client_request_retries_total", code="429", **get) == 1
    assert value(metrics, "rest_client_rate_limiter_duration_seconds_sum", **get) == 0.2


def test_leader_shows_whether_it_leads(metrics: Metrics) -> None:
    leader = metrics.leader("portal")
    assert value(metrics, "leader_election_master_status", name="portal") == 0

    leader.leading(True)
    leader.slow()
    assert value(metrics, "leader_election_master_status", name="portal") == 1
    assert value(metrics, "leader_election_slowpath_total", name="portal") == 1

    leader.leading(False)
    assert value(metrics, "leader_election_master_status", name="portal") == 0


def test_webhook_requests_are_in_flight_until_answered(metrics: Metrics) -> None:
    webhook = metrics.webhook("/validate")
    webhook.started()
    flying = "controller_runtime_webhook_requests_in_flight"
    count = "controller_runtime_webhook_requests_total"
    assert value(metrics, flying, webhook="/validate") == 1
    assert value(metrics, count, webhook="/validate", code="500") == 0

    webhook.answered(200, 0.01)
    assert value(metrics, flying, webhook="/validate") == 0
    assert value(metrics, count, webhook="/validate", code="200") == 1


def test_process_wide_counters_start_at_zero(metrics: Metrics) -> None:
    names = {
        "certwatcher_read_certificate_total": metrics.certificate_read,
        "certwatcher_read_certificate_errors_total": metrics.certificate_failed,
        "quintant_events_dropped_total": metrics.event_dropped,
        "quintant_overlay_hits_total": metrics.overlaid,
    }
    for name, count in names.items():
        assert value(metrics, name) == 0
        count()
        assert value(metrics, name) == 1
    metrics.lagged(0.25)
    assert value(metrics, "quintant_loop_lag_seconds") == 0.25


def test_process_memory_is_reported(metrics: Metrics) -> None:
    assert scraped(metrics)["process_resident_memory_bytes"][()] > 0


def test_two_managers_do_not_share_a_counter() -> None:
    one, other = Metrics(), Metrics()
    one.controller("portal").error()
    other.controller("portal")

    assert value(other, "controller_runtime_reconcile_errors_total", controller="portal") == 0


def test_operators_add_their_own_series(metrics: Metrics) -> None:
    joins = Counter("klight_joins", "Peers joined.")
    metrics.add_collector(joins)
    joins.inc()

    assert scraped(metrics)["klight_joins_total"][()] == 1


def test_no_created_series_double_the_counters(metrics: Metrics) -> None:
    metrics.controller("portal").error()

    assert b"_created" not in metrics.render()
