"""The board: every node with the pods on it, kept in step with the caches by what differs.

`sync` compares what it is shown with what it has seen, by identity, so a round in which little has
happened costs little. A pod that was just given a node is on the board (`assume`) before the watch
says so, and stays until it is seen there, seen gone, or taken back (`forget`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from quintant.api.core import PodTerm
from quintant.api.meta import LabelSelector
from quintant.cluster.apiserver.meta.selectors import Selector
from quintant.cluster.common.taints import PREFER_NO_SCHEDULE, selector
from quintant.cluster.common.views import NodeView, PodView
from quintant.cluster.scheduler.node_info import Guest, NodeInfo
from quintant.cluster.scheduler.resources import ResourceRequest, demand
from quintant.core.object import Object

TALLIES = 256
"""Counts kept up to date at once; beyond that all are made anew when they are asked for."""


class Tally(Struct):
    """How many pods of a selection are on each node."""

    namespaces: frozenset[str] | None
    """None means all."""
    selector: Selector
    staying: bool
    """Whether pods that are being deleted are left out."""
    nodes: Counter[str] = field(default_factory=Counter)

    def count(self, guest: Guest, sign: int) -> None:
        meta = guest.pod.metadata
        if self.namespaces is not None and meta.namespace not in self.namespaces:
            return
        if (self.staying and guest.pod.deleting) or not self.selector.matches(meta.labels):
            return
        self.nodes[guest.node] += sign
        if not self.nodes[guest.node]:
            del self.nodes[guest.node]

    def domains(self, rooms: Mapping[str, NodeInfo], key: str) -> Counter[str]:
        """How many there are in each domain of a topology."""
        found: Counter[str] = Counter()
        for name, count in self.nodes.items():
            node = rooms[name].node
            if node is not None and key in node.metadata.labels:
                found[node.metadata.labels[key]] += count
        return found


class NodeSnapshot:
    """Where every pod is, as far as anybody knows."""

    def __init__(self) -> None:
        self.rooms: dict[str, NodeInfo] = {}
        self.open: list[NodeInfo] = []
        """The rooms of nodes that exist, in the order of their names."""
        self.advised = False
        """Whether some taint only advises against its node."""
        self.layout = 0
        """Grows when nodes, their labels or their taints change."""
        self.eased = 0
        """Grows when something happens that may let a pod in which found no place before."""
        self.distant: dict[str, Guest] = {}
        """The pods that keep others away from them."""
        self._guests: dict[str, Guest] = {}
        self._pods: dict[str, PodView] = {}
        self._nodes: dict[str, NodeView] = {}
        self._spaces: dict[str, Mapping[str, str]] = {}
        self._tallies: dict[tuple[frozenset[str] | None, Selector, bool], Tally] = {}

    def sync(
        self, nodes: Iterable[NodeView], pods: Iterable[PodView], namespaces: Iterable[Object] = ()
    ) -> None:
        """Take in the present state of the caches."""
        before = self.layout
        self._sync_nodes({node.metadata.name: node for node in nodes})
        if self.layout != before:
            self._arrange()
        self._sync_pods({pod.metadata.uid: pod for pod in pods})
        spaces = {space.metadata.name: space.metadata.labels for space in namespaces}
        if spaces != self._spaces:
            self._spaces = spaces
            self._tallies.clear()

    def assume(self, pod: PodView, wish: ResourceRequest, node: str) -> None:
        """Count a pod as placed before anybody else knows."""
        self._enter(Guest(pod, wish, node))

    def forget(self, uid: str) -> None:
        """Take back what was assumed."""
        guest = self._guests.get(uid)
        if guest is not None:
            self._leave(guest)
            self.eased += 1

    def where(self, uid: str) -> str:
        """The node of a pod; empty if it has none."""
        guest = self._guests.get(uid)
        return guest.node if guest is not None else ""

    def near(self, pod: PodView, term: PodTerm) -> Tally:
        """The pods that a term of a pod's affinity is about."""
        names = self.spaces(pod, term)
        return self._tally(names, term.label_selector, staying=False)

    def alike(self, pod: PodView, labels: LabelSelector | None) -> Tally:
        """The pods of the same namespace that a pod shall be spread with."""
        return self._tally(frozenset({pod.metadata.namespace}), labels, staying=True)

    def spaces(self, pod: PodView, term: PodTerm) -> frozenset[str] | None:
        """The namespaces that a term of a pod's affinity looks into; None means all."""
        chosen = term.namespace_selector
        if chosen is None:
            return frozenset(term.namespaces or (pod.metadata.namespace,))
        if not (chosen.match_labels or chosen.match_expressions):
            return None
        wanted = selector(chosen)
        named = (name for name, labels in self._spaces.items() if wanted.matches(labels))
        return frozenset((*term.namespaces, *named))

    def _tally(
        self, names: frozenset[str] | None, labels: LabelSelector | None, *, staying: bool
    ) -> Tally:
        # Without a selector nothing is meant; with an empty one everything is.
        wanted = selector(labels) if labels is not None else _NOTHING
        key = (names, wanted, staying)
        found = self._tallies.get(key)
        if found is None:
            if len(self._tallies) >= TALLIES:
                self._tallies.clear()
            found = self._tallies[key] = Tally(names, wanted, staying)
            for guest in self._guests.values():
                found.count(guest, 1)
        return found

    def _sync_nodes(self, nodes: dict[str, NodeView]) -> None:
        for name, node in nodes.items():
            known = self._nodes.get(name)
            if known is not node:
                self._node(name, known, node)
        for name in self._nodes.keys() - nodes.keys():
            self._node(name, self._nodes[name], None)
        self._nodes = nodes

    def _node(self, name: str, old: NodeView | None, new: NodeView | None) -> None:
        if old is not None and new is not None and _same(old, new):
            self.rooms[name].node = new
            return
        room = self.rooms.setdefault(name, NodeInfo(name))
        room.furnish(new)
        self.layout += 1
        self.eased += 1
        if new is None and not room.guests:
            del self.rooms[name]

    def _arrange(self) -> None:
        self.open = [room for _, room in sorted(self.rooms.items()) if room.node is not None]
        taints = (taint for room in self.open if room.node for taint in room.node.spec.taints)
        self.advised = any(taint.effect == PREFER_NO_SCHEDULE for taint in taints)

    def _sync_pods(self, pods: dict[str, PodView]) -> None:
        known = self._pods
        for uid, pod in pods.items():
            if known.get(uid) is not pod:
                self._pod(uid, pod)
        for uid in known.keys() - pods.keys():
            self.forget(uid)
        self._pods = pods

    def _pod(self, uid: str, pod: PodView) -> None:
        guest = self._guests.get(uid)
        if pod.ended:
            self.forget(uid)
        elif pod.spec.node_name:
            moved = Guest(pod, demand(pod), pod.spec.node_name)
            if guest is not None and _unmoved(guest, moved):
                return
            if guest is not None:
                self._leave(guest)
            self._enter(moved)

    def _enter(self, guest: Guest) -> None:
        uid = guest.pod.metadata.uid
        self._guests[uid] = guest
        self.rooms.setdefault(guest.node, NodeInfo(guest.node)).enter(guest)
        if _keeps_away(guest.pod):
            self.distant[uid] = guest
        for tally in self._tallies.values():
            tally.count(guest, 1)

    def _leave(self, guest: Guest) -> None:
        uid, room = guest.pod.metadata.uid, self.rooms[guest.node]
        del self._guests[uid]
        room.leave(guest)
        self.distant.pop(uid, None)
        for tally in self._tallies.values():
            tally.count(guest, -1)
        if room.node is None and not room.guests:
            del self.rooms[guest.node]


class _Nothing(Selector, frozen=True):
    def matches(self, values: Mapping[str, str]) -> bool:
        return False


_NOTHING = _Nothing()


def _same(old: NodeView, new: NodeView) -> bool:
    return (old.spec, old.status, old.metadata.labels, old.metadata.uid) == (
        new.spec,
        new.status,
        new.metadata.labels,
        new.metadata.uid,
    )


def _unmoved(old: Guest, new: Guest) -> bool:
    return (old.node, old.demand, old.pod.metadata.labels, old.pod.deleting) == (
        new.node,
        new.demand,
        new.pod.metadata.labels,
        new.pod.deleting,
    )


def _keeps_away(pod: PodView) -> bool:
    affinity = pod.spec.affinity
    away = affinity.pod_anti_affinity if affinity is not None else None
    return away is not None and bool(away.required)
