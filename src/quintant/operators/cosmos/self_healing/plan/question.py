"""Which pods healing asks, and for what. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.observed.full_node import Observed


@dataclass(frozen=True, slots=True)
class HealingQuestion:
    """The pods to ask."""

    usage: tuple[NodePod, ...] = ()
    """For how full their volumes are."""
    peers: tuple[NodePod, ...] = ()
    """For how many peers their nodes have."""


def question(observed: Observed) -> HealingQuestion:
    """The pods to ask for what the user wants to be mended; none by a spec that makes no sense."""
    wanted = observed.full_node.spec.self_heal
    if wanted is None or observed.errors:
        return HealingQuestion()
    pods = tuple(
        node.pod
        for node in observed.nodes
        if node.present and node.pod is not None and node.pod.status.pod_ip
    )
    return HealingQuestion(
        usage=pods if wanted.pvc_auto_scale is not None else (),
        peers=pods if wanted.stall is not None else (),
    )
