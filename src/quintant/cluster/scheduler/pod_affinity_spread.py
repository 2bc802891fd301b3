"""InterPodAffinity, PodTopologySpread: affinity, anti-affinity, topology spread.

Everything about a pod that depends on where other pods are. `PodTopology` is made once per pod and
then asked for every node. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from quintant.api.core import PodAffinity, PodAffinityTerm
from quintant.api.meta import LabelSelector
from quintant.cluster.common.taints import (
    compiled_selector,
    find_untolerated_taint,
    matches_node_affinity,
)
from quintant.cluster.common.views import NodeView, PodView, SpreadView
from quintant.cluster.scheduler.node_info import NodeInfo
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.core.object import replace

SPREAD = "node(s) didn't match pod topology spread constraints"
UNLABELLED = f"{SPREAD} (missing required label)"
ELSEWHERE = "node(s) didn't match pod affinity rules"
CROWDED = "node(s) didn't match pod anti-affinity rules"
UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"
_MUST = "DoNotSchedule"
_HONOR = "Honor"
_IGNORE = "Ignore"


class _Domains(Struct, frozen=True):
    """How many pods of a kind are in each domain of one topology."""

    key: str
    counts: Counter[str]

    def at(self, labels: Mapping[str, str]) -> int | None:
        """How many are around a node; None if it is in no domain."""
        domain = labels.get(self.key)
        return None if domain is None else self.counts[domain]


class _Spread(Struct, frozen=True):
    """A constraint that holds for sure, with what is there now."""

    domains: _Domains
    skew: int
    least: int
    own: int
    """1 if the pod counts itself."""

    def reason(self, labels: Mapping[str, str]) -> str:
        around = self.domains.at(labels)
        if around is None:
            return UNLABELLED
        return SPREAD if around + self.own - self.least > self.skew else ""


class PodTopology:
    """What the pods that are placed already mean for one that is not."""

    def __init__(self, snapshot: NodeSnapshot, pod: PodView) -> None:
        near, away = _required(pod)
        self._spreads = [
            _spread(snapshot, pod, each)
            for each in pod.spec.topology_spread_constraints
            if each.when_unsatisfiable == _MUST
        ]
        self._near = [_domains(snapshot, pod, term) for term in near]
        self._first = not any(each.counts for each in self._near) and all(
            _about(snapshot, pod, term, pod) for term in near
        )
        self._away = [_domains(snapshot, pod, term) for term in away]
        self._anti_affinity_domains = _anti_affinity_domains(snapshot, pod)

    def __bool__(self) -> bool:
        return bool(self._spreads or self._near or self._away or self._anti_affinity_domains)

    def reason(self, node: NodeView) -> str:
        """Why a pod cannot go to a node, as far as other pods are concerned; empty if it can."""
        labels = node.metadata.labels
        for spread in self._spreads:
            if reason := spread.reason(labels):
                return reason
        if any(labels.get(key) == domain for key, domain in self._anti_affinity_domains):
            return UNWELCOME
        if any(each.at(labels) for each in self._away):
            return CROWDED
        around = [each.at(labels) for each in self._near]
        lonely = None in around if self._first else not all(around)
        return ELSEWHERE if lonely else ""


def inter_pod_affinity_score(
    snapshot: NodeSnapshot, pod: PodView, infos: Iterable[NodeInfo]
) -> dict[str, float]:
    """How much a pod would like each node for the pods around it."""
    affinity = pod.spec.affinity
    pulls = _preferred(snapshot, pod, affinity.pod_affinity if affinity else None, 1)
    pulls += _preferred(snapshot, pod, affinity.pod_anti_affinity if affinity else None, -1)
    if not pulls:
        return {}
    return {
        info.name: sum(weight * (domains.at(_labels(info)) or 0) for weight, domains in pulls)
        for info in infos
    }


def topology_spread_score(
    snapshot: NodeSnapshot, pod: PodView, infos: Iterable[NodeInfo]
) -> dict[str, float]:
    """How many pods it would rather be apart from there are around each node."""
    soft = [
        each for each in pod.spec.topology_spread_constraints if each.when_unsatisfiable != _MUST
    ]
    if not soft:
        return {}
    counted = [_spread_domains(snapshot, pod, each) for each in soft]
    return {info.name: sum(domains.at(_labels(info)) or 0 for domains in counted) for info in infos}


def has_pod_affinity(pod: PodView) -> bool:
    """Whether the arrival of another pod may let this one in."""
    return bool(_required(pod)[0])


def _spread(snapshot: NodeSnapshot, pod: PodView, constraint: SpreadView) -> _Spread:
    domains = _spread_domains(snapshot, pod, constraint)
    counted = {
        labels[domains.key]
        for info in snapshot.nodes
        if info.node is not None
        and domains.key in (labels := info.node.metadata.labels)
        and _counts(pod, constraint, info.node)
    }
    few = len(counted) < (constraint.min_domains or 1)
    least = 0 if few else min((domains.counts[each] for each in counted), default=0)
    alike = _own(pod, constraint)
    own = int(alike is not None and compiled_selector(alike).matches(pod.metadata.labels))
    return _Spread(domains, constraint.max_skew, least, own)


def _spread_domains(snapshot: NodeSnapshot, pod: PodView, constraint: SpreadView) -> _Domains:
    counter = snapshot.spread_counter(pod, _own(pod, constraint))
    return _Domains(
        constraint.topology_key, counter.domains(snapshot.infos, constraint.topology_key)
    )


def _own(pod: PodView, constraint: SpreadView) -> LabelSelector | None:
    """The constraint's selector, narrowed to pods that have some labels in common with this one."""
    given, labels = constraint.label_selector, pod.metadata.labels
    keys = [key for key in constraint.match_label_keys if key in labels]
    if given is None or not keys:
        return given
    return replace(given, match_labels={**given.match_labels, **{key: labels[key] for key in keys}})


