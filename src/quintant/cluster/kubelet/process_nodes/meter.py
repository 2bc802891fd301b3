"""The figures of a node of this machine beside `local`: those of its pods, while it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.kubelet_client.meter import (
    MeasuredNode,
    MeasuredPod,
    NodeUsage,
    PodUsage,
)
from quintant.cluster.common.labels import FAULT
from quintant.cluster.common.node_faults import FULL_SHARE, NodeFault, parse_fault
from quintant.cluster.kubelet.process.proc_stats import UsageSampler
from quintant.core.object import Request


class ProcessNodeMeter(Struct, frozen=True):
    """Knows what the pods of one node use."""

    name: str
    sampler: UsageSampler
    connected: Callable[[], bool]

    def pods(self, running: Sequence[MeasuredPod]) -> Mapping[Request, PodUsage]:
        return self.sampler.pods(running) if self.connected() else {}

    def nodes(
        self, nodes: Sequence[MeasuredNode], running: Sequence[MeasuredPod]
    ) -> Mapping[str, NodeUsage]:
        measured = self.sampler.nodes(nodes, running).get(self.name)
        if measured is None or not self.connected():
            return {}
        return {
            node.metadata.name: _filled(node, measured)
            for node in nodes
            if node.metadata.name == self.name
        }


def _filled(node: MeasuredNode, measured: NodeUsage) -> NodeUsage:
    """The figures, with the memory that a fault pretends to be used."""
    if parse_fault(node.metadata.annotations.get(FAULT, "")) is not NodeFault.FULL:
        return measured
    memory = parse_quantity((node.status.capacity or {}).get("memory", "0"))
    used = replace(measured.usage, memory=int(float(memory) * FULL_SHARE))
    return replace(measured, usage=used)
