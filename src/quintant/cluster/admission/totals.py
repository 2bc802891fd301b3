"""What the containers of a pod ask for together, in the server's spelling."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.catalog import Plain
from quintant.cluster.quantities import spelt

SIDECAR = "Always"
"""The restart policy of an init container that goes on running."""

_Sums = dict[str, tuple[Decimal, str]]
"""Of each resource the sum, and a quantity in whose manner it is written."""


def total(spec: Plain, sort: str) -> dict[str, str]:
    """The requests or limits of a pod: all that runs together, or what comes before if it is more.

    A resource counts if any container names it.
    """
    running: _Sums = {}
    for container in spec.get("containers") or ():
        _add(running, _amounts(container, sort))
    sidecars: _Sums = {}
    peak: _Sums = {}
    for container in spec.get("initContainers") or ():
        own = _amounts(container, sort)
        if container.get("restartPolicy") == SIDECAR:
            _add(running, own)
            _add(sidecars, own)
            own = dict(sidecars)
        else:
            _add(own, sidecars)
        _raise(peak, own)
    _raise(running, peak)
    return {name: spelt(value, like) for name, (value, like) in running.items()}


def _amounts(container: Plain, sort: str) -> _Sums:
    said: dict[str, Any] = (container.get("resources") or {}).get(sort) or {}
    return {name: (parse_quantity(text), text) for name, text in said.items()}


def _add(sums: _Sums, more: _Sums) -> None:
    for name, (value, like) in more.items():
        before, manner = sums.get(name, (Decimal(0), like))
        sums[name] = (before + value, manner)


def _raise(sums: _Sums, other: _Sums) -> None:
    for name, (value, like) in other.items():
        if name not in sums or value > sums[name][0]:
            sums[name] = (value, like)
