"""What scales, limits and connects workloads in a table: autoscalers, quotas, ingresses."""

from __future__ import annotations

from typing import Any

from quintant.cluster.catalog import Plain
from quintant.cluster.printing import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    UNSET,
    Printer,
    column,
    part,
    spec,
    status,
)
from quintant.cluster.scale import selector_text

METRICS_SHOWN = 2
HOSTS_SHOWN = 3
_SOURCES = {
    "Resource": "resource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
    "ContainerResource": "containerResource",
}


def _targets(autoscaler: Plain) -> str:
    metrics = spec(autoscaler).get("metrics") or []
    current = status(autoscaler).get("currentMetrics") or []
    current = [*current, *({} for _ in metrics)]
    shown = [_metric(metric, now) for metric, now in zip(metrics, current, strict=False)]
    if not shown:
        return NONE
    more = len(shown) - METRICS_SHOWN
    text = ", ".join(shown[:METRICS_SHOWN])
    return f"{text} + {more} more..." if more > 0 else text


def _metric(metric: Plain, now: Plain) -> str:
    """What there is of a metric, and what should be."""
    kind = metric.get("type", "")
    name = _SOURCES.get(kind)
    if name is None:
        return "<unknown type>"
    source, target = part(metric, name), part(metric, name, "target")
    found = part(now, name, "current")
    resource = kind in ("Resource", "ContainerResource")
    field = next((each for each in ("averageValue", "value") if target.get(each)), "")
    if field or not resource:
        field = field or ("averageValue" if kind == "Pods" else "value")
        text = f"{found.get(field) or UNKNOWN}/{target.get(field) or '0'}"
        if field == "averageValue" and kind in ("Object", "External"):
            text = f"{text} (avg)"
    else:
        text = f"{_percent(found, UNKNOWN)}/{_percent(target, '<auto>')}"
    return f"{source.get('name', '')}: {text}" if resource else text


def _percent(amount: Plain, absent: str) -> str:
    value = amount.get("averageUtilization")
    return absent if value is None else f"{value}%"


def _reference(autoscaler: Plain) -> str:
    where = part(autoscaler, "spec", "scaleTargetRef")
    return f"{where.get('kind', '')}/{where.get('name', '')}"


def _least(autoscaler: Plain) -> str:
    least = spec(autoscaler).get("minReplicas")
    return UNSET if least is None else str(least)


def _quota(limits: bool) -> Any:
    """What is used of what there may be, of requests or of limits."""

    def read(quota: Plain) -> str:
        hard, used = part(quota, "status", "hard"), part(quota, "status", "used")
        names = [name for name in sorted(hard) if name.startswith("limits.") is limits]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return read


def _hosts(ingress: Plain) -> str:
    hosts = [rule["host"] for rule in spec(ingress).get("rules") or () if rule.get("host")]
    if not hosts:
        return "*"
    more = len(hosts) - HOSTS_SHOWN
    text = ",".join(hosts[:HOSTS_SHOWN])
    return f"{text} + {more} more..." if more > 0 else text


def _address(ingress: Plain) -> str:
    balancers = part(ingress, "status", "loadBalancer").get("ingress") or ()
    found = {each.get("ip") or each.get("hostname") or "" for each in balancers}
    return ",".join(sorted(found - {""}))


def _parameters(each: Plain) -> str:
    found = spec(each).get("parameters")
    if not found:
        return NONE
    group = found.get("apiGroup")
    kind = f"{found.get('kind', '')}.{group}" if group else found.get("kind", "")
    return f"{kind}/{found.get('name', '')}"


AUTOSCALER = Printer(
    (
        NAME,
        column("Reference", _reference),
        column("Targets", _targets),
        column("MinPods", _least),
        column("MaxPods", lambda each: spec(each).get("maxReplicas", 0)),
        column("Replicas", lambda each: status(each).get("currentReplicas", 0)),
        AGE,
    )
)
QUOTA = Printer((NAME, column("Request", _quota(False)), column("Limit", _quota(True)), AGE))
NETWORK_POLICY = Printer(
    (
        NAME,
        column("Pod-Selector", lambda each: selector_text(spec(each).get("podSelector")) or NONE),
        AGE,
    )
)
INGRESS = Printer(
    (
        NAME,
        column("Class", lambda each: spec(each).get("ingressClassName") or NONE),
        column("Hosts", _hosts),
        column("Address", _address),
        column("Ports", lambda each: "80, 443" if spec(each).get("tls") else "80"),
        AGE,
    )
)
INGRESS_CLASS = Printer(
    (
        NAME,
        column("Controller", lambda each: spec(each).get("controller", "")),
        column("Parameters", _parameters),
        AGE,
    )
)
RUNTIME_CLASS = Printer((NAME, column("Handler", lambda each: each.get("handler", "")), AGE))
