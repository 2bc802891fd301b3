"""Which pods of a CosmosFullNode are asked for their status, and from which height on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.builders.instances import instances
from quintant.operators.cosmos.observed.comet import NodeTarget
from quintant.operators.cosmos.observed.full_node import main_pods


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What is followed from now on, by the uids of pods."""

    targets: Mapping[str, NodeTarget]
    marks: Mapping[str, int]
    """The height at which the next version begins; 0 if there is none."""
    ready: tuple[str, ...]


def plan(full_node: CosmosFullNode, pods: Iterable[NodePod]) -> CachePlan:
    """What to follow of the pods that there are."""
    by_name = {pod.metadata.name: pod for pod in main_pods(pods)}
    chain_id = full_node.spec.chain.chain_id
    heights = full_node.status.height if full_node.status else {}
    return CachePlan(
        targets={
            pod.metadata.uid: NodeTarget(
                pod.metadata.uid, pod.status.pod_ip, pod.rpc_port, chain_id
            )
            for pod in by_name.values()
            if pod.status.pod_ip
        },
        marks={
            by_name[each.name].metadata.uid: _next_height(full_node, heights.get(each.name, 0))
            for each in instances(full_node)
            if each.name in by_name
        },
        ready=tuple(pod.metadata.uid for pod in by_name.values() if pod.ready),
    )


def _next_height(full_node: CosmosFullNode, height: int) -> int:
    """Where the next version begins; 0 if there is none."""
    ahead = (each.height for each in full_node.spec.chain.versions if each.height > height)
    return next(ahead, 0)
