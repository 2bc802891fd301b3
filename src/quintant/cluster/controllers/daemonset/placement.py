"""NodeShouldRunDaemonPod: the nodes of a DaemonSet, and the pod for one of them.

A pod is bound to its node by affinity, and lives with whatever befalls a node: it tolerates that
the node is not ready, out of reach, short of something, or closed to others.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Any

import msgspec

from quintant.api.apps import DaemonSet
from quintant.api.core import Toleration
from quintant.cluster.apiserver.registry.prepare import TEMPLATE_GENERATION
from quintant.cluster.common.taints import (
    HARD,
    NO_EXECUTE,
    NO_SCHEDULE,
    find_untolerated_taint,
    matches_node_affinity,
)
from quintant.cluster.common.views import PodSpecView, PodView
from quintant.cluster.controllers.history import HASH
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.templates import (
    NewPod,
    pod_from_template,
    with_template_labels,
)
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import Model, Opaque, replace

GENERATION = "pod-template-generation"
_NODE_NAME = "metadata.name"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_REMEMBERED = 256
_PREFIX = "node.kubernetes.io"
_BORNE = (
    (f"{_PREFIX}/not-ready", NO_EXECUTE),
    (f"{_PREFIX}/unreachable", NO_EXECUTE),
    (f"{_PREFIX}/disk-pressure", NO_SCHEDULE),
    (f"{_PREFIX}/memory-pressure", NO_SCHEDULE),
    (f"{_PREFIX}/pid-pressure", NO_SCHEDULE),
    (f"{_PREFIX}/unschedulable", NO_SCHEDULE),
)
_BORNE_BY_HOST = (f"{_PREFIX}/network-unavailable", NO_SCHEDULE)
"""What a pod in the network of its host tolerates beyond that."""


class ShouldRun(Enum):
    """Whether a node is meant."""

    RUN = "run"
    """A pod belongs there."""
    STAY = "stay"
    """A pod that is there may stay, but none is made."""
    LEAVE = "leave"
    """No pod belongs there."""


class DaemonSpec(PodSpecView):
    """What of a template decides about nodes."""

    host_network: bool = False


class DaemonTemplate(Model):
    """A template, looked into as far as necessary."""

    spec: DaemonSpec = DaemonSpec()


def node_should_run_pod(daemons: DaemonSet, node: NodeState) -> ShouldRun:
    """Whether a DaemonSet means a node."""
    spec = _template_spec(daemons.spec.template)
    if spec.node_name not in ("", node.metadata.name) or not matches_node_affinity(
        PodView(spec=spec), node
    ):
        return ShouldRun.LEAVE
    if find_untolerated_taint(node.spec.taints, spec.tolerations, HARD) is None:
        return ShouldRun.RUN
    bearable = (
        find_untolerated_taint(node.spec.taints, spec.tolerations, frozenset({NO_EXECUTE})) is None
    )
    return ShouldRun.STAY if bearable else ShouldRun.LEAVE


def target_node(pod: PodState) -> str:
    """The node that a pod is on, or is meant for; empty if it names none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    for term in required.node_selector_terms if required is not None else ():
        for field in term.match_fields:
            if field.key == _NODE_NAME and field.operator == "In" and len(field.values) == 1:
                return field.values[0]
    return ""


def pod_is_updated(daemons: DaemonSet, pod: PodState, name: str) -> bool:
    """Whether a pod is of the newest template, whose hash is `name`."""
    labels, generation = pod.metadata.labels, _generation(daemons)
    return labels.get(HASH) == name or bool(generation and labels.get(GENERATION) == generation)


def new_pod(daemons: DaemonSet, node: str, name: str) -> NewPod:
    """A pod for a node, from the newest template, whose hash is `name`."""
    generation = _generation(daemons)
    labels = {HASH: name, **({GENERATION: generation} if generation else {})}
    pod = pod_from_template(with_template_labels(daemons.spec.template, labels), daemons)
    spec: dict[str, Any] = pod.spec.value
    spec["tolerations"] = _tolerations(spec)
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    field = {"key": _NODE_NAME, "operator": "In", "values": [node]}
    affinity[_REQUIRED] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return replace(pod, spec=Opaque.of(spec))


@lru_cache(_REMEMBERED)
def _template_spec(template: Opaque) -> DaemonSpec:
    """The spec of a template, with what its pods tolerate."""
    spec = msgspec.json.decode(template.raw, type=DaemonTemplate).spec
    borne = [
        Toleration(key=key, operator="Exists", effect=effect)
        for key, effect in _default_tolerations(spec.host_network)
    ]
    return replace(spec, tolerations=(*spec.tolerations, *borne))


def _tolerations(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The tolerations of a spec, with those of its own kind in place of what says less."""
    found: list[dict[str, Any]] = list(spec.get("tolerations") or ())
    for key, effect in _default_tolerations(spec.get("hostNetwork", False)):
        mine = {"key": key, "operator": "Exists", "effect": effect}
        same = [at for at, each in enumerate(found) if each.items() >= mine.items()]
        if same:
            found[same[0]] = mine
        else:
            found.append(mine)
    return found


def _default_tolerations(host_network: bool) -> tuple[tuple[str, str], ...]:
    return (*_BORNE, _BORNE_BY_HOST) if host_network else _BORNE


def _generation(daemons: DaemonSet) -> str:
    return daemons.metadata.annotations.get(TEMPLATE_GENERATION, "")
