"""PodRequests: the sum of what the containers of a pod request, in canonical quantities."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.quantity import format_like
from quintant.cluster.apiserver.meta.types import JsonObject

SIDECAR = "Always"
"""The restart policy of an init container that goes on running."""

Sums = dict[str, tuple[Decimal, str]]
"""Of each resource the sum, and a quantity in whose manner it is written."""


def pod_requests(spec: JsonObject, sort: str) -> dict[str, str]:
    """The requests or limits of a pod, as they are written."""
    return format_quantities(sum_pod_resources(spec, sort))


def sum_pod_resources(spec: JsonObject, sort: str) -> Sums:
    """The requests or limits of a pod: all that runs together, or what comes before if it is more.

    A resource counts if any container names it.
    """
    running: Sums = {}
    for container in spec.get("containers") or ():
        add_quantities(running, _amounts(container, sort))
    sidecars: Sums = {}
    peak: Sums = {}
    for container in spec.get("initContainers") or ():
        own = _amounts(container, sort)
        if container.get("restartPolicy") == SIDECAR:
            add_quantities(running, own)
            add_quantities(sidecars, own)
            own = dict(sidecars)
        else:
            add_quantities(own, sidecars)
        _raise(peak, own)
    _raise(running, peak)
    return running


def format_quantities(sums: Sums) -> dict[str, str]:
    """Sums as the server writes them."""
    return {name: format_like(value, like) for name, (value, like) in sums.items()}


def parse_quantities(amounts: Mapping[str, str]) -> Sums:
    """Quantities, to be added up."""
    return {name: (parse_quantity(text), text) for name, text in amounts.items()}


def add_quantities(sums: Sums, more: Sums) -> None:
    """Add some sums to others, in place."""
    for name, (value, like) in more.items():
        before, manner = sums.get(name, (Decimal(0), like))
        sums[name] = (before + value, manner if before else like)


def _amounts(container: JsonObject, sort: str) -> Sums:
    amounts: dict[str, str] = (container.get("resources") or {}).get(sort) or {}
    return parse_quantities(amounts)


def _raise(sums: Sums, other: Sums) -> None:
    for name, (value, like) in other.items():
        if name not in sums or value > sums[name][0]:
            sums[name] = (value, like)
