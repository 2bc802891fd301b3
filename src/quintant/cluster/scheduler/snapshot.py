"""cache.Snapshot, UpdateSnapshot: every node with its pods, kept up to date by what differs.

`sync` compares what it is shown with what it has seen, by identity, so a round in which little has
happened costs little. A pod that was just given a node is counted (`assume`) before the watch
says so, and stays until it is seen there, seen gone, or taken back (`forget`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from quintant.api.core import PodAffinityTerm
from quintant.api.meta import LabelSelector
from quintant.cluster.apiserver.meta.selectors import Selector
from quintant.cluster.common.taints import PREFER_NO_SCHEDULE, compiled_selector
from quintant.cluster.common.views import NodeView, PodView
from quintant.cluster.scheduler.node_info import NodeInfo, PlacedPod
from quintant.cluster.scheduler.resources import ResourceRequest, resource_request
from quintant.core.object import Object

COUNTERS = 256
"""Counts kept up to date at once; beyond that all are made anew when they are asked for."""


class PodCounter(Struct):
    """How many pods of a selection are on each node."""

    namespaces: frozenset[str] | None
    """None means all."""
    selector: Selector
    staying: bool
    """Whether pods that are being deleted are left out."""
    nodes: Counter[str] = field(default_factory=Counter)

    def count(self, placed: PlacedPod, sign: int) -> None:
        meta = placed.pod.metadata
        if self.namespaces is not None and meta.namespace not in self.namespaces:
            return
        if (self.staying and placed.pod.deleting) or not self.selector.matches(meta.labels):
            return
        self.nodes[placed.node] += sign
        if not self.nodes[placed.node]:
            del self.nodes[placed.node]

    def domains(self, infos: Mapping[str, NodeInfo], key: str) -> Counter[str]:
        """How many there are in each domain of a topology."""
        found: Counter[str] = Counter()
        for name, count in self.nodes.items():
            node = infos[name].node
            if node is not None and key in node.metadata.labels:
                found[node.metadata.labels[key]] += count
        return found


class NodeSnapshot:
    """Where every pod is, as far as anybody knows."""

    def __init__(self) -> None:
        self.infos: dict[str, NodeInfo] = {}
        self.nodes: list[NodeInfo] = []
        """The nodes that exist, in the order of their names."""
        self.has_soft_taints: bool = False
        """Whether some taint only advises against its node."""
        self.generation: int = 0
        """Grows when nodes, their labels or their taints change."""
        self.move_cycle: int = 0
        """Grows when something happens that may let a pod in which found no place before."""
        self.anti_affinity_pods: dict[str, PlacedPod] = {}
        """The pods that keep others away from them."""
        self._placed_pods: dict[str, PlacedPod] = {}
        self._pods: dict[str, PodView] = {}
        self._nodes: dict[str, NodeView] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._counters: dict[tuple[frozenset[str] | None, Selector, bool], PodCounter] = {}

    def sync(
        self, nodes: Iterable[NodeView], pods: Iterable[PodView], namespaces: Iterable[Object] = ()
    ) -> None:
        """Take in the present state of the caches."""
        before = self.generation
        self._sync_nodes({node.metadata.name: node for node in nodes})
        if self.generation != before:
            self._rebuild_order()
        self._sync_pods({pod.metadata.uid: pod for pod in pods})
        spaces = {space.metadata.name: space.metadata.labels for space in namespaces}
        if spaces != self._namespaces:
            self._namespaces = spaces
            self._counters.clear()

    def assume(self, pod: PodView, request: ResourceRequest, node: str) -> None:
        """Count a pod as placed before anybody else knows."""
        self._add_pod(PlacedPod(pod, request, node))

    def forget(self, uid: str) -> None:
        """Take back what was assumed."""
        placed = self._placed_pods.get(uid)
        if placed is not None:
            self._remove_pod(placed)
            self.move_cycle += 1

    def node_of(self, uid: str) -> str:
        """The node of a pod; empty if it has none."""
        placed = self._placed_pods.get(uid)
        return placed.node if placed is not None else ""

    def affinity_counter(self, pod: PodView, term: PodAffinityTerm) -> PodCounter:
        """The pods that a term of a pod's affinity is about."""
        names = self.namespaces_of(pod, term)
        return self._counter(names, term.label_selector, staying=False)

    def spread_counter(self, pod: PodView, labels: LabelSelector | None) -> PodCounter:
        """The pods of the same namespace that a pod shall be spread with."""
        return self._counter(frozenset({pod.metadata.namespace}), labels, staying=True)

    def namespaces_of(self, pod: PodView, term: PodAffinityTerm) -> frozenset[str] | None:
        """The namespaces that a term of a pod's affinity looks into; None means all."""
        chosen = term.namespace_selector
        if chosen is None:
            return frozenset(term.namespaces or (pod.metadata.namespace,))
        if not (chosen.match_labels or chosen.match_expressions):
            return None
        wanted = compiled_selector(chosen)
        named = (name for name, labels in self._namespaces.items() if wanted.matches(labels))
        return frozenset((*term.namespaces, *named))

    def _counter(
        self, names: frozenset[str] | None, labels: LabelSelector | None, *, staying: bool
    ) -> PodCounter:
        # Without a selector nothing is meant; with an empty one everything is.
        wanted = compiled_selector(labels) if labels is not None else _NOTHING
        key = (names, wanted, staying)
        found = self._counters.get(key)
        if found is None:
            if len(self._counters) >= COUNTERS:
                self._counters.clear()
            found = self._counters[key] = PodCounter(names, wanted, staying)
            for placed in self._placed_pods.values():
                found.count(placed, 1)
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
            self.infos[name].node = new
            return
        info = self.infos.setdefault(name, NodeInfo(name))
        info.set_node(new)
        self.generation += 1
        self.move_cycle += 1
        if new is None and not info.placed_pods:
            del self.infos[name]

    def _rebuild_order(self) -> None:
        self.nodes = [info for _, info in sorted(self.infos.items()) if info.node is not None]
        taints = (taint for info in self.nodes if info.node for taint in info.node.spec.taints)
        self.has_soft_taints = any(taint.effect == PREFER_NO_SCHEDULE for taint in taints)

    def _sync_pods(self, pods: dict[str, PodView]) -> None:
        known = self._pods
        for uid, pod in pods.items():
            if known.get(uid) is not pod:
                self._pod(uid, pod)
        for uid in known.keys() - pods.keys():
            self.forget(uid)
        self._pods = pods

    def _pod(self, uid: str, pod: PodView) -> None:
        placed = self._placed_pods.get(uid)
        if pod.ended:
            self.forget(uid)
        elif pod.spec.node_name:
            moved = PlacedPod(pod, resource_request(pod), pod.spec.node_name)
            if placed is not None and _same_placement(placed, moved):
                return
            if placed is not None:
                self._remove_pod(placed)
            self._add_pod(moved)

    def _add_pod(self, placed: PlacedPod) -> None:
        uid = placed.pod.metadata.uid
        self._placed_pods[uid] = placed
        self.infos.setdefault(placed.node, NodeInfo(placed.node)).add_pod(placed)
        if _has_required_anti_affinity(placed.pod):
            self.anti_affinity_pods[uid] = placed
        for counter in self._counters.values():
            counter.count(placed, 1)

    def _remove_pod(self, placed: PlacedPod) -> None:
        uid, info = placed.pod.metadata.uid, self.infos[placed.node]
        del self._placed_pods[uid]
        info.remove_pod(placed)
        self.anti_affinity_pods.pop(uid, None)
        for counter in self._counters.values():
            counter.count(placed, -1)
        if info.node is None and not info.placed_pods:
            del self.infos[placed.node]


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


def _same_placement(old: PlacedPod, new: PlacedPod) -> bool:
    return (old.node, old.request, old.pod.metadata.labels, old.pod.deleting) == (
        new.node,
        new.request,
        new.pod.metadata.labels,
        new.pod.deleting,
    )


def _has_required_anti_affinity(pod: PodView) -> bool:
    affinity = pod.spec.affinity
    away = affinity.pod_anti_affinity if affinity is not None else None
    return away is not None and bool(away.required)
