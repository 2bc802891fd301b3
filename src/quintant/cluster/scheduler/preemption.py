"""Who has to make room for a more important pod, and on which node. Pure, but for a trial.

On every node that lacks nothing but room, as few and as unimportant pods as possible are picked;
the node is taken whose victims matter least. Disruption budgets are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.node_info import Guest, NodeInfo
from quintant.cluster.scheduler.pod_info import PodInfo

_NEVER = "Never"


class Preemption(Struct, frozen=True):
    """The pods that leave a node for a more important one."""

    node: str
    victims: tuple[Guest, ...]

    @property
    def cost(self) -> tuple[int, int, int, str]:
        """What it takes: the most important victim counts most, then the sum, then how many."""
        ranks = [rank(each.pod) for each in self.victims]
        return max(ranks), sum(ranks), len(ranks), self.node


def preempt(wish: PodInfo, rooms: Iterable[NodeInfo]) -> Preemption | None:
    """The cheapest way to make room for a pod; None if there is none."""
    if wish.pod.spec.preemption_policy == _NEVER:
        return None
    found = (_victims(wish, room) for room in rooms)
    return min((each for each in found if each is not None), key=lambda it: it.cost, default=None)


def rank(pod: PodView) -> int:
    """How important a pod is."""
    return pod.spec.priority or 0


def _victims(wish: PodInfo, room: NodeInfo) -> Preemption | None:
    lower = [each for each in room.guests.values() if rank(each.pod) < rank(wish.pod)]
    # Whoever leaves anyway is not asked to: the pod waits for it, as for any other change.
    lower = [each for each in lower if not each.pod.deleting]
    for each in lower:
        room.leave(each)
    out = _spared(wish, room, lower) if room.holds(wish.demand) else lower
    hopeless = out is lower
    for each in out:
        room.enter(each)
    return None if hopeless or not out else Preemption(room.name, tuple(out))


def _spared(wish: PodInfo, room: NodeInfo, lower: list[Guest]) -> list[Guest]:
    """Let back in whom there is room for, the most important first; the others."""
    out = []
    for each in sorted(lower, key=lambda guest: (-rank(guest.pod), guest.pod.metadata.name)):
        room.enter(each)
        if not room.holds(wish.demand):
            room.leave(each)
            out.append(each)
    return out
