"""What a cluster with Prometheus and Grafana needs to watch over a manager.

    podmonitor       that it is scraped, under the manager's name as the job
    prometheusrule   its alerts
    dashboard        a ConfigMap that Grafana's sidecar loads

They are those of the Prometheus operator and of kube-prometheus; a cluster without it has no such
kinds, so they are never part of what installs a manager. A pure function of the declarations.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.rbac import NAME_LABEL
from quintant.runtime.observe.alerts import manager_alerts, rule_groups
from quintant.runtime.observe.dashboard import dashboard, manager_rows, own_row

Plain = dict[str, Any]
_API_VERSION = "monitoring.coreos.com/v1"
# The label by which Grafana's sidecar knows a dashboard.
_DASHBOARD_LABEL = "grafana_dashboard"


def monitoring_manifests(manager: Manager, namespace: str) -> dict[str, list[Plain]]:
    """The objects that watch over a manager that lives in a namespace, by what they are about."""
    return {
        "podmonitor": [_pod_monitor(manager, namespace)],
        "prometheusrule": [_rules(manager, namespace)],
        "dashboard": [_dashboard(manager, namespace)],
    }


def _pod_monitor(manager: Manager, namespace: str) -> Plain:
    """Scrape its pods; its series keep their own label `namespace`, and the job is its name."""
    return {
        "apiVersion": _API_VERSION,
        "kind": "PodMonitor",
        "metadata": _meta(manager, namespace, manager.name),
        "spec": {
            "jobLabel": NAME_LABEL,
            "selector": {"matchLabels": {NAME_LABEL: manager.name}},
            "podMetricsEndpoints": [{"port": "metrics", "honorLabels": True}],
        },
    }


def _rules(manager: Manager, namespace: str) -> Plain:
    alerts = (*manager_alerts(manager.name, **_has(manager)), *manager.alerts)
    return {
        "apiVersion": _API_VERSION,
        "kind": "PrometheusRule",
        "metadata": _meta(manager, namespace, manager.name),
        "spec": {"groups": rule_groups(manager.name, alerts)},
    }


def _dashboard(manager: Manager, namespace: str) -> Plain:
    job = manager.name
    shown = dashboard(job, [own_row(job, manager.collectors), *manager_rows(job, **_has(manager))])
    text = msgspec.json.format(msgspec.json.encode(shown), indent=1).decode() + "\n"
    meta = _meta(manager, namespace, f"{job}-dashboard")
    meta["labels"] |= {_DASHBOARD_LABEL: "1"}
    data = {f"{job}.json": text}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def _has(manager: Manager) -> dict[str, bool]:
    shards = manager.settings.shards is not None
    elects = manager.settings.leader_elect and not shards
    fresh = any(declared.fresh is not None for declared in manager.declarations)
    staleness = manager.settings.staleness is not None or fresh
    return {
        "elects": elects,
        "webhooks": bool(manager.webhooks),
        "shards": shards,
        "staleness": staleness,
    }


def _meta(manager: Manager, namespace: str, name: str) -> Plain:
    return {"name": name, "namespace": namespace, "labels": {NAME_LABEL: manager.name}}
