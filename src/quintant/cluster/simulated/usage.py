"""KWOK ResourceUsage: made-up usage of simulated pods and nodes, for `kubectl top`. Pure.

A container uses a part of what it asks for, and the part moves slowly, each container's in a rhythm
of its own. The same moment always gives the same figures. A pod may say by annotations what it
uses instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import pi, sin
from zlib import crc32

from quintant.api.quantity import Quantity, bounded_quantity
from quintant.cluster.apiserver.kubelet_client.meter import ResourceUsage
from quintant.cluster.common.labels import CPU_USAGE, MEMORY_USAGE
from quintant.cluster.common.node_faults import FULL_SHARE, NodeFault

WINDOW_SECONDS = 10.0
"""What a figure is said to be an average of."""
CPU_SHARE, MEMORY_SHARE = 0.3, 0.6
"""The part of its requests that a container uses on average."""
IDLE_CORES, IDLE_BYTES = 0.002, 20 * 1024 * 1024
"""What a container uses that asks for nothing."""
BASE_CORES, BASE_BYTES = 0.1, 512 * 1024 * 1024
"""What a node uses for itself."""
SWING, SWING_SECONDS = 0.2, 600.0
"""How far the part moves up and down, and how long that takes."""


def container_usage(
    identity: str, requests: Mapping[str, Quantity], now: datetime
) -> ResourceUsage:
    """What a container uses; `identity` tells it from all others."""
    rhythm = 2 * pi * (now.timestamp() / SWING_SECONDS + crc32(identity.encode()) / 2**32)
    part = 1 + SWING * sin(rhythm)
    cores = float(bounded_quantity(requests.get("cpu", "0"))) * CPU_SHARE or IDLE_CORES
    memory = float(bounded_quantity(requests.get("memory", "0"))) * MEMORY_SHARE or IDLE_BYTES
    return ResourceUsage(cores * part, int(memory * part))


def annotated_usage(used: ResourceUsage, annotations: Mapping[str, str]) -> ResourceUsage:
    """What a container uses whose pod says so; what it does not say stays, or says badly."""
    cores, memory = _amount(annotations.get(CPU_USAGE)), _amount(annotations.get(MEMORY_USAGE))
    return ResourceUsage(
        used.cores if cores is None else cores, used.memory if memory is None else int(memory)
    )


def node_usage(
    used: Iterable[ResourceUsage], capacity: Mapping[str, Quantity], fault: NodeFault
) -> ResourceUsage | None:
    """What a node uses with these containers on it; None if nothing is heard of it."""
    if fault.silent:
        return None
    cores, memory = BASE_CORES, BASE_BYTES
    for each in used:
        cores, memory = cores + each.cores, memory + each.memory
    if fault is NodeFault.FULL:
        memory = int(float(bounded_quantity(capacity.get("memory", "0"))) * FULL_SHARE)
    return ResourceUsage(cores, memory)


def _amount(text: str | None) -> float | None:
    """An amount that a user wrote; None if it is none."""
    try:
        return None if text is None else max(float(bounded_quantity(text)), 0.0)
    except ValueError:
        return None
