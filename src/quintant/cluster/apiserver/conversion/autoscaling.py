"""Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler: from v2.

They are stored as version 2. Version 1 has a field for the use of processors alone; whatever else
there is, its annotations carry, in the words of a version that was never finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.cluster.apiserver.golang import json
from quintant.cluster.apiserver.meta.types import JsonObject

CPU_PERCENT = 80
"""What an autoscaler aims at that does not say."""
_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS = f"{_PREFIX}metrics"
"""The annotation of what version 1 has no field for."""
_CURRENT = f"{_PREFIX}current-metrics"
_CONDITIONS, _BEHAVIOR = f"{_PREFIX}conditions", f"{_PREFIX}behavior"
_OURS = frozenset({METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR})
_SOURCES = {
    "Resource": "resource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
    "ContainerResource": "containerResource",
}


def cpu_metric(percent: int) -> JsonObject:
    """Aim at a use of processors."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def to_v1(stored: JsonObject) -> JsonObject:
    """A stored autoscaler as version 1 shows it."""
    spec, status = dict(stored.get("spec") or {}), dict(stored.get("status") or {})
    cpu, metrics = _split(spec.pop("metrics", None) or (), "target")
    current = status.pop("currentMetrics", None) or ()
    used, _ = _split(current, "current")
    notes = {
        METRICS: [_old(metric, "target", _OLD_TARGETS) for metric in metrics],
        _CURRENT: [_old(metric, "current", _OLD_VALUES) for metric in current],
        _CONDITIONS: status.pop("conditions", None),
        _BEHAVIOR: _capitals(spec.pop("behavior", None)),
    }
    if cpu is not None:
        spec["targetCPUUtilizationPercentage"] = cpu
    if used is not None:
        status["currentCPUUtilizationPercentage"] = used
    status = {"currentReplicas": 0, **status}
    return {**stored, "metadata": _noted(stored["metadata"], notes), "spec": spec, "status": status}


def to_v2(document: JsonObject) -> JsonObject:
    """An autoscaler of version 1 as it is stored."""
    metadata, notes = _read(document["metadata"])
    spec, status = dict(document.get("spec") or {}), dict(document.get("status") or {})
    cpu = spec.pop("targetCPUUtilizationPercentage", None)
    used = status.pop("currentCPUUtilizationPercentage", None)
    metrics = [_new(metric, "target", _NEW_TARGETS) for metric in notes.get(METRICS) or ()]
    metrics += [] if cpu is None else [cpu_metric(cpu)]
    spec["metrics"] = metrics or [cpu_metric(CPU_PERCENT)]
    behavior = notes.get(_BEHAVIOR)
    if behavior:
        spec["behavior"] = _small(behavior)
    current = [_new(metric, "current", _NEW_VALUES) for metric in notes.get(_CURRENT) or ()]
    if used is not None and not current:
        current = [_cpu_use(used)]
    status["currentMetrics"] = current or None
    if notes.get(_CONDITIONS):
        status["conditions"] = notes[_CONDITIONS]
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    return {**document, "metadata": metadata, "spec": spec, "status": status}


def _cpu_use(percent: int) -> JsonObject:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "current": {"averageUtilization": percent}},
    }


def _split(metrics: Any, amount: str) -> tuple[int | None, list[JsonObject]]:
    """The use of processors among metrics, and the others."""
    percent: int | None = None
    others = []
    for metric in metrics:
        source = metric.get("resource") or {}
        found = (source.get(amount) or {}).get("averageUtilization")
        if metric.get("type") == "Resource" and source.get("name") == "cpu" and found is not None:
            percent = found
        else:
            others.append(metric)
    return percent, others


def _noted(metadata: JsonObject, notes: Mapping[str, Any]) -> JsonObject:
    kept = dict(metadata.get("annotations") or {})
    kept |= {key: msgspec.json.encode(value).decode() for key, value in notes.items() if value}
    return {**metadata, "annotations": kept} if kept else metadata


def _read(metadata: JsonObject) -> tuple[JsonObject, dict[str, Any]]:
    """Metadata without our annotations, and what those say; nonsense says nothing."""
    annotations = metadata.get("annotations") or {}
    notes = {key: _decoded(annotations[key]) for key in _OURS & annotations.keys()}
    if not notes:
        return metadata, {}
    rest = {key: value for key, value in annotations.items() if key not in _OURS}
    bare = {key: value for key, value in metadata.items() if key != "annotations"}
    return ({**bare, "annotations": rest} if rest else bare), notes