def _counts(pod: PodView, constraint: SpreadView, node: NodeView) -> bool:
    """Whether a node counts as a place to spread to."""
    if (constraint.node_affinity_policy or _HONOR) == _HONOR and not matches_node_affinity(
        pod, node
    ):
        return False
    taints = constraint.node_taints_policy or _IGNORE
    return (
        taints == _IGNORE or find_untolerated_taint(node.spec.taints, pod.spec.tolerations) is None
    )


def _required(pod: PodView) -> tuple[tuple[PodAffinityTerm, ...], tuple[PodAffinityTerm, ...]]:
    affinity = pod.spec.affinity
    if affinity is None:
        return (), ()
    near, away = affinity.pod_affinity, affinity.pod_anti_affinity
    return near.required if near else (), away.required if away else ()


def _preferred(
    snapshot: NodeSnapshot, pod: PodView, affinity: PodAffinity | None, sign: int
) -> list[tuple[int, _Domains]]:
    if affinity is None:
        return []
    return [
        (sign * each.weight, _domains(snapshot, pod, each.pod_affinity_term))
        for each in affinity.preferred
    ]


def _domains(snapshot: NodeSnapshot, pod: PodView, term: PodAffinityTerm) -> _Domains:
    key = term.topology_key
    return _Domains(key, snapshot.affinity_counter(pod, term).domains(snapshot.infos, key))


def _about(snapshot: NodeSnapshot, owner: PodView, term: PodAffinityTerm, pod: PodView) -> bool:
    """Whether a term of one pod means another."""
    names = snapshot.namespaces_of(owner, term)
    if term.label_selector is None or (names is not None and pod.metadata.namespace not in names):
        return False
    return compiled_selector(term.label_selector).matches(pod.metadata.labels)


def _anti_affinity_domains(snapshot: NodeSnapshot, pod: PodView) -> set[tuple[str, str]]:
    """The domains in which a pod lives that does not want this one near."""
    found: set[tuple[str, str]] = set()
    for placed in snapshot.anti_affinity_pods.values():
        node = snapshot.infos[placed.node].node
        for term in _required(placed.pod)[1]:
            domain = node.metadata.labels.get(term.topology_key) if node is not None else None
            if domain is not None and _about(snapshot, placed.pod, term, pod):
                found.add((term.topology_key, domain))
    return found


def _labels(info: NodeInfo) -> Mapping[str, str]:
    return info.node.metadata.labels if info.node is not None else {}
