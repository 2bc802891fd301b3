"""ValidateLimitRange, ValidateResourceQuota: names of resources, and amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    required,
)
from quintant.cluster.apiserver.meta.names import qualified_name_errors
from quintant.cluster.apiserver.validation.common import validate_immutable, validate_quantity
from quintant.core.errors import Cause

Plain = Mapping[str, Any]

_TYPES = ("Container", "Pod", "PersistentVolumeClaim")
_AMOUNTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_NOT_OF_PODS = ("default", "defaultRequest")
_STANDARD = ("cpu", "memory", "ephemeral-storage", "storage")
_COUNTED = (
    *("pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"),
    *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
)
_QUOTA = (
    *_STANDARD,
    *_COUNTED,
    *(
        f"{which}.{name}"
        for which in ("requests", "limits")
        for name in ("cpu", "memory", "ephemeral-storage")
    ),
    "requests.storage",
)
_SCOPES = (
    *("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass"),
    *("CrossNamespacePodAffinity", "VolumeAttributesClass"),
)
_OPPOSITES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
# What is compared with what, which of the two is shown, and what is said if the first is greater.
_COMPARED = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    (
        *("min", "defaultRequest", "defaultRequest", "defaultRequest"),
        "min value {} is greater than default request value {}",
    ),
    (
        *("defaultRequest", "max", "defaultRequest", "defaultRequest"),
        "default request value {} is greater than max value {}",
    ),
    (
        *("defaultRequest", "default", "defaultRequest", "defaultRequest"),
        "default request value {} is greater than default limit value {}",
    ),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)


def validate_limit_range(limits: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a LimitRange."""
    kinds: set[str] = set()
    for at, item in enumerate(limits["spec"].get("limits") or ()):
        item_path, kind = f"spec.limits[{at}]", item.get("type") or ""
        complaints = qualified_name_errors(kind)
        yield from invalid_each(f"{item_path}.type", kind, complaints)
        if not complaints and "/" not in kind and kind not in _TYPES:
            text = "must be a standard limit type or fully qualified"
            yield invalid(f"{item_path}.type", kind, text)
        if kind in kinds:
            yield duplicate(f"{item_path}.type", kind)
        kinds.add(kind)
        yield from _item_causes(item_path, item, kind)


def _item_causes(path: str, item: Plain, kind: str) -> Iterator[Cause]:
    for name in _AMOUNTS:
        if kind == "Pod" and name in _NOT_OF_PODS:
            if item.get(name):
                text = "may not be specified when `type` is 'Pod'"
                yield forbidden(f"{path}.{name}", text)
            continue
        for resource in item.get(name) or {}:
            yield from _resource_causes(f"{path}.{name}[{resource}]", resource, kind)
    bounds = {*(item.get("max") or ()), *(item.get("min") or ())}
    if kind == "PersistentVolumeClaim" and "storage" not in bounds:
        text = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", text)
    for resource in sorted({key for name in _AMOUNTS for key in item.get(name) or ()}):
        yield from _order_causes(path, item, resource)


def _resource_causes(path: str, resource: str, kind: str) -> Iterator[Cause]:
    """A resource has a standard name, or one with a domain in front."""
    yield from invalid_each(path, resource, qualified_name_errors(resource))
    if "/" not in resource and resource not in _STANDARD and "hugepages-" not in resource:
        yield invalid(path, resource, "must be a standard resource type or fully qualified")
        if kind in ("Container", "Pod"):
            yield invalid(path, resource, "must be a standard resource for containers")


def _order_causes(field_path: str, item: Plain, resource: str) -> Iterator[Cause]:
    found = {name: item[name][resource] for name in _AMOUNTS if resource in (item.get(name) or {})}
    for low, high, field, shown, text in _COMPARED:
        if low in found and high in found:
            less, more = found[low], found[high]
            if parse_quantity(less) > parse_quantity(more):
                path = f"{field_path}.{field}[{resource}]"
                yield invalid(path, found[shown], text.format(less, more))
    ratio = found.get("maxLimitRequestRatio")
    if ratio is not None and parse_quantity(ratio) < 1:
        path = f"{field_path}.maxLimitRequestRatio[{resource}]"
        yield invalid(path, ratio, f"ratio {ratio} is less than 1")


def validate_resource_quota(quota: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a ResourceQuota."""
    spec = quota["spec"]
    for resource, amount in (spec.get("hard") or {}).items():
        path = f"spec.hard[{resource}]"
        complaints = qualified_name_errors(resource)
        yield from invalid_each(path, resource, complaints)
        if "/" not in resource and resource not in _QUOTA and "hugepages-" not in resource:
            if not complaints:
                text = "must be a standard resource type or fully qualified"
                yield invalid(path, resource, text)
            yield invalid(path, resource, "must be a standard resource for quota")
        yield from validate_quantity(path, amount, whole=resource in _COUNTED)
    yield from _scope_causes("spec.scopes", spec.get("scopes") or [])
    selector = spec.get("scopeSelector") or {}
    for each in selector.get("matchExpressions") or ():
        yield from _selector_causes("spec.scopeSelector.matchExpressions", each)
    if live is not None:
        before = live["spec"].get("scopes") or []
        yield from validate_immutable("spec.scopes", spec.get("scopes") or [], before)


def _scope_causes(path: str, scopes: list[str]) -> Iterator[Cause]:
    for scope in scopes:
        if scope not in _SCOPES:
            yield invalid(path, scopes, "unsupported scope")
    if any(pair <= set(scopes) for pair in _OPPOSITES):
        yield invalid(path, scopes, "conflicting scopes")


def _selector_causes(path: str, each: Plain) -> Iterator[Cause]:
    scope, operator = each.get("scopeName") or "", each.get("operator") or ""
    if scope not in _SCOPES:
        yield invalid(f"{path}.scopeName", scope, "unsupported scope")
    if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")


LIMITS = {"limitranges": validate_limit_range, "resourcequotas": validate_resource_quota}
