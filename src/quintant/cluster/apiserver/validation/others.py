"""What is wrong with secrets, config maps, leases, budgets and other small kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from quintant.cluster.apiserver.golang.printing import GoStruct
from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import dns1123_label_errors, qualified_name_errors
from quintant.cluster.apiserver.meta.objectmeta import domain_causes
from quintant.cluster.apiserver.validation.common import (
    bounded,
    chosen,
    countable,
    data_key,
    fixed,
    labelled,
    named,
    quantity,
    share,
)
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.cluster.apiserver.validation.pods.scheduling import toleration_causes
from quintant.core.errors import Cause

Plain = dict[str, Any]

PRIORITY_LIMIT = 1_000_000_000
"""The highest priority that does not belong to the system."""

_FROZEN = "field is immutable when `immutable` is set"
_ACCOUNT = "kubernetes.io/service-account.name"
# What the data of a secret of some type has to hold; one of them is enough for basic-auth.
_HELD = {
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_UNHEALTHY = ("AlwaysAllow", "IfHealthyBudget")
_BASIC = ("username", "password")


def secret_complaints(secret: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a Secret."""
    data, kind = secret.get("data") or {}, secret.get("type", "")
    if live is not None:
        yield from fixed("type", kind, live.get("type"))
        yield from _frozen_causes(secret, live, "data")
    yield from _key_causes("data", data)
    yield from (required(f"data[{key}]") for key in _HELD.get(kind, ()) if key not in data)
    if kind == "kubernetes.io/ssh-auth" and data.get("ssh-privatekey") == "":
        yield required("data[ssh-privatekey]")
    if kind == "kubernetes.io/basic-auth" and not any(key in data for key in _BASIC):
        yield from (required(f"data[{key}]") for key in _BASIC)
    annotations = secret["metadata"].get("annotations") or {}
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        yield required(f"metadata.annotations[{_ACCOUNT}]")


def config_map_complaints(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a ConfigMap."""
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in data:
        yield from _key_causes("data", {key: ""})
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    yield from _key_causes("binaryData", binary)
    if live is not None:
        yield from _frozen_causes(obj, live, "data", "binaryData")


def namespace_complaints(namespace: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a new Namespace; what holds it, an update cannot change."""
    for finalizer in (namespace.get("spec") or {}).get("finalizers") or () if live is None else ():
        yield from invalid_each("spec.finalizers", finalizer, qualified_name_errors(finalizer))
        yield from domain_causes("spec.finalizers", finalizer)


def lease_complaints(lease: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a Lease."""
    spec = lease["spec"]
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from countable("spec.leaseTransitions", spec.get("leaseTransitions"))


def budget_complaints(budget: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a PodDisruptionBudget."""
    spec = budget["spec"]
    low, high = spec.get("minAvailable"), spec.get("maxUnavailable")
    if low is not None and high is not None:
        names = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
        value = GoStruct({name[0].upper() + name[1:]: spec.get(name) for name in names})
        yield invalid("spec", value, "minAvailable and maxUnavailable cannot be both set")
    for name in ("minAvailable", "maxUnavailable"):
        if spec.get(name) is not None:
            yield from share(f"spec.{name}", spec[name])
            yield from bounded(f"spec.{name}", spec[name])
    if spec.get("selector") is not None:
        yield from selector_causes("spec.selector", spec["selector"])
    if spec.get("unhealthyPodEvictionPolicy") is not None:
        policy = spec["unhealthyPodEvictionPolicy"]
        yield from chosen("spec.unhealthyPodEvictionPolicy", policy, _UNHEALTHY)


def priority_complaints(priority: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a PriorityClass."""
    value, policy = priority.get("value", 0), priority.get("preemptionPolicy")
    if live is not None:
        if value != live.get("value", 0):
            yield forbidden("value", "may not be changed in an update.")
        yield from fixed("preemptionPolicy", policy, live.get("preemptionPolicy"))
        return
    system = priority["metadata"].get("name", "").startswith("system-")
    if value > PRIORITY_LIMIT and not system:
        text = f"maximum allowed value of a user defined priority is {PRIORITY_LIMIT}"
        yield forbidden("value", text)
    yield from chosen("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def revision_complaints(revision: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a ControllerRevision."""
    data = revision.get("data")
    if data is None:
        yield required("data", "data is mandatory")
    elif not isinstance(data, dict):
        yield required("data", "data must be a valid JSON object")
    yield from countable("revision", revision.get("revision"))
    if live is not None:
        yield from fixed("data", revision.get("data"), live.get("data"))


def runtime_complaints(runtime: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a RuntimeClass."""
    handler = runtime.get("handler") or ""
    yield from named("handler", handler, dns1123_label_errors)
    for name, amount in ((runtime.get("overhead") or {}).get("podFixed") or {}).items():
        yield from quantity(f"overhead.limits[{name}]", amount)
    scheduling = runtime.get("scheduling") or {}
    yield from labelled("scheduling.nodeSelector", scheduling.get("nodeSelector"))
    yield from toleration_causes("scheduling.tolerations", scheduling.get("tolerations") or [])
    if live is not None:
        yield from fixed("handler", handler, live.get("handler"))


def _key_causes(field: str, data: Plain) -> Iterator[Cause]:
    for key in data:
        yield from data_key(f"{field}[{key}]", key)


def _frozen_causes(obj: Plain, live: Plain, *fields: str) -> Iterator[Cause]:
    if not live.get("immutable"):
        return
    if not obj.get("immutable"):
        yield forbidden("immutable", _FROZEN)
    for field in fields:
        if (obj.get(field) or {}) != (live.get(field) or {}):
            yield forbidden(field, _FROZEN)


OTHERS: dict[str, Callable[[Plain, Plain | None], Iterator[Cause]]] = {
    "configmaps": config_map_complaints,
    "controllerrevisions": revision_complaints,
    "leases": lease_complaints,
    "namespaces": namespace_complaints,
    "poddisruptionbudgets": budget_complaints,
    "priorityclasses": priority_complaints,
    "runtimeclasses": runtime_complaints,
    "secrets": secret_complaints,
}
