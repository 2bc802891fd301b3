"""computePodResourceRequest: requests of a pod in integers: millicores, bytes, host ports.

Read off a pod once, compared with nodes many times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import ceil

from msgspec import Struct

from quintant.api.quantity import Quantity, bounded_quantity
from quintant.cluster.common.views import ContainerView, PodView

CPU, MEMORY, PODS = "cpu", "memory", "pods"
SLIGHT_CPU = 100
"""Millicores that a container counts for, when nodes are compared, if it asks for none."""
SLIGHT_MEMORY = 200 * 1024 * 1024
"""Bytes that it counts for."""
_MILLI = 1000
_SIDECAR = "Always"
_ANYWHERE = "0.0.0.0"

HostPort = tuple[str, str, int]
"""Protocol, address and number."""
Amounts = dict[str, int]


class ResourceRequest(Struct, frozen=True):
    """What one pod takes of a node."""

    cpu: int = 0
    memory: int = 0
    others: tuple[tuple[str, int], ...] = ()
    ports: frozenset[HostPort] = frozenset()
    weight_cpu: int = 0
    """What it counts for when nodes are compared: something, even if it asks for nothing."""
    weight_memory: int = 0


def resource_request(pod: PodView) -> ResourceRequest:
    """What a pod asks for: its containers together, or the greediest of those that come before."""
    spec = pod.spec
    requested = _effective(spec.containers, spec.init_containers, spec.overhead)
    slight = {CPU: SLIGHT_CPU, MEMORY: SLIGHT_MEMORY}
    counted = _effective(spec.containers, spec.init_containers, spec.overhead, slight)
    rest = {name: value for name, value in requested.items() if name not in (CPU, MEMORY) and value}
    return ResourceRequest(
        requested.get(CPU, 0),
        requested.get(MEMORY, 0),
        tuple(rest.items()),
        frozenset(_ports(spec.containers)),
        counted[CPU],
        counted[MEMORY],
    )


@lru_cache(maxsize=4096)
def quantity_value(name: str, quantity: Quantity) -> int:
    """A quantity in whole numbers, rounded up: millicores for cpu, else as it is."""
    value = bounded_quantity(quantity)
    return ceil(value * _MILLI if name == CPU else value)


def quantity_values(quantities: Mapping[str, Quantity]) -> Amounts:
    """Quantities in whole numbers."""
    return {name: quantity_value(name, quantity) for name, quantity in quantities.items()}


def ports_conflict(one: frozenset[HostPort], other: Iterable[HostPort]) -> bool:
    """Whether two sets of host ports cannot be had at once; no address means all of them."""
    return any(
        protocol == taken and number == port and (ip == at or _ANYWHERE in (ip, at))
        for protocol, ip, number in one
        for taken, at, port in other
    )


def _effective(
    containers: Iterable[ContainerView],
    before: Iterable[ContainerView],
    overhead: Mapping[str, Quantity],
    least: Mapping[str, int] = {},
) -> Amounts:
    sidecars: Amounts = {}
    peak: Amounts = {}
    for each in before:
        own = {**least, **quantity_values(each.resources.requests)}
        if each.restart_policy == _SIDECAR:
            _add(sidecars, own)
            own = {}
        _raise(peak, _sum(sidecars, own))
    running = dict(sidecars)
    for each in containers:
        _add(running, {**least, **quantity_values(each.resources.requests)})
    _raise(running, peak)
    _add(running, quantity_values(overhead))
    return running


def _ports(containers: Iterable[ContainerView]) -> Iterable[HostPort]:
    for container in containers:
        for port in container.ports:
            if port.host_port:
                yield port.protocol or "TCP", port.host_ip or _ANYWHERE, port.host_port


def _sum(one: Amounts, other: Amounts) -> Amounts:
    total = dict(one)
    _add(total, other)
    return total


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _raise(total: Amounts, least: Mapping[str, int]) -> None:
    for name, value in least.items():
        total[name] = max(total.get(name, 0), value)
