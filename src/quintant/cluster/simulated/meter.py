"""KWOK ClusterResourceUsage: usage of simulated pods and nodes: the `Meter` of the simulator.

It is asked with what the API server has stored, and makes the figures up
(quintant.cluster.simulated.usage): nothing is kept here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from quintant.cluster.apiserver.kubelet_client.meter import (
    MeasuredNode,
    MeasuredPod,
    NodeUsage,
    PodUsage,
    ResourceUsage,
)
from quintant.cluster.common.labels import FAULT, POD, SIMULATED
from quintant.cluster.common.node_faults import parse_fault
from quintant.cluster.simulated import usage
from quintant.core.clock import Clock
from quintant.core.object import Request


class SimulatedMeter(Struct, frozen=True):
    """Knows what everything uses that says it is simulated."""

    clock: Clock

    def pods(self, running: Sequence[MeasuredPod]) -> Mapping[Request, PodUsage]:
        now = self.clock.now()
        return {
            pod.key: PodUsage(_containers(pod, now), now, usage.WINDOW_SECONDS)
            for pod in _simulated(running)
        }

    def nodes(
        self, nodes: Sequence[MeasuredNode], running: Sequence[MeasuredPod]
    ) -> Mapping[str, NodeUsage]:
        now = self.clock.now()
        used: dict[str, list[ResourceUsage]] = {}
        for pod in _simulated(running):
            used.setdefault(pod.spec.node_name, []).extend(_containers(pod, now).values())
        found = {}
        for node in nodes:
            name = node.metadata.name
            whole = _node(node, used.get(name, ()))
            if whole is not None:
                found[name] = NodeUsage(whole, now, usage.WINDOW_SECONDS)
        return found


def _simulated(running: Sequence[MeasuredPod]) -> Iterator[MeasuredPod]:
    return (pod for pod in running if POD in pod.metadata.annotations)


def _containers(pod: MeasuredPod, now: datetime) -> dict[str, ResourceUsage]:
    key = f"{pod.metadata.namespace}/{pod.metadata.name}"
    found = {}
    for each in pod.spec.containers:
        requests = each.resources.requests or {}
        made_up = usage.container_usage(f"{key}/{each.name}", requests, now)
        found[each.name] = usage.annotated_usage(made_up, pod.metadata.annotations)
    return found


def _node(node: MeasuredNode, used: Sequence[ResourceUsage]) -> ResourceUsage | None:
    if SIMULATED not in node.metadata.labels:
        return None
    fault = parse_fault(node.metadata.annotations.get(FAULT, ""))
    return usage.node_usage(used, node.status.capacity or {}, fault)
