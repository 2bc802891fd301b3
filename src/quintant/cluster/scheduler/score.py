"""Which of the nodes that fit is the best one.

Every criterion gives 0 to 100 and has the weight it has in a real scheduler: free room 1, what the
pod prefers about nodes, neighbours and spreading 2 each, taints that only advise 3. Pure; of
equally good nodes the caller's random source takes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintant.cluster.common.taints import PREFER_NO_SCHEDULE, matches, tolerates
from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.node_info import NodeInfo
from quintant.cluster.scheduler.pod_affinity_spread import attraction, crowding
from quintant.cluster.scheduler.pod_info import PodInfo
from quintant.cluster.scheduler.resources import ResourceRequest
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.core.clock import Random

BEST = 100.0
PREFERENCE_WEIGHT = 2
TAINT_WEIGHT = 3


def best(board: NodeSnapshot, wish: PodInfo, rooms: Sequence[NodeInfo], random: Random) -> NodeInfo:
    """The best of some nodes, at least one."""
    worth = [vacancy(room, wish.demand) for room in rooms]
    if liked := _liked(board, wish.pod, rooms):
        worth = [each + liked.get(room.name, 0.0) for each, room in zip(worth, rooms, strict=True)]
    top = max(worth)
    found = [room for each, room in zip(worth, rooms, strict=True) if each == top]
    return found[0] if len(found) == 1 else random.choice(found)


def vacancy(room: NodeInfo, demand: ResourceRequest) -> float:
    """How much of a node would be left with the pod on it, in whole points as a real one counts."""
    cpu = (room.cpu - room.weight_cpu - demand.weight_cpu) * BEST / (room.cpu or 1)
    memory = (room.memory - room.weight_memory - demand.weight_memory) * BEST / (room.memory or 1)
    return ((cpu if cpu > 0 else 0.0) + (memory if memory > 0 else 0.0)) // 2


def _liked(board: NodeSnapshot, pod: PodView, rooms: Sequence[NodeInfo]) -> dict[str, float]:
    """What speaks for each node beside its room; empty if nothing does."""
    found: dict[str, float] = {}
    _add(found, _scaled(_preferred(pod, rooms)), PREFERENCE_WEIGHT)
    _add(found, _scaled(attraction(board, pod, rooms)), PREFERENCE_WEIGHT)
    _add(found, _scaled(crowding(board, pod, rooms), reverse=True), PREFERENCE_WEIGHT)
    if board.advised:
        _add(found, _scaled(_advised(pod, rooms), reverse=True), TAINT_WEIGHT)
    return found


def _preferred(pod: PodView, rooms: Sequence[NodeInfo]) -> dict[str, float]:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    if affinity is None or not affinity.preferred:
        return {}
    return {
        room.name: sum(
            each.weight
            for each in affinity.preferred
            if room.node is not None and matches(each.preference, room.node)
        )
        for room in rooms
    }


def _advised(pod: PodView, rooms: Sequence[NodeInfo]) -> dict[str, float]:
    """How many taints advise against each node."""
    found: dict[str, float] = {}
    for room in rooms:
        for taint in room.node.spec.taints if room.node is not None else ():
            if taint.effect == PREFER_NO_SCHEDULE and not any(
                tolerates(each, taint) for each in pod.spec.tolerations
            ):
                found[room.name] = found.get(room.name, 0.0) + 1
    return {room.name: found.get(room.name, 0.0) for room in rooms} if found else {}


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
