"""normalizeDesiredReplicasWithBehaviors: how fast, and how steadily, replicas change. Pure.

First a proposal is held against those of the last minutes (stabilization), then against the bounds
and the rate of change. What is remembered for that is a value, `ScaleHistory`: it lives in the
process, and begins again with it, as a real controller's does.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.kubernetes.autoscaling_v2 import (
    HorizontalPodAutoscalerBehavior,
    HPAScalingPolicy,
    HPAScalingRules,
)
from quintant.api.meta import ConditionClaim
from quintant.cluster.controllers.podautoscaler.replica_calculator import MOST_REPLICAS
from quintant.cluster.controllers.podautoscaler.views import Autoscaler

DOWNSCALE_SECONDS = 300
"""For how long the highest proposal counts
(--horizontal-pod-autoscaler-downscale-stabilization)."""
UP_FACTOR, UP_MINIMUM = 2, 4
"""An autoscaler without a behavior grows to twice its size at once, or to four."""
ABLE, LIMITED = "AbleToScale", "ScalingLimited"
_LOWER = "recent recommendations were lower than current one, applying the lowest recent"
_HIGHER = "recent recommendations were higher than current one, applying the highest recent"
_STEADY = {
    "ScaleUpStabilized": f"{_LOWER} recommendation",
    "ScaleDownStabilized": f"{_HIGHER} recommendation",
    "ReadyForNewScale": "recommended size matches current size",
}
_BOUNDS = {
    "ScaleUpLimit": "the desired replica count is increasing faster than the maximum scale rate",
    "ScaleDownLimit": "the desired replica count is decreasing faster than the maximum scale rate",
    "TooManyReplicas": "the desired replica count is more than the maximum replica count",
    "TooFewReplicas": "the desired replica count is less than the minimum replica count",
    "DesiredWithinRange": "the desired count is within the acceptable range",
}


class Recommendation(Struct, frozen=True):
    """How many replicas metrics proposed at a time, before anything held that back."""

    replicas: int
    at: datetime


class ScaleEvent(Struct, frozen=True):
    """By how many replicas a target grew or shrank at a time."""

    change: int
    at: datetime


class ScaleHistory(Struct, frozen=True):
    """What was proposed and done of late."""

    recommendations: tuple[Recommendation, ...] = ()
    scale_ups: tuple[ScaleEvent, ...] = ()
    scale_downs: tuple[ScaleEvent, ...] = ()

    def begun(self, current: int, now: datetime) -> ScaleHistory:
        """A history that is not empty: the size it is found with counts as proposed."""
        return self if self.recommendations else self.recommended(current, now, DOWNSCALE_SECONDS)

    def recommended(self, replicas: int, now: datetime, seconds: float) -> ScaleHistory:
        """With a proposal, and without those that are older than so many seconds."""
        kept = (each for each in self.recommendations if not _older(each.at, now, seconds))
        return replace(self, recommendations=(*kept, Recommendation(replicas, now)))

    def scaled(
        self, behavior: HorizontalPodAutoscalerBehavior | None, change: int, now: datetime
    ) -> ScaleHistory:
        """With a change of the size, and without those that no policy counts any more."""
        if behavior is None:
            return self
        event = ScaleEvent(abs(change), now)
        if change > 0:
            ups = _kept(self.scale_ups, behavior.scale_up, now)
            return replace(self, scale_ups=(*ups, event))
        downs = _kept(self.scale_downs, behavior.scale_down, now)
        return replace(self, scale_downs=(*downs, event))


class NormalizedReplicas(Struct, frozen=True):
    """How many replicas there shall be, what is said of that, and what is remembered."""

    replicas: int
    claims: tuple[ConditionClaim, ...]
    history: ScaleHistory


def normalize_replicas(
    autoscaler: Autoscaler, current: int, proposed: int, history: ScaleHistory, now: datetime
) -> NormalizedReplicas:
    """How many replicas there shall be of those that metrics propose."""
    behavior = autoscaler.spec.behavior
    if behavior is None:
        steady = max((proposed, *_since(history, now, DOWNSCALE_SECONDS)))
        reason, window = "ScaleDownStabilized", float(DOWNSCALE_SECONDS)
        replicas, limit = _bounded(autoscaler, current, steady)
    else:
        up, down = behavior.scale_up or HPAScalingRules(), behavior.scale_down or HPAScalingRules()
        reason = "ScaleUpStabilized" if proposed >= current else "ScaleDownStabilized"
        window = max(_window(up, 0), _window(down, DOWNSCALE_SECONDS))
        steady = _stabilized(current, proposed, history, up, down, now)
        replicas, limit = _rated(autoscaler, current, steady, history, now)
    if steady == proposed:
        reason = "ReadyForNewScale"
    claims = (
        ConditionClaim(ABLE, True, reason, _STEADY[reason]),
        ConditionClaim(LIMITED, replicas != steady, limit, _BOUNDS[limit]),
    )
    return NormalizedReplicas(replicas, claims, history.recommended(proposed, now, window))


def _bounded(autoscaler: Autoscaler, current: int, desired: int) -> tuple[int, str]:
    """convertDesiredReplicasWithRules: within the bounds of an autoscaler without a behavior."""
    growth, most = max(UP_FACTOR * current, UP_MINIMUM), autoscaler.spec.max_replicas
    if desired < autoscaler.min_replicas:
        return autoscaler.min_replicas, "TooFewReplicas"
    if desired > min(growth, most):
        return min(growth, most), "ScaleUpLimit" if most > growth else "TooManyReplicas"
    return desired, "DesiredWithinRange"


def _rated(
    autoscaler: Autoscaler, current: int, desired: int, history: ScaleHistory, now: datetime
) -> tuple[int, str]:
    """convertDesiredReplicasWithBehaviorRate: within bounds, and no faster than policies allow."""
    behavior = autoscaler.spec.behavior or HorizontalPodAutoscalerBehavior()
    most, least = autoscaler.spec.max_replicas, autoscaler.min_replicas
    if desired > current:
        rate = max(_up_limit(current, behavior.scale_up, history, now), current)
        if desired > min(most, rate):
            return min(most, rate), "ScaleUpLimit" if most > rate else "TooManyReplicas"
    elif desired < current:
        rate = min(_down_limit(current, behavior.scale_down, history, now), current)
        if desired < max(least, rate):
            return max(least, rate), "ScaleDownLimit" if least < rate else "TooFewReplicas"
    return desired, "DesiredWithinRange"


def _up_limit(
    current: int, rules: HPAScalingRules | None, history: ScaleHistory, now: datetime
) -> int:
    """calculateScaleUpLimitWithScalingRules: up to how many replicas a target may grow now."""
    if rules is None or rules.select_policy == "Disabled":
        return current
    limits = [_grown(_begin(current, each, history, now), each) for each in rules.policies]
    if rules.select_policy == "Min":
        return min(limits, default=MOST_REPLICAS)
    return max(limits, default=current)


def _down_limit(
    current: int, rules: HPAScalingRules | None, history: ScaleHistory, now: datetime
) -> int:
    """calculateScaleDownLimitWithBehaviors: down to how many replicas it may shrink now."""
    if rules is None or rules.select_policy == "Disabled":
        return current
    limits = [_shrunk(_begin(current, each, history, now), each) for each in rules.policies]
    if rules.select_policy == "Min":
        return max(limits, default=0)
    return min(limits, default=current)


def _grown(begin: int, policy: HPAScalingPolicy) -> int:
    if policy.type == "Pods":
        return begin + policy.value
    return ceil(begin * (1 + policy.value / 100))


def _shrunk(begin: int, policy: HPAScalingPolicy) -> int:
    if policy.type == "Pods":
        return begin - policy.value
    return int(begin * (1 - policy.value / 100))


def _begin(current: int, policy: HPAScalingPolicy, history: ScaleHistory, now: datetime) -> int:
    """How many replicas there were when a policy's period began."""
    added = _changed(history.scale_ups, policy.period_seconds, now)
    removed = _changed(history.scale_downs, policy.period_seconds, now)
    return current - added + removed