def _decoded(text: Any) -> Any:
    try:
        return json.decode(text.encode())
    except (json.NotJson, AttributeError, UnicodeEncodeError):
        return None


_OLD_TARGETS = {
    "averageUtilization": "targetAverageUtilization",
    "averageValue": "targetAverageValue",
    "value": "targetValue",
}
_OLD_VALUES = {
    "averageUtilization": "currentAverageUtilization",
    "averageValue": "currentAverageValue",
    "value": "currentValue",
}
_NEW_TARGETS = {old: new for new, old in _OLD_TARGETS.items()}
_NEW_VALUES = {old: new for new, old in _OLD_VALUES.items()}
_TARGET_TYPES = {
    "averageUtilization": "Utilization",
    "averageValue": "AverageValue",
    "value": "Value",
}
# An object's own metric tells its average by another name than all the others.
_OBJECT_AVERAGE = "averageValue"
_SELECTORS = {"External": "metricSelector"}


def _old(metric: JsonObject, amount: str, names: Mapping[str, str]) -> JsonObject:
    """A metric in the old words."""
    kind = metric["type"]
    source = dict(metric.get(_SOURCES[kind]) or {})
    found, identifier = source.pop(amount, None) or {}, source.pop("metric", None) or {}
    reference = source.pop("describedObject", None)
    old: JsonObject = {"target": _reference(reference)} if reference else {}
    old |= {"name": source.pop("name")} if "name" in source else {}
    old |= {"metricName": identifier["name"]} if identifier else {}
    for name, value in found.items():
        if name in names:
            same = kind == "Object" and name == _OBJECT_AVERAGE
            old[name if same else names[name]] = value
    if "selector" in identifier:
        old[_SELECTORS.get(kind, "selector")] = identifier["selector"]
    return {"type": kind, _SOURCES[kind]: old | source}


def _new(metric: JsonObject, amount: str, names: Mapping[str, str]) -> JsonObject:
    """A metric in the new words."""
    kind = metric.get("type", "")
    source = dict(metric.get(_SOURCES.get(kind, "")) or {})
    found = {names[name]: source.pop(name) for name in [*source] if name in names}
    if kind == "Object" and _OBJECT_AVERAGE in source:
        found[_OBJECT_AVERAGE] = source.pop(_OBJECT_AVERAGE)
    if amount == "target":
        kinds = [_TARGET_TYPES[name] for name in _TARGET_TYPES if name in found]
        found = {"type": kinds[0] if kinds else "", **found}
    reference, name = source.pop("target", None), source.pop("metricName", None)
    selector = source.pop(_SELECTORS.get(kind, "selector"), None)
    new: JsonObject = {"describedObject": reference} if reference else {}
    if name is not None:
        new["metric"] = {"name": name} | ({"selector": selector} if selector else {})
    return {"type": kind, _SOURCES.get(kind, "resource"): new | source | {amount: found}}


def _reference(reference: JsonObject) -> JsonObject:
    return {name: reference[name] for name in ("kind", "name", "apiVersion") if name in reference}


_RULES = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
_POLICY = ("type", "value", "periodSeconds")


def _capitals(behavior: JsonObject | None) -> JsonObject | None:
    """How fast to go, as Go writes a structure that has no names for JSON."""
    if behavior is None:
        return None
    return {_capital(name): _rules(behavior.get(name)) for name in ("scaleUp", "scaleDown")}


def _rules(rules: JsonObject | None) -> JsonObject | None:
    if rules is None:
        return None
    written = {_capital(name): rules.get(name) for name in _RULES}
    policies = rules.get("policies")
    if policies is not None:
        written["Policies"] = [
            {_capital(name): policy.get(name) for name in _POLICY} for policy in policies
        ]
    return written


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _small(value: Any) -> Any:
    """The way back; what is null is absent."""
    if isinstance(value, dict):
        kept = {key: child for key, child in value.items() if child is not None}
        return {key[0].lower() + key[1:]: _small(child) for key, child in kept.items()}
    return [_small(child) for child in value] if isinstance(value, list) else value
