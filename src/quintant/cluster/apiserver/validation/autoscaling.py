"""ValidateHorizontalPodAutoscaler: its target, bounds, metrics and behavior.

Objects of version 1 are looked at as those of version 2, whose fields are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.conversion.autoscaling import to_v2
from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_label_errors, path_segment_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_enum,
    validate_quantity,
    validate_required_name,
)
from quintant.core.errors import Cause

LONGEST_PERIOD, LONGEST_WINDOW = 1800, 3600
"""Seconds over which a policy counts, and over which advice is collected."""
_OLD = "autoscaling/v1"
_CORE_SCALED = "ReplicationController"
"""What can be scaled and is in no group."""
_SELECT = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_AIMS = ("Utilization", "Value", "AverageValue")
# The types of metrics, in the order in which their sources are looked at.
_SOURCES = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_TO_ZERO = "must specify at least one Object or External metric to support scaling to zero replicas"
_EITHER = "must set either a target raw value or a target utilization"
_NOT_BOTH = "may not set both a target raw value and a target utilization"


def validate_autoscaler(autoscaler: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with an autoscaler of either version."""
    spec, before = _spec(autoscaler), None if live is None else _spec(live)
    yield from _size_causes(spec)
    target = spec.get("scaleTargetRef") or {}
    yield from _reference_causes("spec.scaleTargetRef", target)
    if before is None or _scaled(before) != _scaled(spec):
        grouped = target.get("kind") != _CORE_SCALED
        yield from _version_causes("spec.scaleTargetRef", target, grouped=grouped)
    for at, metric in enumerate(spec.get("metrics") or ()):
        yield from _metric_causes(f"spec.metrics[{at}]", metric)
    if spec.get("minReplicas") == 0 and not any(
        metric.get("type") in ("Object", "External") for metric in spec.get("metrics") or ()
    ):
        yield forbidden("spec.metrics", _TO_ZERO)
    for name, rules in (spec.get("behavior") or {}).items():
        yield from _speed_causes(f"spec.behavior.{name}", rules)


def _spec(autoscaler: JsonObject) -> JsonObject:
    found = to_v2(autoscaler) if autoscaler["apiVersion"] == _OLD else autoscaler
    spec: JsonObject = found.get("spec") or {}
    return spec


def _scaled(spec: JsonObject) -> tuple[Any, Any]:
    target = spec.get("scaleTargetRef") or {}
    return target.get("apiVersion"), target.get("kind")


def _size_causes(spec: JsonObject) -> Iterator[Cause]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most == 0:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")


def _reference_causes(path: str, target: JsonObject) -> Iterator[Cause]:
    for name in ("kind", "name"):
        yield from validate_required_name(f"{path}.{name}", target.get(name), path_segment_errors)


def _version_causes(path: str, target: JsonObject, *, grouped: bool) -> Iterator[Cause]:
    version = target.get("apiVersion") or ""
    if version.count("/") > 1:
        text = f"unexpected GroupVersion string: {version}"
        yield invalid(f"{path}.apiVersion", version, text)
    elif grouped and not version.rpartition("/")[0]:
        yield invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _metric_causes(path: str, metric: JsonObject) -> Iterator[Cause]:
    kind, known = metric.get("type") or "", sorted(_SOURCES)
    given = [name for name in _SOURCES.values() if metric.get(name) is not None]
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    yield from validate_enum(f"{path}.type", kind, known)
    for name in given[:1]:
        yield from _SOURCE_CAUSES[name](f"{path}.{name}", metric[name])
    expected = _SOURCES.get(kind)
    if expected is None:
        yield not_supported(f"{path}.type", kind, known)
    elif expected not in given:
        text = "must populate information for the given metric source"
        yield required(f"{path}.{expected}", text)
    for name in given if len(given) > 1 else ():
        if name != expected:
            yield forbidden(f"{path}.{name}", "must populate the given metric source only")


def _object_causes(path: str, source: JsonObject) -> Iterator[Cause]:
    described = source.get("describedObject") or {}
    yield from _reference_causes(f"{path}.describedObject", described)
    yield from _version_causes(f"{path}.describedObject", described, grouped=False)
    aim = source.get("target") or {}
    yield from _named_target(path, source)
    if not {"value", "averageValue"} & aim.keys():
        text = "must set either a target value or averageValue"
        yield required(f"{path}.target.averageValue", text)


