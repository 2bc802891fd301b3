"""podEvaluator, PodUsageFunc: what an object takes of a ResourceQuota, and its scopes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.admission.plugins.pod_requests import (
    Sums,
    add_quantities,
    parse_quantities,
    sum_pod_resources,
)
from quintant.cluster.apiserver.meta.qos import qos_class
from quintant.cluster.apiserver.meta.types import JsonObject

COUNT = "count/"
_STORAGE = "requests.storage"
_OF_CLASS = ".storageclass.storage.k8s.io/"
_CLAIMS = "persistentvolumeclaims"
_LEGACY = frozenset(
    ("configmaps", _CLAIMS, "pods", "replicationcontrollers", "resourcequotas", "secrets",
     "services")
)  # fmt: skip
"""What is counted by its bare name, too."""
_BARE = frozenset(("cpu", "memory", "ephemeral-storage"))
"""Requests that are meant by their bare names, too."""
_ENDED = ("Failed", "Succeeded")
_ONE = parse_quantities({"": "1"})[""]
MUST_SAY = frozenset(
    ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
)
"""What every container has to state where it is limited."""


def object_usage(table: str, obj: JsonObject) -> Sums:
    """What an object of a table takes, by the names under which quotas limit it."""
    found = {f"{COUNT}{table}": _ONE}
    add_quantities(found, _USAGE.get(table, _plain)(table, obj))
    return found


def table_of(name: str) -> str:
    """The table whose objects are counted under a name of a quota."""
    if name.startswith(COUNT):
        return name.removeprefix(COUNT)
    if name == _STORAGE or _OF_CLASS in name:
        return _CLAIMS
    if name.startswith("services."):
        return "services"
    return name if name in _LEGACY else "pods"


def missing_requests(names: Iterable[str], spec: JsonObject) -> str:
    """Which of the limited resources the containers of a pod do not state; empty if none."""
    wanted = sorted(MUST_SAY & set(names))
    messages = []
    for name in wanted:
        lacking = sorted({each["name"] for each in _containers(spec) if not _states(each, name)})
        if lacking:
            messages.append(f"{name} for: {','.join(lacking)}")
    return "; ".join(messages)


def scopes_match(scopes: Iterable[JsonObject], table: str, obj: JsonObject) -> bool:
    """Whether a quota with some scopes is about an object; scopes are of pods."""
    scopes = list(scopes)
    return not scopes or (table == "pods" and all(_scoped(each, obj) for each in scopes))


def _plain(table: str, obj: JsonObject) -> Sums:
    return {table: _ONE} if table in _LEGACY else {}


def _pod(table: str, pod: JsonObject) -> Sums:
    if (pod.get("status") or {}).get("phase") in _ENDED:
        return {}
    found = {table: _ONE}
    requests = sum_pod_resources(pod["spec"], "requests")
    add_quantities(requests, parse_quantities(pod["spec"].get("overhead") or {}))
    add_quantities(found, {f"requests.{name}": each for name, each in requests.items()})
    add_quantities(found, {name: each for name, each in requests.items() if name in _BARE})
    limits = sum_pod_resources(pod["spec"], "limits")
    add_quantities(found, {f"limits.{name}": each for name, each in limits.items()})
    return found


def _claim(table: str, claim: JsonObject) -> Sums:
    spec = claim["spec"]
    found = {table: _ONE}
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if requested is not None:
        add_quantities(found, parse_quantities({_STORAGE: requested}))
    if name := spec.get("storageClassName"):
        of_class = {f"{name}{_OF_CLASS}{key}": each for key, each in found.items()}
        add_quantities(found, of_class)
    return found


def _service(table: str, service: JsonObject) -> Sums:
    spec = service["spec"]
    found = {table: _ONE}
    ports = spec.get("ports") or ()
    if spec["type"] == "LoadBalancer":
        found["services.loadbalancers"] = _ONE
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = [port for port in ports if port.get("nodePort")]
    if spec["type"] in ("LoadBalancer", "NodePort"):
        add_quantities(found, parse_quantities({"services.nodeports": str(len(ports))}))
    return found


_USAGE: Mapping[str, Callable[[str, JsonObject], Sums]] = {
    "pods": _pod,
    _CLAIMS: _claim,
    "services": _service,
}


def _containers(spec: JsonObject) -> Iterator[JsonObject]:
    for kind in ("containers", "initContainers"):
        yield from spec.get(kind) or ()


def _states(container: JsonObject, name: str) -> bool:
    sort, _, resource = name.rpartition(".")
    amounts: Any = (container.get("resources") or {}).get(sort or "requests") or {}
    return resource in amounts


def _scoped(scope: JsonObject, pod: JsonObject) -> bool:
    spec, operator = pod["spec"], scope.get("operator", "Exists")
    limited = spec.get("activeDeadlineSeconds") is not None
    best = qos_class(spec) == "BestEffort"
    facts = {
        "Terminating": limited,
        "NotTerminating": not limited,
        "BestEffort": best,
        "NotBestEffort": not best,
    }
    if scope["scopeName"] != "PriorityClass":
        return facts.get(scope["scopeName"], False)
    name, values = spec.get("priorityClassName") or "", scope.get("values") or ()
    by_operator = {
        "Exists": bool(name),
        "DoesNotExist": not name,
        "In": name in values,
        "NotIn": name not in values,
    }
    return by_operator.get(operator, False)
