"""printHorizontalPodAutoscaler, printResourceQuota: printer columns of autoscalers and quotas."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import (
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

METRICS_SHOWN = 2
_SOURCES = {
    "Resource": "resource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
    "ContainerResource": "containerResource",
}


def _targets(autoscaler: JsonObject) -> str:
    metrics = spec(autoscaler).get("metrics") or []
    current = status(autoscaler).get("currentMetrics") or []
    current = [*current, *({} for _ in metrics)]
    shown = [_metric(metric, now) for metric, now in zip(metrics, current, strict=False)]
    if not shown:
        return NONE
    more = len(shown) - METRICS_SHOWN
    text = ", ".join(shown[:METRICS_SHOWN])
    return f"{text} + {more} more..." if more > 0 else text


def _metric(metric: JsonObject, now: JsonObject) -> str:
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


def _percent(amount: JsonObject, absent: str) -> str:
    value = amount.get("averageUtilization")
    return absent if value is None else f"{value}%"


def _reference(autoscaler: JsonObject) -> str:
    reference = part(autoscaler, "spec", "scaleTargetRef")
    return f"{reference.get('kind', '')}/{reference.get('name', '')}"


def _least(autoscaler: JsonObject) -> str:
    least = spec(autoscaler).get("minReplicas")
    return UNSET if least is None else str(least)


def _quota(limits: bool) -> Any:
    """What is used of what there may be, of requests or of limits."""

    def read(quota: JsonObject) -> str:
        hard, used = part(quota, "status", "hard"), part(quota, "status", "used")
        names = [name for name in sorted(hard) if name.startswith("limits.") is limits]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return read


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
