"""Where pods may run: tolerations, affinities and spreading.

Re-exported by `api.core`. The long wire names of affinities are `required` and `preferred` here.
"""

from __future__ import annotations

import msgspec

from quintant.api.meta import LabelSelector, LabelSelectorRequirement
from quintant.core.object import Model


class Toleration(Model):
    """A taint the pod may live with."""

    key: str = ""
    """The taint's key; empty means all, with the operator Exists."""
    operator: str = ""
    """Exists or Equal; Equal if not given."""
    value: str = ""
    """The taint's value, for the operator Equal."""
    effect: str = ""
    """NoSchedule, PreferNoSchedule or NoExecute; empty means all."""
    toleration_seconds: int | None = None
    """How long a NoExecute taint is borne; for ever if not given."""


class NodeSelectorTerm(Model):
    """Labels and fields a node must have, all of them."""

    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
    match_fields: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelector(Model):
    """Alternatives, one of which a node must meet."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Model):
    """A node that counts for more."""

    weight: int
    preference: NodeSelectorTerm


class NodeAffinity(Model):
    """Which nodes a pod must, or would rather, run on."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class PodAffinityTerm(Model):
    """Pods to be near to, or away from, within a topology."""

    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None


class WeightedPodAffinityTerm(Model):
    """A neighbour that counts for more."""

    weight: int
    pod_affinity_term: PodAffinityTerm


class PodAffinity(Model):
    """Which pods to be near to, or away from."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(
        default=(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Model):
    """Where a pod wants to be."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Model):
    """How evenly pods spread over a topology."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
