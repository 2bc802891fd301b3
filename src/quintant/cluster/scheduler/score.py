"""prioritizeNodes, leastResourceScorer: which of the nodes that fit is the best one.

Every criterion gives 0 to 100 and has the weight it has in a real scheduler: free room 1, what the
pod prefers about nodes, other pods and spreading 2 each, taints that only advise 3. Pure; of
equally good nodes the caller's random source takes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintant.cluster.common.taints import PREFER_NO_SCHEDULE, matches_term, tolerates
from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.node_info import NodeInfo
from quintant.cluster.scheduler.pod_affinity_spread import (
    inter_pod_affinity_score,
    topology_spread_score,
)
from quintant.cluster.scheduler.pod_info import PodInfo
from quintant.cluster.scheduler.resources import ResourceRequest
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.core.clock import Random

BEST = 100.0
PREFERENCE_WEIGHT = 2
TAINT_WEIGHT = 3


def select_host(
    snapshot: NodeSnapshot, pod_info: PodInfo, infos: Sequence[NodeInfo], random: Random
) -> NodeInfo:
    """The best of some nodes, at least one."""
    worth = [least_allocated(info, pod_info.request) for info in infos]
    if liked := _preference_scores(snapshot, pod_info.pod, infos):
        worth = [each + liked.get(info.name, 0.0) for each, info in zip(worth, infos, strict=True)]
    top = max(worth)
    found = [info for each, info in zip(worth, infos, strict=True) if each == top]
    return found[0] if len(found) == 1 else random.choice(found)


def least_allocated(info: NodeInfo, request: ResourceRequest) -> float:
    """How much of a node would be left with the pod on it, in whole points as a real one counts."""
    cpu = (info.cpu - info.weight_cpu - request.weight_cpu) * BEST / (info.cpu or 1)
    memory = (info.memory - info.weight_memory - request.weight_memory) * BEST / (info.memory or 1)
    return ((cpu if cpu > 0 else 0.0) + (memory if memory > 0 else 0.0)) // 2


def _preference_scores(
    snapshot: NodeSnapshot, pod: PodView, infos: Sequence[NodeInfo]
) -> dict[str, float]:
    """What speaks for each node beside its room; empty if nothing does."""
    found: dict[str, float] = {}
    _add(found, _scaled(_preferred(pod, infos)), PREFERENCE_WEIGHT)
    _add(found, _scaled(inter_pod_affinity_score(snapshot, pod, infos)), PREFERENCE_WEIGHT)
    _add(
        found, _scaled(topology_spread_score(snapshot, pod, infos), reverse=True), PREFERENCE_WEIGHT
    )
    if snapshot.has_soft_taints:
        _add(found, _scaled(_taint_penalties(pod, infos), reverse=True), TAINT_WEIGHT)
    return found


def _preferred(pod: PodView, infos: Sequence[NodeInfo]) -> dict[str, float]:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    if affinity is None or not affinity.preferred:
        return {}
    return {
        info.name: sum(
            each.weight
            for each in affinity.preferred
            if info.node is not None and matches_term(each.preference, info.node)
        )
        for info in infos
    }


def _taint_penalties(pod: PodView, infos: Sequence[NodeInfo]) -> dict[str, float]:
    """How many taints advise against each node."""
    found: dict[str, float] = {}
    for info in infos:
        for taint in info.node.spec.taints if info.node is not None else ():
            if taint.effect == PREFER_NO_SCHEDULE and not any(
                tolerates(each, taint) for each in pod.spec.tolerations
            ):
                found[info.name] = found.get(info.name, 0.0) + 1
    return {info.name: found.get(info.name, 0.0) for info in infos} if found else {}


def _scaled(values: Mapping[str, float], *, reverse: bool = False) -> dict[str, float]:
    """Values between 0 and 100, the largest (or smallest) at 100."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    if high == low:
        return {}
    return {
        name: BEST * ((high - value) if reverse else (value - low)) / (high - low)
        for name, value in values.items()
    }


def _add(total: dict[str, float], more: Mapping[str, float], weight: int) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0.0) + weight * value