def _changed(events: Iterable[ScaleEvent], seconds: int, now: datetime) -> int:
    cutoff = now - timedelta(seconds=seconds)
    return sum(each.change for each in events if each.at > cutoff)


def _stabilized(
    current: int,
    proposed: int,
    history: ScaleHistory,
    up: HPAScalingRules,
    down: HPAScalingRules,
    now: datetime,
) -> int:
    """stabilizeRecommendationWithBehaviors: no more than recent proposals agree on."""
    lowest = min((proposed, *_after(history, now, _window(up, 0))))
    highest = max((proposed, *_after(history, now, _window(down, DOWNSCALE_SECONDS))))
    return min(max(current, lowest), highest)


def _window(rules: HPAScalingRules, usual: int) -> float:
    given = rules.stabilization_window_seconds
    return usual if given is None else given


def _since(history: ScaleHistory, now: datetime, seconds: float) -> list[int]:
    recent = (each for each in history.recommendations if not _older(each.at, now, seconds))
    return [each.replicas for each in recent]


def _after(history: ScaleHistory, now: datetime, seconds: float) -> list[int]:
    cutoff = now - timedelta(seconds=seconds)
    return [each.replicas for each in history.recommendations if each.at > cutoff]


def _kept(
    events: Iterable[ScaleEvent], rules: HPAScalingRules | None, now: datetime
) -> list[ScaleEvent]:
    periods = [each.period_seconds for each in rules.policies] if rules is not None else []
    longest = max(periods, default=0)
    return [each for each in events if not _older(each.at, now, longest)]


def _older(at: datetime, now: datetime, seconds: float) -> bool:
    return at < now - timedelta(seconds=seconds)
