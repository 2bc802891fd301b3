"""ComputePodQOS: the quality of service class of a pod, from its requests and limits."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from quintant.api.quantity import parse_quantity

_COUNTED = ("cpu", "memory")


def qos_class(spec: Mapping[str, Any]) -> str:
    """BestEffort without requests and limits, Guaranteed if every container has equal ones for
    CPU and memory, else Burstable."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if not any(each.get("resources") for each in containers):
        return "BestEffort"
    wants = [(_amounts(each, "requests"), _amounts(each, "limits")) for each in containers]
    if not any(requests or limits for requests, limits in wants):
        return "BestEffort"
    equal = all(limits.keys() == {*_COUNTED} and limits == requests for requests, limits in wants)
    return "Guaranteed" if equal else "Burstable"


def _amounts(container: Mapping[str, Any], which: str) -> dict[str, Decimal]:
    named = (container.get("resources") or {}).get(which) or {}
    found = {name: parse_quantity(named[name]) for name in _COUNTED if name in named}
    return {name: amount for name, amount in found.items() if amount}
