"""Whether an object is what its manifest asked for: what it waits for, in a few words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

JsonObject = dict[str, Any]


def pending(obj: JsonObject) -> str:
    """What an object waits for; empty when it is ready, and for kinds that wait for nothing."""
    look = _LOOKS.get(obj.get("kind", ""))
    if look is None:
        return ""
    metadata, status = obj.get("metadata") or {}, obj.get("status") or {}
    observed = status.get("observedGeneration")
    if observed is not None and observed < metadata.get("generation", 0):
        return "its controller has not seen it yet"
    return look(obj.get("spec") or {}, status)


def _replicas(spec: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    wanted = spec.get("replicas", 1)
    ready = min(status.get("readyReplicas", 0), status.get("updatedReplicas", 0))
    return "" if ready >= wanted else f"{ready} of {wanted} replicas are ready"


def _daemons(spec: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    if "observedGeneration" not in status:
        return "its controller has not seen it yet"
    wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
    return "" if ready >= wanted else f"{ready} of {wanted} pods are ready"


def _condition(*types: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], str]:
    def look(spec: Mapping[str, Any], status: Mapping[str, Any]) -> str:
        true = {
            condition.get("type")
            for condition in status.get("conditions") or ()
            if condition.get("status") == "True"
        }
        return "" if true & {*types} else f"it is not {types[0]} yet"

    return look


_LOOKS = {
    "Deployment": _replicas,
    "StatefulSet": _replicas,
    "ReplicaSet": lambda spec, status: _replicas(
        spec, {**status, "updatedReplicas": status.get("replicas", 0)}
    ),
    "DaemonSet": _daemons,
    "Job": _condition("Complete"),
    "Pod": _condition("Ready"),
    "CustomResourceDefinition": _condition("Established"),
}
