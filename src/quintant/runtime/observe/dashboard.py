"""A Grafana dashboard of a manager: its own series first, then those that every manager has.

A panel follows from a metric: a counter becomes its rate, a histogram its median and its 99th
percentile, a gauge itself, each by the metric's labels. So a series that an operator adds is on its
dashboard, and one that it drops is not. Pure; the JSON is what Grafana 9 and newer import.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from quintant.metrics import Collector
from quintant.metrics.exposition import AnyMetric

Plain = dict[str, Any]

# Grafana's grid: a row is 24 wide.
_WIDTH, _HEIGHT, _COLUMNS = 8, 7, 3
_SCHEMA_VERSION = 39
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
# What Grafana calls the unit of a series, by the end of its name.
_UNITS = {"_seconds": "s", "_bytes": "bytes", "_percent": "percent"}
_RATE = "[$__rate_interval]"
_OPS = "ops"


class Query(Struct, frozen=True):
    """One expression of a panel; `legend` names its lines."""

    expr: str
    legend: str = ""


class Panel(Struct, frozen=True):
    """One graph."""

    title: str
    queries: tuple[Query, ...]
    unit: str = "short"
    text: str = ""


class Row(Struct, frozen=True):
    """Graphs below one heading."""

    title: str
    panels: tuple[Panel, ...]


def dashboard(job: str, rows: Sequence[Row]) -> Plain:
    """What Grafana shows of a program; empty rows are left out."""
    return {
        "uid": f"quintant-{job}"[:40],  # Grafana takes no longer ones
        "title": f"{job} (Quintant)",
        "tags": ["quintant"],
        "schemaVersion": _SCHEMA_VERSION,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {
            "list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]
        },
        "panels": list(_laid_out([row for row in rows if row.panels])),
    }


def own_row(job: str, collectors: Iterable[Collector]) -> Row:
    """The series that a program added to those of every manager; a graph each."""
    described = (getattr(each, "describe", None) or each.collect for each in collectors)
    metrics: Iterator[AnyMetric] = (metric for describe in described for metric in describe())
    return Row(job, tuple(metric_panel(metric, job) for metric in metrics))


def metric_panel(metric: AnyMetric, job: str) -> Panel:
    """The graph of a metric, by its labels."""
    labels: tuple[str, ...] = tuple(getattr(metric, "labels", ()))
    own, legend = f'{{job="{job}"}}', " ".join(f"{{{{{label}}}}}" for label in labels)
    unit = next((unit for end, unit in _UNITS.items() if metric.name.endswith(end)), "short")
    if metric.type == "counter":
        expr = f"sum{_by(labels)} (rate({metric.name}_total{own}{_RATE}))"
        queries: tuple[Query, ...] = (Query(expr, legend),)
        return Panel(f"{metric.name}_total", queries, _OPS, metric.documentation)
    if metric.type == "histogram":
        queries = _quantiles(metric.name, own, labels, legend)
    else:
        queries = (Query(f"max{_by(labels)} ({metric.name}{own})", legend),)
    return Panel(metric.name, queries, unit, metric.documentation)


def manager_rows(
    job: str, *, elects: bool, webhooks: bool, shards: bool, staleness: bool
) -> list[Row]:
    """What there is to see of any manager."""
    rows = [_controllers(job), _requests(job), _caches(job), _process(job, elects)]
    rows += [_staleness(job)] * staleness
    return [*rows, *[_shards(job)] * shards, *[_webhooks(job)] * webhooks]


def _staleness(job: str) -> Row:
    own, by = f'{{job="{job}"}}', "by (controller, kind)"
    behind = f"max {by} (quintant_cache_staleness_seconds{own})"
    held = f"sum by (controller) (rate(quintant_stale_holds_total{own}{_RATE}))"
    return Row(
        "Staleness",
        (
            Panel("Caches behind the server", (Query(behind, "{{controller}} {{kind}}"),), "s"),
            Panel("Keys put back", (Query(held, "{{controller}}"),), _OPS),
        ),
    )


def _controllers(job: str) -> Row:
    own, name = f'{{job="{job}"}}', "controller_runtime_"
    by = "sum by (controller)"
    failures = {
        "errors": f"{name}reconcile_errors_total",
        "gave up": f"{name}terminal_reconcile_errors_total",
        "timeouts": f"{name}reconcile_timeouts_total",
        "panics": f"{name}reconcile_panics_total",
        "conflicts": "quintant_conflicts_total",
    }
    kept = {"without rest": "quintant_hot_loops", "not cleaned up": "quintant_blocked_cleanups"}
    return Row(
        "Controllers",
        (
            Panel("Reconciles", (
                Query(f"sum by (controller, result) (rate({name}reconcile_total{own}{_RATE}))",
                      "{{controller}} {{result}}"),), _OPS),
            Panel("Time of a reconcile", _quantiles(
                f"{name}reconcile_time_seconds", own, ("controller",), "{{controller}}"), "s"),
            Panel("of it, waiting for the API server", _quantiles(
                "quintant_reconcile_api_seconds", own, ("controller",), "{{controller}}"), "s"),
            Panel("Failures", tuple(
                Query(f"{by} (rate({series}{own}{_RATE}))", f"{{{{controller}}}} {label}")
                for label, series in failures.items()), _OPS),
            Panel("Keys that wait", (
                Query(f"sum by (controller) (workqueue_depth{own})", "{{controller}}"),)),
            Panel("Time that keys wait", _quantiles(
                "workqueue_queue_duration_seconds", own, ("controller",), "{{controller}}"), "s"),
            Panel("Workers", (
                Query(f"{by} ({name}active_workers{own})", "{{controller}} busy"),
                Query(f"max by (controller) ({name}max_concurrent_reconciles{own})",
                      "{{controller}} of"))),
            Panel("Longest work under way", (
                Query(f"max by (controller) (workqueue_longest_running_processor_seconds{own})",
                      "{{controller}}"),), "s"),
            Panel("Keys that need somebody", tuple(
                Query(f"max by (controller) ({series}{own})", f"{{{{controller}}}} {label}")
                for label, series in kept.items())),
        ),
    )  # fmt: skip


def _requests(job: str) -> Row:
    own, name = f'{{job="{job}"}}', "rest_client_"
    return Row(
        "API server",
        (
            Panel("Requests", (
                Query(f"sum by (method, code) (rate({name}requests_total{own}{_RATE}))",
                      "{{method}} {{code}}"),), _OPS),
            Panel("Time to the answer", _quantiles(
                f"{name}request_duration_seconds", own, ("verb",), "{{verb}}"), "s"),
            Panel("Received", (
                Query(f"sum by (verb) (rate({name}response_size_bytes_sum{own}{_RATE}))",
                      "{{verb}}"),), "Bps"),
        ),
    )  # fmt: skip


def _caches(job: str) -> Row:
    own = f'{{job="{job}"}}'
    return Row(
        "Caches",
        (
            Panel("Objects", (
                Query(f"max by (kind) (quintant_cache_objects{own})", "{{kind}}"),)),
            Panel("Time since the server last spoke", (
                Query(f"max by (kind) (quintant_watch_age_seconds{own})", "{{kind}}"),), "s"),
            Panel("Watches opened again", (
                Query(f"sum by (kind, reason) (rate(quintant_watch_restarts_total{own}{_RATE}))",
                      "{{kind}} {{reason}}"),), _OPS),
            Panel("Objects that do not fit their type", (
                Query(f"max by (kind) (quintant_undecodable_objects{own})", "{{kind}}"),)),
        ),
    )  # fmt: skip


def _process(job: str, elects: bool) -> Row:
    own = f'{{job="{job}"}}'
    panels = [
        Panel("Memory", (Query(f"process_resident_memory_bytes{own}", "{{pod}}"),), "bytes"),
        Panel("Processor", (Query(f"rate(process_cpu_seconds_total{own}{_RATE})", "{{pod}}"),)),
        Panel("Lateness of the event loop", (
            Query(f"quintant_loop_lag_seconds{own}", "{{pod}}"),), "s"),
    ]  # fmt: skip
    if elects:
        leads = Query(f"leader_election_master_status{own}", "{{pod}} {{name}}")
        panels.append(Panel("Leader", (leads,)))
    return Row("Process", tuple(panels))


def _shards(job: str) -> Row:
    own, name, each = f'{{job="{job}"}}', "quintant_shard_", "{{pod}} {{process}}"
    held = f'{name}ranges{{job="{job}",state="held"}}'
    return Row(
        "Shards",
        (
            Panel("Ranges at work", (Query(held, each),)),
            Panel("Members, as each sees them", (Query(f"{name}members{own}", each),)),
            Panel("Ranges without a living member", (Query(f"max({name}unserved{own})", ""),)),
            Panel("Ranges that come and go", (
                Query(f"sum by (move) (rate({name}moves_total{own}{_RATE}))", "{{move}}"),), _OPS),
            Panel("Time to give a range", _quantiles(f"{name}handover_seconds", own, (), ""), "s"),
            Panel("Writes that were refused", (
                Query(f"rate({name}refused_writes_total{own}{_RATE})", "{{pod}}"),), _OPS),
        ),
    )  # fmt: skip


def _webhooks(job: str) -> Row:
    own, name = f'{{job="{job}"}}', "controller_runtime_webhook_"
    return Row(
        "Webhooks",
        (
            Panel("Reviews", (
                Query(f"sum by (webhook, code) (rate({name}requests_total{own}{_RATE}))",
                      "{{webhook}} {{code}}"),), _OPS),
            Panel("Time to a verdict", _quantiles(
                f"{name}latency_seconds", own, ("webhook",), "{{webhook}}"), "s"),
        ),
    )  # fmt: skip


def _quantiles(name: str, own: str, labels: Sequence[str], legend: str) -> tuple[Query, ...]:
    """The median and the 99th percentile of a histogram."""
    rate = f"sum{_by(('le', *labels))} (rate({name}_bucket{own}{_RATE}))"
    return tuple(
        Query(f"histogram_quantile({share}, {rate})", f"{legend} p{share * 100:.0f}".strip())
        for share in (0.5, 0.99)
    )


def _by(labels: Sequence[str]) -> str:
    return f" by ({', '.join(labels)})" if labels else ""


def _laid_out(rows: Sequence[Row]) -> Iterator[Plain]:
    """Rows and panels with numbers and positions, three panels side by side."""
    number, top = 0, 0
    for row in rows:
        number += 1
        yield {
            "id": number, "type": "row", "title": row.title, "collapsed": False, "panels": [],
            "gridPos": {"h": 1, "w": _WIDTH * _COLUMNS, "x": 0, "y": top},
        }  # fmt: skip
        top += 1
        for at, panel in enumerate(row.panels):
            number += 1
            down, across = divmod(at, _COLUMNS)
            grid_pos = {"h": _HEIGHT, "w": _WIDTH, "x": across * _WIDTH, "y": top + down * _HEIGHT}
            yield _graph(panel, number, grid_pos)
        top += -(-len(row.panels) // _COLUMNS) * _HEIGHT


def _graph(panel: Panel, number: int, grid_pos: dict[str, int]) -> Plain:
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.text,
        "datasource": _DATASOURCE,
        "gridPos": grid_pos,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": _DATASOURCE,
                "expr": query.expr,
                "legendFormat": query.legend or "__auto",
            }
            for at, query in enumerate(panel.queries)
        ],
    }
