"""Which cloud a Cluster goes to, or why it goes to none. Pure.

Clouds of the Cluster's own namespace come first, global ones only if none of those fits. Of several
that fit, the one with the fewest Clusters, then the first by name: the same every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from quintant.api.meta import condition_of
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.resource import resource_of
from quintant.operators.infra.api import AnyCloud, Cluster
from quintant.operators.infra.api.cluster_status import ScheduledCloud
from quintant.operators.infra.observe.keys import cloud_key
from quintant.operators.infra.plan.status import SCHEDULED, StatusChange, claim
from quintant.operators.infra.scheduler.rules import InvalidConstraint, LabelConstraint, parse

NO_MATCHING_CLOUD = "NoMatchingCloud"
INVALID_CONSTRAINT = "InvalidConstraint"
PATIENCE_SECONDS = 30.0
"""A Cloud may be applied after its Clusters, and takes a moment to be ready: no reason to warn."""
_NAMED = 20
"""Clouds that a message gives its reasons for; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The clouds that there are, and how many Clusters each has."""

    own: Sequence[AnyCloud]
    everybodys: Sequence[AnyCloud]
    bound: Mapping[str, int]


def plan(cluster: Cluster, candidates: Candidates, now: datetime) -> StatusChange:
    """What is said about where a Cluster goes."""
    seen = StatusChange({"observed_generation": cluster.metadata.generation})
    return seen + _placed(cluster, candidates, now)


def bound(change: StatusChange) -> bool:
    """Whether a change binds a Cluster to a cloud."""
    return "scheduled_to" in change.fields


def _placed(cluster: Cluster, candidates: Candidates, now: datetime) -> StatusChange:
    try:
        constraints = _constraints(cluster)
    except InvalidConstraint as error:
        return StatusChange(claims=(claim(SCHEDULED, False, INVALID_CONSTRAINT, str(error)),))
    if cluster.spec.cloud_ref is not None:
        return _pinned(cluster, candidates, now)
    for group in (candidates.own, candidates.everybodys):
        fitting = [each for each in group if not misfit(each, constraints, candidates.bound)]
        if fitting:
            chosen = min(fitting, key=lambda each: _order(each, candidates.bound))
            return _bind(chosen, now)
    clouds = [*candidates.own, *candidates.everybodys]
    said = _reasons(clouds, constraints, candidates.bound)
    return StatusChange(claims=(claim(SCHEDULED, False, NO_MATCHING_CLOUD, said),))


def unmatched(change: StatusChange) -> str:
    """Why no cloud fits, if that is what a change says; else nothing."""
    told = next((each for each in change.claims if each.type == SCHEDULED), None)
    return told.message if told is not None and told.reason == NO_MATCHING_CLOUD else ""


def patience(cluster: Cluster, now: datetime) -> float:
    """Seconds for which a Cluster may still be without a cloud before anybody is warned."""
    known = condition_of(cluster.status.conditions, SCHEDULED) if cluster.status else None
    if known is None or known.status != "False" or known.last_transition_time is None:
        return PATIENCE_SECONDS
    passed = (now - parse_timestamp(known.last_transition_time)).total_seconds()
    return max(PATIENCE_SECONDS - passed, 0.0)


def misfit(
    cloud: AnyCloud, constraints: Iterable[LabelConstraint], bound: Mapping[str, int]
) -> str:
    """Why a cloud does not fit; empty if it does."""
    if cloud.deleting:
        return "is being deleted"
    if cloud.spec.schedulable is False:
        return "is not schedulable"
    for each in constraints:
        if not each.holds(cloud.metadata.labels):
            return f"does not fulfil `{each.text}`"
    most, held = cloud.spec.max_clusters, bound.get(cloud_key(cloud), 0)
    if most is not None and held >= most:
        return f"has {held} of at most {most} Clusters"
    ready = condition_of(cloud.status.conditions, "Ready") if cloud.status is not None else None
    if ready is None:
        return "is not known to be ready yet"
    return f"is not ready ({ready.reason})" if ready.status != "True" else ""


def _constraints(cluster: Cluster) -> tuple[LabelConstraint, ...]:
    spec = cluster.spec.constraints
    return tuple(parse(text) for text in spec.cloud.labels) if spec is not None else ()


def _order(cloud: AnyCloud, bound: Mapping[str, int]) -> tuple[int, str]:
    return bound.get(cloud_key(cloud), 0), cloud.metadata.name


def _pinned(cluster: Cluster, candidates: Candidates, now: datetime) -> StatusChange:
    ref = cluster.spec.cloud_ref
    assert ref is not None, "it is pinned"
    group = candidates.everybodys if ref.kind == "GlobalCloud" else candidates.own
    for cloud in group:
        if cloud.metadata.name == ref.name and not cloud.deleting:
            return _bind(cloud, now)
    said = f"{ref.kind or 'Cloud'} {ref.name}, which cloudRef names, is not there or is going"
    return StatusChange(claims=(claim(SCHEDULED, False, "CloudNotFound", said),))


def _bind(cloud: AnyCloud, now: datetime) -> StatusChange:
    kind, name = resource_of(type(cloud)).kind, cloud.metadata.name
    fields = {
        "scheduled_to": ScheduledCloud(kind=kind, name=name),
        "scheduled": timestamp(now),
    }
    return StatusChange(fields, (claim(SCHEDULED, True, "Bound", f"it goes to {kind} {name}"),))


def _reasons(
    clouds: Sequence[AnyCloud], constraints: Sequence[LabelConstraint], bound: Mapping[str, int]
) -> str:
    if not clouds:
        return "there is no cloud: create a Cloud in this namespace, or a GlobalCloud"
    lines = [
        f"{resource_of(type(each)).kind} {each.metadata.name} {misfit(each, constraints, bound)}"
        for each in sorted(
            clouds, key=lambda each: (not each.metadata.namespace, each.metadata.name)
        )
    ]
    more = len(lines) - _NAMED
    return "\n".join([*lines[:_NAMED], *([f"and {more} more"] if more > 0 else [])])
