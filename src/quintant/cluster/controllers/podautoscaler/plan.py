"""reconcileAutoscaler, computeReplicasForMetrics: how many replicas a target gets. Pure.

The highest proposal of all metrics counts. A metric that proposes nothing keeps a target from
shrinking, and not from growing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.events import PlannedEvent
from quintant.api.kubernetes.autoscaling_v2 import MetricStatus
from quintant.api.meta import ConditionClaim, set_conditions
from quintant.cluster.controllers.podautoscaler.behavior import (
    ABLE,
    ScaleHistory,
    normalize_replicas,
)
from quintant.cluster.controllers.podautoscaler.metrics import (
    MetricProposal,
    ObservedPods,
    compute_replicas,
    tolerances_of,
)
from quintant.cluster.controllers.podautoscaler.selectors import SelectorProblem
from quintant.cluster.controllers.podautoscaler.unserved_metrics import MetricFailure
from quintant.cluster.controllers.podautoscaler.views import Autoscaler, AutoscalerStatus
from quintant.core.clock import timestamp

ACTIVE = "ScalingActive"
SCALE_KNOWN = ConditionClaim(
    ABLE, True, "SucceededGetScale",
    "the HPA controller was able to get the target's current scale",
)  # fmt: skip
_ABOVE_MAX = "Current number of replicas above Spec.MaxReplicas"
_BELOW_MIN = "Current number of replicas below Spec.MinReplicas"
_ZERO = "scaling is disabled since the replica count of the target is zero"


class ScalePlan(Struct, frozen=True):
    """What becomes of a target, and what is said of it."""

    replicas: int | None
    """How many there shall be; None if nothing can be said of that."""
    history: ScaleHistory
    reason: str = ""
    """Why that is another number than now."""
    statuses: tuple[MetricStatus, ...] = ()
    claims: tuple[ConditionClaim, ...] = ()
    events: tuple[PlannedEvent, ...] = ()
    rescaled: bool = False
    """Whether the target was made so large."""


def plan_bounds(autoscaler: Autoscaler, current: int, history: ScaleHistory) -> ScalePlan | None:
    """What becomes of a target whose size alone decides; None if its metrics do."""
    if current == 0:
        disabled = ConditionClaim(ACTIVE, False, "ScalingDisabled", _ZERO)
        return ScalePlan(0, history, claims=(SCALE_KNOWN, disabled))
    most, least = autoscaler.spec.max_replicas, autoscaler.min_replicas
    if current > most:
        return ScalePlan(most, history, _ABOVE_MAX, claims=(SCALE_KNOWN,))
    if current < least:
        return ScalePlan(least, history, _BELOW_MIN, claims=(SCALE_KNOWN,))
    return None


def plan_unselected(problem: SelectorProblem, history: ScaleHistory) -> ScalePlan:
    """What is said of a target whose pods cannot be counted."""
    claim = ConditionClaim(ACTIVE, False, problem.reason, problem.message)
    warning = PlannedEvent("Warning", problem.event, problem.error)
    failed = PlannedEvent("Warning", "FailedComputeMetricsReplicas", problem.error)
    return ScalePlan(None, history, claims=(SCALE_KNOWN, claim), events=(warning, failed))


def plan_metrics(
    autoscaler: Autoscaler, observed: ObservedPods, history: ScaleHistory, now: datetime
) -> ScalePlan:
    """How many replicas a target gets, from what its pods use."""
    tolerances = tolerances_of(autoscaler.spec.behavior)
    results = [
        compute_replicas(spec, observed, tolerances, now) for spec in autoscaler.spec.metrics
    ]
    proposals = [each for each in results if isinstance(each, MetricProposal)]
    failures = [each for each in results if isinstance(each, MetricFailure)]
    highest = max(proposals, key=lambda each: each.replicas, default=None)
    plan = ScalePlan(
        None, history, statuses=tuple(map(_status, results)), claims=(SCALE_KNOWN,),
        events=tuple(PlannedEvent("Warning", each.reason, each.message) for each in failures),
    )  # fmt: skip
    if highest is None or (failures and highest.replicas < observed.replicas):
        return _failed(plan, failures, len(results))
    return _proposed(plan, autoscaler, observed.replicas, highest, now)


def plan_rescaled(
    plan: ScalePlan, autoscaler: Autoscaler, current: int, now: datetime
) -> ScalePlan:
    """A plan that was carried out."""
    replicas = current if plan.replicas is None else plan.replicas
    words = f"the HPA controller was able to update the target scale to {replicas}"
    claim = ConditionClaim(ABLE, True, "SucceededRescale", words)
    note = f"New size: {replicas}; reason: {plan.reason}"
    event = PlannedEvent("Normal", "SuccessfulRescale", note, action=f"{current} to {replicas}")
    history = plan.history.scaled(autoscaler.spec.behavior, replicas - current, now)
    return replace(
        plan,
        history=history,
        claims=(*plan.claims, claim),
        events=(*plan.events, event),
        rescaled=True,
    )


def plan_refused(plan: ScalePlan, error: str) -> ScalePlan:
    """A plan that the server refused to carry out."""
    words = f"the HPA controller was unable to update the target scale: {error}"
    claim = ConditionClaim(ABLE, False, "FailedUpdateScale", words)
    note = f"New size: {plan.replicas}; reason: {plan.reason}; error: {error}"
    event = PlannedEvent("Warning", "FailedRescale", note)
    return replace(plan, replicas=None, claims=(*plan.claims, claim), events=(*plan.events, event))


def planned_status(
    autoscaler: Autoscaler, current: int, plan: ScalePlan, now: datetime
) -> AutoscalerStatus:
    """The status of an autoscaler after a plan; what it wanted is kept if the plan cannot say."""
    before = autoscaler.status
    desired = before.desired_replicas or 0 if plan.replicas is None else plan.replicas
    return AutoscalerStatus(
        last_scale_time=timestamp(now) if plan.rescaled else before.last_scale_time,
        current_replicas=current,
        desired_replicas=desired,
        current_metrics=plan.statuses,
        conditions=set_conditions(before.conditions, plan.claims, now=now),
    )


def _proposed(
    plan: ScalePlan, autoscaler: Autoscaler, current: int, highest: MetricProposal, now: datetime
) -> ScalePlan:
    words = f"the HPA was able to successfully calculate a replica count from {highest.name}"
    active = ConditionClaim(ACTIVE, True, "ValidMetricFound", words)
    above = highest.replicas > current
    reason = f"{highest.name} above target" if above else "All metrics below target"
    normal = normalize_replicas(autoscaler, current, highest.replicas, plan.history, now)
    return replace(
        plan,
        replicas=normal.replicas,
        history=normal.history,
        reason=reason if highest.replicas != current else "",
        claims=(*plan.claims, active, *normal.claims),
    )


def _failed(plan: ScalePlan, failures: Sequence[MetricFailure], count: int) -> ScalePlan:
    """Nothing can be said: of all metrics nothing, or of some, and the others would shrink it."""
    if not failures:
        return plan
    first = failures[0]
    words = f"the HPA was unable to compute the replica count: {first.message}"
    claim = ConditionClaim(ACTIVE, False, first.reason, words)
    invalid = f"invalid metrics ({len(failures)} invalid out of {count})"
    note = f"{invalid}, first error is: {first.error}"
    event = PlannedEvent("Warning", "FailedComputeMetricsReplicas", note)
    return replace(plan, claims=(*plan.claims, claim), events=(*plan.events, event))


def _status(result: MetricProposal | MetricFailure) -> MetricStatus:
    return result.status if isinstance(result, MetricProposal) else MetricStatus()
