"""TolerationsTolerateTaint, RequiredNodeAffinity: whether a pod may be on a node. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from quintant.api.core import NodeSelector, NodeSelectorTerm, Taint, Toleration
from quintant.api.meta import LabelSelector
from quintant.api.meta import LabelSelectorRequirement as Term
from quintant.cluster.apiserver.meta.selectors import Operator, Selector, SelectorRequirement
from quintant.cluster.common.views import PodView
from quintant.core.object import Object

NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE = "NoSchedule", "NoExecute", "PreferNoSchedule"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
HARD = frozenset({NO_SCHEDULE, NO_EXECUTE})
_NAME = "metadata.name"
_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.ABSENT,
    "Gt": Operator.GREATER,
    "Lt": Operator.LESS,
}


def matches_node_affinity(pod: PodView, node: Object) -> bool:
    """Whether a pod's node selector and its required node affinity accept a node."""
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return True
    required = affinity.node_affinity.required
    return required is None or matches_any_term(required, node)


def matches_any_term(terms: NodeSelector, node: Object) -> bool:
    """Whether a node meets one of the alternatives."""
    return any(matches_term(term, node) for term in terms.node_selector_terms)


def matches_term(term: NodeSelectorTerm, node: Object) -> bool:
    """Whether a node meets a term; one that says nothing is met by none."""
    if not (term.match_expressions or term.match_fields):
        return False
    fields = {_NAME: node.metadata.name}
    return _selected(term.match_expressions, node.metadata.labels) and _selected(
        term.match_fields, fields
    )


def find_untolerated_taint(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], effects: frozenset[str] = HARD
) -> Taint | None:
    """The first taint of these effects that no toleration accepts."""
    for taint in taints:
        if taint.effect in effects and not any(tolerates(each, taint) for each in tolerations):
            return taint
    return None


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration accepts a taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Exists":
            return True
        case "" | "Equal":
            return bool(toleration.key) and toleration.value == taint.value
        case _:
            return False


def compiled_selector(given: LabelSelector) -> Selector:
    """A label selector, ready to be asked often."""
    labels = tuple(given.match_labels.items())
    return Selector(
        (
            *(SelectorRequirement(key, Operator.IN, frozenset({value})) for key, value in labels),
            *(_requirement(term) for term in given.match_expressions),
        )
    )


def _selected(terms: Iterable[Term], values: Mapping[str, str]) -> bool:
    return all(_requirement(term).matches(values) for term in terms)


@lru_cache(maxsize=1024)
def _requirement(term: Term) -> SelectorRequirement:
    return SelectorRequirement(term.key, _OPERATORS[term.operator], frozenset(term.values))