def _external_causes(path: str, source: JsonObject) -> Iterator[Cause]:
    aim = source.get("target") or {}
    yield from _named_target(path, source)
    given = {"value", "averageValue"} & aim.keys()
    if not given:
        text = "must set either a target value for metric or a per-pod target"
        yield required(f"{path}.target.averageValue", text)
    elif len(given) > 1:
        text = "may not set both a target value for metric and a per-pod target"
        yield forbidden(f"{path}.target.value", text)


def _pods_causes(path: str, source: JsonObject) -> Iterator[Cause]:
    aim = source.get("target") or {}
    yield from _named_target(path, source)
    if "averageValue" not in aim:
        text = "must specify a positive target averageValue"
        yield required(f"{path}.target.averageValue", text)


def _named_target(path: str, source: JsonObject) -> Iterator[Cause]:
    name = (source.get("metric") or {}).get("name")
    if not name:
        yield required(f"{path}.metric.name", "must specify a metric name")
    else:
        yield from invalid_each(f"{path}.metric.name", name, path_segment_errors(name))
    yield from _target_causes(f"{path}.target", source.get("target") or {})


def _container_causes(path: str, source: JsonObject) -> Iterator[Cause]:
    if not source.get("name"):
        yield required(f"{path}.name", "must specify a resource name")
    container = source.get("container")
    if not container:
        yield required(f"{path}.container", "must specify a container")
    else:
        yield from invalid_each(f"{path}.container", container, dns1123_label_errors(container))
    yield from _utilization_causes(path, source)


def _resource_causes(path: str, source: JsonObject) -> Iterator[Cause]:
    if not source.get("name"):
        yield required(f"{path}.name", "must specify a resource name")
    yield from _utilization_causes(path, source)


def _utilization_causes(path: str, source: JsonObject) -> Iterator[Cause]:
    aim = source.get("target") or {}
    yield from _target_causes(f"{path}.target", aim)
    given = {"averageUtilization", "averageValue"} & aim.keys()
    if not given:
        yield required(f"{path}.target.averageUtilization", _EITHER)
    elif len(given) > 1:
        yield forbidden(f"{path}.target.averageValue", _NOT_BOTH)


def _target_causes(path: str, aim: JsonObject) -> Iterator[Cause]:
    kind = aim.get("type") or ""
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in _AIMS:
        yield invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for name in ("value", "averageValue"):
        if name in aim and parse_quantity(aim[name]) <= 0:
            yield invalid(f"{path}.{name}", aim[name], "must be positive")
    share = aim.get("averageUtilization")
    if share is not None and share < 1:
        yield invalid(f"{path}.averageUtilization", share, "must be greater than 0")


def _speed_causes(path: str, rules: JsonObject) -> Iterator[Cause]:
    window = rules.get("stabilizationWindowSeconds")
    if window is not None and window < 0:
        text = "must be greater than or equal to zero"
        yield invalid(f"{path}.stabilizationWindowSeconds", window, text)
    elif window is not None and window > LONGEST_WINDOW:
        text = f"must be less than or equal to {LONGEST_WINDOW}"
        yield invalid(f"{path}.stabilizationWindowSeconds", window, text)
    yield from validate_enum(f"{path}.selectPolicy", rules.get("selectPolicy"), _SELECT)
    if not rules.get("policies"):
        yield required(f"{path}.policies", "must specify at least one Policy")
    for at, policy in enumerate(rules.get("policies") or ()):
        yield from _policy_causes(f"{path}.policies[{at}]", policy)
    if rules.get("tolerance") is not None:
        yield from validate_quantity(f"{path}.tolerance", rules["tolerance"])


def _policy_causes(path: str, policy: JsonObject) -> Iterator[Cause]:
    value, seconds = policy.get("value") or 0, policy.get("periodSeconds") or 0
    yield from validate_enum(f"{path}.type", policy.get("type") or "", _POLICIES)
    if value <= 0:
        yield invalid(f"{path}.value", value, "must be greater than zero")
    if seconds <= 0:
        yield invalid(f"{path}.periodSeconds", seconds, "must be greater than zero")
    if seconds > LONGEST_PERIOD:
        text = f"must be less than or equal to {LONGEST_PERIOD}"
        yield invalid(f"{path}.periodSeconds", seconds, text)


_SOURCE_CAUSES: Mapping[str, Callable[[str, JsonObject], Iterator[Cause]]] = {
    "object": _object_causes,
    "external": _external_causes,
    "pods": _pods_causes,
    "resource": _resource_causes,
    "containerResource": _container_causes,
}
AUTOSCALERS = {"horizontalpodautoscalers": validate_autoscaler}
