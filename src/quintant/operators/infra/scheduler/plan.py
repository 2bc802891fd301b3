"""Which cloud a Cluster goes to, or why it goes to none. Pure.

Clouds of the Cluster's own namespace come first, global ones only if none of those fits. Of several
that fit, the one with the fewest Clusters, then the first by name: the same every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from quintant.api.events import PlannedEvent
from quintant.api.meta import condition_of
from quintant.core.clock import timestamp
from quintant.core.resource import resource_of
from quintant.operators.infra.api import AnyCloud, Cluster, ClusterStatus
from quintant.operators.infra.api.cluster_status import ScheduledCloud
from quintant.operators.infra.observed.moments import seconds_since
from quintant.operators.infra.observed.session import cloud_key
from quintant.operators.infra.plan.status import SCHEDULED, StatusChange, claim
from quintant.operators.infra.scheduler.observed import Candidates
from quintant.operators.infra.scheduler.rules import InvalidConstraint, LabelConstraint, parse
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

NO_MATCHING_CLOUD = "NoMatchingCloud"
INVALID_CONSTRAINT = "InvalidConstraint"
PATIENCE_SECONDS = 30.0
"""A Cloud may be applied after its Clusters, and takes a moment to be ready: no reason to warn."""
AGAIN_SECONDS = 60.0
"""Clouds wake those who wait; this is for what no watch reports."""
_NAMED = 20
"""Clouds that a message gives its reasons for; the rest is counted."""


@dataclass(frozen=True, slots=True)
class SchedulePlan:
    """What is written about where a Cluster goes, and how the pass ends."""

    change: StatusChange
    warned: bool
    """Whether the user was warned that no cloud fits: once is enough."""
    conclusion: Conclusion[ClusterStatus]


def plan(cluster: Cluster, candidates: Candidates, now: datetime, *, warned: bool) -> SchedulePlan:
    """Where a Cluster goes, or why it goes nowhere; `warned` if the user knows that already."""
    generation = StatusChange({"observed_generation": cluster.metadata.generation})
    change = generation + _placed(cluster, candidates, now)
    if "scheduled_to" in change.fields:
        return SchedulePlan(change, warned, Conclusion())
    message = unmatched(change)
    if not message or warned:
        return SchedulePlan(change, warned, Conclusion(again=Result(after=AGAIN_SECONDS)))
    rest = patience(cluster, now)
    if rest > 0:
        return SchedulePlan(change, warned, Conclusion(again=Result(after=rest)))
    event = PlannedEvent("Warning", "NoMatchingCloud", message)
    again = Result(after=AGAIN_SECONDS)
    return SchedulePlan(change, True, Conclusion(events=(event,), again=again))


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
    message = _reasons(clouds, constraints, candidates.bound)
    return StatusChange(claims=(claim(SCHEDULED, False, NO_MATCHING_CLOUD, message),))


def unmatched(change: StatusChange) -> str:
    """Why no cloud fits, if that is what a change says; else nothing."""
    scheduled = next((each for each in change.claims if each.type == SCHEDULED), None)
    return (
        scheduled.message if scheduled is not None and scheduled.reason == NO_MATCHING_CLOUD else ""
    )


def patience(cluster: Cluster, now: datetime) -> float:
    """Seconds for which a Cluster may still be without a cloud before the user is warned."""
    known = condition_of(cluster.status.conditions, SCHEDULED) if cluster.status else None
    if known is None or known.status != "False":
        return PATIENCE_SECONDS
    passed = seconds_since(now, known.last_transition_time)
    return min(max(PATIENCE_SECONDS - (passed or 0.0), 0.0), PATIENCE_SECONDS)


def misfit(
    cloud: AnyCloud, constraints: Iterable[LabelConstraint], bound: Mapping[str, int]
) -> str:
    """Why a cloud does not fit; empty if it does."""
    if why := closed(cloud, bound):
        return why
    for each in constraints:
        if not each.holds(cloud.metadata.labels):
            return f"does not fulfil `{each.text}`"
    ready = condition_of(cloud.status.conditions, "Ready") if cloud.status is not None else None
    if ready is None:
        return "is not known to be ready yet"
    return f"is not ready ({ready.reason})" if ready.status != "True" else ""


def closed(cloud: AnyCloud, bound: Mapping[str, int]) -> str:
    """Why a cloud takes no more Clusters, whoever asks; empty if it does."""
    if cloud.deleting:
        return "is being deleted"
    if cloud.spec.schedulable is False:
        return "is not schedulable"
    most, held = cloud.spec.max_clusters, bound.get(cloud_key(cloud), 0)
    if most is not None and held >= most:
        return f"has {held} of at most {most} Clusters"
    return ""


def _constraints(cluster: Cluster) -> tuple[LabelConstraint, ...]:
    spec = cluster.spec.constraints
    return tuple(parse(text) for text in spec.cloud.labels) if spec is not None else ()


def _order(cloud: AnyCloud, bound: Mapping[str, int]) -> tuple[int, str]:
    return bound.get(cloud_key(cloud), 0), cloud.metadata.name


def _pinned(cluster: Cluster, candidates: Candidates, now: datetime) -> StatusChange:
    ref = cluster.spec.cloud_ref
    assert ref is not None, "it is pinned"
    group = candidates.everybodys if ref.kind == "GlobalCloud" else candidates.own
    named = f"{ref.kind or 'Cloud'} {ref.name}, which cloudRef names,"
    for cloud in group:
        if cloud.metadata.name == ref.name and not cloud.deleting:
            if why := closed(cloud, candidates.bound):
                refused = claim(SCHEDULED, False, NO_MATCHING_CLOUD, f"{named} {why}")
                return StatusChange(claims=(refused,))
            return _bind(cloud, now)
    message = f"{named} is not there or is going"
    return StatusChange(claims=(claim(SCHEDULED, False, "CloudNotFound", message),))


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
