"""Which nodes a pod fits, and why it does not fit the others.

Two sieves, in the order of a real scheduler. `sift` looks at nodes only (selector, affinity,
taints) and is remembered for all pods of the same shape, until nodes change. `fitting` looks at
what is left on them and at the pods around. Each node that is out has one reason, or, if something
is lacking, one for each thing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct, field

from quintant.api.core import Taint
from quintant.cluster.common.labels import SIMULATED
from quintant.cluster.common.taints import (
    NO_SCHEDULE,
    UNSCHEDULABLE,
    meets,
    tolerates,
    untolerated,
    wanted,
)
from quintant.cluster.common.views import NodeView, PodView
from quintant.cluster.scheduler.node_info import NodeInfo
from quintant.cluster.scheduler.pod_affinity_spread import ELSEWHERE, UNLABELLED, PodTopology
from quintant.cluster.scheduler.pod_info import ANYWHERE, PodInfo, Reach
from quintant.cluster.scheduler.snapshot import NodeSnapshot

CORDONED = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
UNWANTED = "node(s) didn't match Pod's node affinity/selector"
PRETENDING = "node(s) are simulated and would not run the Pod's image"
UNREACHABLE = "node(s) didn't match PersistentVolume's node affinity"
SHAPES = 256
"""Answers remembered at once; beyond that all are forgotten."""
# What no eviction of other pods would change.
_FIXED = frozenset({UNREACHABLE, ELSEWHERE, UNLABELLED})
_CORDON = Taint(key=UNSCHEDULABLE, effect=NO_SCHEDULE)


class Sieve(Struct):
    """What is left of the nodes, and the reasons of the rest."""

    rooms: list[NodeInfo] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    stuck: int = 0
    """How many nodes would be out even if they were empty."""


class Fit:
    """Answers which nodes a pod fits, and remembers what cannot have changed."""

    def __init__(self, board: NodeSnapshot) -> None:
        self._board = board
        self._layout = -1
        self._sieves: dict[bytes, Sieve] = {}

    def fitting(self, wish: PodInfo, reach: Reach = ANYWHERE) -> Sieve:
        """The nodes a pod could go to now."""
        first = self._sift(wish)
        around = PodTopology(self._board, wish.pod)
        found = Sieve(reasons=Counter(first.reasons), stuck=first.stuck)
        if not (around or reach.terms):
            found.rooms = [room for room in first.rooms if room.holds(wish.demand)]
            if not found.rooms:
                self._explain(wish, first.rooms, found)
            return found
        for room in first.rooms:
            self._judge(wish, reach, around, room, found)
        return found

    def crowded(self, wish: PodInfo, reach: Reach = ANYWHERE) -> list[NodeInfo]:
        """The nodes that a pod could go to if other pods left them."""
        around = PodTopology(self._board, wish.pod)
        return [
            room
            for room in self._sift(wish).rooms
            if room.node is not None
            and not room.hopeless(wish.demand)
            and all(meets(terms, room.node) for terms in reach.terms)
            and not around.reason(room.node)
        ]

    def _sift(self, wish: PodInfo) -> Sieve:
        if self._board.layout != self._layout or len(self._sieves) > SHAPES:
            self._layout = self._board.layout
            self._sieves.clear()
        found = self._sieves.get(wish.shape)
        if found is None:
            found = self._sieves[wish.shape] = sift(wish, self._board.open)
        return found

    def _judge(
        self, wish: PodInfo, reach: Reach, around: PodTopology, room: NodeInfo, found: Sieve
    ) -> None:
        assert room.node is not None, "open rooms have a node"
        if not room.holds(wish.demand):
            self._explain(wish, (room,), found)
        elif not all(meets(terms, room.node) for terms in reach.terms):
            found.reasons[UNREACHABLE] += 1
            found.stuck += 1
        elif reason := around.reason(room.node):
            found.reasons[reason] += 1
            found.stuck += reason in _FIXED
        else:
            found.rooms.append(room)

    def _explain(self, wish: PodInfo, rooms: Iterable[NodeInfo], found: Sieve) -> None:
        for room in rooms:
            found.reasons.update(room.lacking(wish.demand))
            found.stuck += room.hopeless(wish.demand)


def sift(wish: PodInfo, rooms: Iterable[NodeInfo]) -> Sieve:
    """The nodes that would take a pod if they were empty."""
    found = Sieve()
    for room in rooms:
        assert room.node is not None, "open rooms have a node"
        if reason := refusal(wish.pod, room.node):
            found.reasons[reason] += 1
        else:
            found.rooms.append(room)
    if wish.runs:
        _prefer_real(found)
    found.stuck = found.reasons.total()
    return found


def refusal(pod: PodView, node: NodeView) -> str:
    """Why a node, even empty, would not take a pod; empty if it would."""
    tolerations = pod.spec.tolerations
    if node.spec.unschedulable and not any(tolerates(each, _CORDON) for each in tolerations):
        return CORDONED
    if untolerated(node.spec.taints, tolerations) is not None:
        return TAINTED
    return "" if wanted(pod, node) else UNWANTED


def _prefer_real(found: Sieve) -> None:
    """Leave out nodes that only pretend, if a real one would take the pod."""
    real = [room for room in found.rooms if room.node and not _pretends(room.node)]
    if real and len(real) < len(found.rooms):
        found.reasons[PRETENDING] += len(found.rooms) - len(real)
        found.rooms = real


def _pretends(node: NodeView) -> bool:
    return node.metadata.labels.get(SIMULATED) == "true"
