"""findNodesThatPassFilters: which nodes a pod fits (predicates), and why not the others.

Two steps, in the order of a real scheduler. `filter_nodes` looks at nodes only (selector, affinity,
taints) and is remembered for all pods that ask for the same, until nodes change. `feasible_nodes`
looks at what is left on them and at the pods around. Each node that is out has one reason, or, if
something is lacking, one for each thing.
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
    find_untolerated_taint,
    matches_any_term,
    matches_node_affinity,
    tolerates,
)
from quintant.cluster.common.views import NodeView, PodView
from quintant.cluster.scheduler.node_info import NodeInfo
from quintant.cluster.scheduler.pod_affinity_spread import ELSEWHERE, UNLABELLED, PodTopology
from quintant.cluster.scheduler.pod_info import ANYWHERE, PodInfo, VolumeTopology
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


class FilterResult(Struct):
    """What is left of the nodes, and the reasons of the rest."""

    nodes: list[NodeInfo] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    unresolvable: int = 0
    """How many nodes would be out even if they were empty."""


class NodeFilter:
    """Answers which nodes a pod fits, and remembers what cannot have changed."""

    def __init__(self, snapshot: NodeSnapshot) -> None:
        self._snapshot = snapshot
        self._layout = -1
        self._results: dict[bytes, FilterResult] = {}

    def feasible_nodes(
        self, pod_info: PodInfo, volume_topology: VolumeTopology = ANYWHERE
    ) -> FilterResult:
        """The nodes a pod could go to now."""
        first = self._filter_nodes(pod_info)
        around = PodTopology(self._snapshot, pod_info.pod)
        found = FilterResult(reasons=Counter(first.reasons), unresolvable=first.unresolvable)
        if not (around or volume_topology.terms):
            found.nodes = [info for info in first.nodes if info.fits(pod_info.request)]
            if not found.nodes:
                self._explain(pod_info, first.nodes, found)
            return found
        for info in first.nodes:
            self._check_node(pod_info, volume_topology, around, info, found)
        return found

    def preemption_candidates(
        self, pod_info: PodInfo, volume_topology: VolumeTopology = ANYWHERE
    ) -> list[NodeInfo]:
        """The nodes that a pod could go to if other pods left them."""
        around = PodTopology(self._snapshot, pod_info.pod)
        return [
            info
            for info in self._filter_nodes(pod_info).nodes
            if info.node is not None
            and not info.never_fits(pod_info.request)
            and all(matches_any_term(terms, info.node) for terms in volume_topology.terms)
            and not around.reason(info.node)
        ]

    def _filter_nodes(self, pod_info: PodInfo) -> FilterResult:
        if self._snapshot.generation != self._layout or len(self._results) > SHAPES:
            self._layout = self._snapshot.generation
            self._results.clear()
        found = self._results.get(pod_info.filter_key)
        if found is None:
            found = self._results[pod_info.filter_key] = filter_nodes(
                pod_info, self._snapshot.nodes
            )
        return found

    def _check_node(
        self,
        pod_info: PodInfo,
        volume_topology: VolumeTopology,
        around: PodTopology,
        info: NodeInfo,
        result: FilterResult,
    ) -> None:
        assert info.node is not None, "nodes of the snapshot exist"
        if not info.fits(pod_info.request):
            self._explain(pod_info, (info,), result)
        elif not all(matches_any_term(terms, info.node) for terms in volume_topology.terms):
            result.reasons[UNREACHABLE] += 1
            result.unresolvable += 1
        elif reason := around.reason(info.node):
            result.reasons[reason] += 1
            result.unresolvable += reason in _FIXED
        else:
            result.nodes.append(info)

    def _explain(self, pod_info: PodInfo, infos: Iterable[NodeInfo], result: FilterResult) -> None:
        for info in infos:
            result.reasons.update(info.insufficient_resources(pod_info.request))
            result.unresolvable += info.never_fits(pod_info.request)


def filter_nodes(pod_info: PodInfo, infos: Iterable[NodeInfo]) -> FilterResult:
    """The nodes that would take a pod if they were empty."""
    found = FilterResult()
    for info in infos:
        assert info.node is not None, "nodes of the snapshot exist"
        if reason := unschedulable_reason(pod_info.pod, info.node):
            found.reasons[reason] += 1
        else:
            found.nodes.append(info)
    if pod_info.runs:
        _prefer_real(found)
    found.unresolvable = found.reasons.total()
    return found


def unschedulable_reason(pod: PodView, node: NodeView) -> str:
    """Why a node, even empty, would not take a pod; empty if it would."""
    tolerations = pod.spec.tolerations
    if node.spec.unschedulable and not any(tolerates(each, _CORDON) for each in tolerations):
        return CORDONED
    if find_untolerated_taint(node.spec.taints, tolerations) is not None:
        return TAINTED
    return "" if matches_node_affinity(pod, node) else UNWANTED


def _prefer_real(result: FilterResult) -> None:
    """Leave out nodes that only pretend, if a real one would take the pod."""
    real = [info for info in result.nodes if info.node and not _is_simulated(info.node)]
    if real and len(real) < len(result.nodes):
        result.reasons[PRETENDING] += len(result.nodes) - len(real)
        result.nodes = real


def _is_simulated(node: NodeView) -> bool:
    return node.metadata.labels.get(SIMULATED) == "true"
