"""Alerts: what a person has to look at, in Prometheus' words.

An operator declares those of its own series (`Manager.add_alerts`); those of the series that every
manager has are here. Both become a PrometheusRule, by `quintant manifests --monitoring`.

Every expression holds for any number of replicas: series are taken together by `max` or `sum`, so
that a standby, which does nothing, hides nothing and raises no alarm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

Severity = Literal["critical", "warning", "info"]
"""What Alertmanager routes by: wake a person, write a ticket, keep a note."""

BUSY_SHARE = 0.5
"""Seconds of reconciles in a second, below which it does not matter who does them."""

STALE_SECONDS = 300
"""A cache is behind by a bookmark and a sample at most, as a rule: a minute and a half."""

RUNBOOKS = "docs/monitoring.md"
"""Where every alert of ours has a section of its name: what it means, and what to do."""


class Alert(Struct, frozen=True):
    """A condition in PromQL that is reported once it held for some minutes."""

    name: str
    expr: str
    summary: str
    """One line; `{{ $labels.controller }}` and `{{ $value }}` are filled in by Prometheus."""
    minutes: int = 10
    """For how long the condition holds before it is an alert."""
    severity: Severity = "warning"
    runbook: str = ""
    """Where it is written what to do."""

    def rule(self) -> dict[str, Any]:
        """The alert as Prometheus reads it."""
        annotations = {"summary": self.summary}
        if self.runbook:
            annotations["runbook"] = self.runbook
        return {
            "alert": self.name,
            "expr": self.expr,
            "for": f"{self.minutes}m",
            "labels": {"severity": self.severity},
            "annotations": annotations,
        }


def rule_groups(job: str, alerts: Iterable[Alert]) -> list[dict[str, Any]]:
    """The groups of a file of rules: one, named after the program."""
    return [{"name": job, "rules": [alert.rule() for alert in alerts]}]


def with_runbook(*alerts: Alert) -> tuple[Alert, ...]:
    """Alerts of ours, each leading to its section."""
    return tuple(
        Alert(each.name, each.expr, each.summary, each.minutes, each.severity,
              f"{RUNBOOKS}#{each.name.lower()}")
        for each in alerts
    )  # fmt: skip


def manager_alerts(
    job: str, *, elects: bool, webhooks: bool, shards: bool, staleness: bool
) -> tuple[Alert, ...]:
    """What is alarming about any manager; `job` is what Prometheus calls its scrapes."""
    found = [*_process(job), *_controllers(job), *_requests(job), *_watches(job)]
    if staleness:
        found += _staleness(job)
    if elects:
        found += _election(job)
    if shards:
        found += _shards(job)
    if webhooks:
        found += _webhooks(job)
    return with_runbook(*found)


def _process(job: str) -> Iterator[Alert]:
    own = f'{{job="{job}"}}'
    yield Alert(
        "OperatorDown", f'absent(up{{job="{job}"}} == 1)',
        f"No replica of {job} can be scraped.", 5, "critical",
    )  # fmt: skip
    yield Alert(
        "OperatorLoopLag", f"max(quintant_loop_lag_seconds{own}) > 1",
        f"The event loop of {job} runs {{{{ $value }}}} s late: something blocks it.", 5,
    )  # fmt: skip
    yield Alert(
        "OperatorEventsDropped", f"sum(increase(quintant_events_dropped_total{own}[1h])) > 0",
        f"Events of {job} did not reach the API server.", 0, "info",
    )  # fmt: skip


def _controllers(job: str) -> Iterator[Alert]:
    own, name = f'{{job="{job}"}}', "controller_runtime_"
    by, label = "by (controller)", "{{ $labels.controller }}"
    failed, total = f"{name}reconcile_errors_total{own}", f"{name}reconcile_total{own}"
    yield Alert(
        "OperatorReconcileErrors",
        f"sum {by} (rate({failed}[10m])) / sum {by} (rate({total}[10m])) > 0.2",
        f"More than a fifth of the reconciles of {label} fail.", 15,
    )  # fmt: skip
    yield Alert(
        "OperatorReconcilePanics",
        f"sum {by} (increase({name}reconcile_panics_total{own}[15m])) > 0",
        f"A reconcile of {label} raised what nobody expects.", 0,
    )  # fmt: skip
    yield Alert(
        "OperatorReconcileTimeouts",
        f"sum {by} (increase({name}reconcile_timeouts_total{own}[15m])) > 0",
        f"Reconciles of {label} are cut short.", 15,
    )  # fmt: skip
    waited = f"workqueue_queue_duration_seconds_bucket{own}"
    yield Alert(
        "OperatorQueueBehind",
        f"histogram_quantile(0.99, sum by (le, controller) (rate({waited}[10m]))) > 60",
        f"Keys of {label} wait longer than a minute for a worker.", 15,
    )  # fmt: skip
    yield Alert(
        "OperatorWorkStuck",
        f"max {by} (workqueue_longest_running_processor_seconds{own}) > 900",
        f"A reconcile of {label} has run for {{{{ $value }}}} s.", 5,
    )  # fmt: skip
    yield Alert(
        "OperatorHotLoop", f"max {by} (quintant_hot_loops{own}) > 0",
        f"{{{{ $value }}}} keys of {label} are reconciled without rest.", 10,
    )  # fmt: skip
    yield Alert(
        "OperatorCleanupBlocked", f"max {by} (quintant_blocked_cleanups{own}) > 0",
        f"{{{{ $value }}}} deleted objects of {label} cannot be cleaned up.", 30,
    )  # fmt: skip


def _requests(job: str) -> Iterator[Alert]:
    name = "rest_client_requests_total"
    failed = f'{name}{{job="{job}",code=~"5..|<error>"}}'
    yield Alert(
        "OperatorApiErrors",
        f'sum(rate({failed}[5m])) / sum(rate({name}{{job="{job}"}}[5m])) > 0.1',
        f"More than a tenth of the requests of {job} to the API server fail.", 15,
    )  # fmt: skip
    yield Alert(
        "OperatorForbidden",
        f'sum by (code) (rate({name}{{job="{job}",code=~"401|403"}}[10m])) > 0',
        f"The API server refuses requests of {job} with {{{{ $labels.code }}}}.", 15,
    )  # fmt: skip


def _watches(job: str) -> Iterator[Alert]:
    own, by, label = f'{{job="{job}"}}', "by (kind)", "{{ $labels.kind }}"
    yield Alert(
        "OperatorWatchSilent", f"max {by} (quintant_watch_age_seconds{own}) > 900",
        f"The API server has said nothing of {label} for {{{{ $value }}}} s.", 5,
    )  # fmt: skip
    yield Alert(
        "OperatorUndecodableObjects", f"max {by} (quintant_undecodable_objects{own}) > 0",
        f"{{{{ $value }}}} objects of {label} do not fit their type.", 10,
    )  # fmt: skip


def _staleness(job: str) -> Iterator[Alert]:
    behind = f'quintant_cache_staleness_seconds{{job="{job}"}}'
    yield Alert(
        "OperatorCacheStale", f"max by (controller, kind) ({behind}) > {STALE_SECONDS}",
        "The cache of {{ $labels.kind }} that {{ $labels.controller }} acts on is "
        "{{ $value }} s behind.", 5,
    )  # fmt: skip


def _election(job: str) -> Iterator[Alert]:
    held = f'leader_election_master_status{{job="{job}"}}'
    yield Alert(
        "OperatorWithoutLeader", f"max by (name) ({held}) < 1",
        f"No replica of {job} holds its lease: nothing is reconciled.", 5, "critical",
    )  # fmt: skip
    yield Alert(
        "OperatorWithTwoLeaders", f"sum by (name) ({held}) > 1",
        f"{{{{ $value }}}} replicas of {job} hold one lease.", 2, "critical",
    )  # fmt: skip


def _shards(job: str) -> Iterator[Alert]:
    own = f'{{job="{job}"}}'
    yield Alert(
        "ShardRangesUnserved", f"max(quintant_shard_unserved{own}) > 0",
        f"{{{{ $value }}}} ranges of {job} are held by no living member: their keys wait.",
        1, "critical",
    )  # fmt: skip
    yield Alert(
        "ShardMemberFenced", f"max by (pod, process) (quintant_shard_fence_closed{own}) > 0",
        "{{ $labels.pod }} {{ $labels.process }} cannot renew its Lease, and writes nothing.", 5,
    )  # fmt: skip
    # A process of several has a label of its own.
    work = f"sum by (pod, process) (rate(controller_runtime_reconcile_time_seconds_sum{own}[15m]))"
    yield Alert(
        "ShardsUneven", f"max({work}) > 2 * avg({work}) and max({work}) > {BUSY_SHARE}",
        f"One member of {job} does more than twice the work of the others.", 30, "info",
    )  # fmt: skip


def _webhooks(job: str) -> Iterator[Alert]:
    name, own = "controller_runtime_webhook_", f'{{job="{job}"}}'
    yield Alert(
        "OperatorWebhookErrors",
        f'sum by (webhook) (rate({name}requests_total{{job="{job}",code="500"}}[5m])) > 0',
        "The webhook {{ $labels.webhook }} fails: writes are refused.", 10, "critical",
    )  # fmt: skip
    yield Alert(
        "OperatorCertificateErrors",
        f"sum(increase(certwatcher_read_certificate_errors_total{own}[1h])) > 0",
        f"The serving certificate of {job} cannot be read.", 10,
    )  # fmt: skip
