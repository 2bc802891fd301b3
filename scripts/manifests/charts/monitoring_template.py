"""What watches over an operator, as a template.

Rules and dashboards have braces of their own: they are files beside the templates, which Helm puts
in as they are.
"""

from __future__ import annotations

import copy

from manifests.charts.templates import (
    NAMESPACE,
    Fragment,
    Plain,
    condition,
    documents,
    labelled,
    scalar,
    template,
)
from quintant.core.yaml.dump import to_yaml
from quintant.operators import manager_of
from quintant.runtime.manager.monitoring import monitoring_manifests

_MONITORING = ".Values.monitoring"
INTERVAL = scalar("interval", f"{_MONITORING}.podMonitor.interval")


def monitoring_files(name: str) -> dict[str, str]:
    """The rules and the dashboard of an operator, by their files in the chart."""
    found = _monitoring(name)
    [rule], [shown] = found["prometheusrule"], found["dashboard"]
    [(dashboard, text)] = shown["data"].items()
    return {
        f"files/alerts/{name}.yaml": to_yaml([rule["spec"]["groups"]]),
        f"files/dashboards/{dashboard}": text,
    }


def monitoring_template(name: str) -> str:
    """PodMonitor, PrometheusRule and dashboard, each behind a switch."""
    found = copy.deepcopy(dict(_monitoring(name)))
    [monitor], [rule], [shown] = found["podmonitor"], found["prometheusrule"], found["dashboard"]
    monitor["spec"]["podMetricsEndpoints"][0]["interval"] = INTERVAL.slot
    groups = _file("groups", f"alerts/{name}.yaml")
    rule["spec"]["groups"] = groups.slot
    [dashboard] = shown["data"]
    data = _file(f"{dashboard}: |", f"dashboards/{dashboard}")
    shown["data"] = {dashboard: data.slot}
    return documents(
        (
            _switched("podMonitor", monitor, INTERVAL),
            _switched("alerts", rule, groups),
            _switched("dashboards", shown, data),
        )
    )


def _monitoring(name: str) -> dict[str, list[Plain]]:
    return monitoring_manifests(manager_of(name), NAMESPACE)


def _file(key: str, path: str) -> Fragment:
    line = f'  {{{{- $.Files.Get "files/{path}" | nindent <2> }}}}'
    return Fragment("file", f"{key if key.endswith('|') else key + ':'}\n{line}")


def _switched(switch: str, found: Plain, *fragments: Fragment) -> str:
    more = Fragment("more", f"{{{{- with {_MONITORING}.{switch}.labels }}}}\n"
                            "{{- toYaml . | nindent <0> }}\n{{- end }}")  # fmt: skip
    metadata = found["metadata"] | {"labels": {more.slot: "", **found["metadata"]["labels"]}}
    text = template([labelled(found | {"metadata": metadata})], [more, *fragments])
    return condition(f"{_MONITORING}.{switch}.enabled", text)
