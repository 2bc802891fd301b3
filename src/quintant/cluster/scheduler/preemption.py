"""DefaultPreemption, SelectVictimsOnNode: which pods leave which node for one of higher priority.

On every node that lacks nothing but room, as few and as unimportant pods as possible are picked;
the node is taken whose victims matter least. Disruption budgets are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.node_info import NodeInfo, PlacedPod
from quintant.cluster.scheduler.pod_info import PodInfo

_NEVER = "Never"


class Preemption(Struct, frozen=True):
    """The pods that leave a node for a more important one."""

    node: str
    victims: tuple[PlacedPod, ...]

    @property
    def cost(self) -> tuple[int, int, int, str]:
        """What it takes: the most important victim counts most, then the sum, then how many."""
        ranks = [priority_of(each.pod) for each in self.victims]
        return max(ranks), sum(ranks), len(ranks), self.node


def preempt(pod_info: PodInfo, infos: Iterable[NodeInfo]) -> Preemption | None:
    """The cheapest way to make room for a pod; None if there is none."""
    if pod_info.pod.spec.preemption_policy == _NEVER:
        return None
    found = (_victims(pod_info, info) for info in infos)
    return min((each for each in found if each is not None), key=lambda it: it.cost, default=None)


def priority_of(pod: PodView) -> int:
    """How important a pod is."""
    return pod.spec.priority or 0


def _victims(pod_info: PodInfo, info: NodeInfo) -> Preemption | None:
    lower = [
        each
        for each in info.placed_pods.values()
        if priority_of(each.pod) < priority_of(pod_info.pod)
    ]
    # Whoever leaves anyway is not asked to: the pod waits for it, as for any other change.
    lower = [each for each in lower if not each.pod.deleting]
    for each in lower:
        info.remove_pod(each)
    out = _spared(pod_info, info, lower) if info.fits(pod_info.request) else lower
    hopeless = out is lower
    for each in out:
        info.add_pod(each)
    return None if hopeless or not out else Preemption(info.name, tuple(out))


def _spared(pod_info: PodInfo, info: NodeInfo, lower: list[PlacedPod]) -> list[PlacedPod]:
    """Let back in whom there is room for, the most important first; the others."""
    out = []
    for each in sorted(
        lower, key=lambda placed: (-priority_of(placed.pod), placed.pod.metadata.name)
    ):
        info.add_pod(each)
        if not info.fits(pod_info.request):
            info.remove_pod(each)
            out.append(each)
    return out
