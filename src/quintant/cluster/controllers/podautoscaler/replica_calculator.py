"""ReplicaCalculator: how many replicas the usage of pods asks for. Pure.

As many as bring the average to the target: `ceil(ratio * pods)`, unless the ratio is about one.
A pod without a sample counts as what makes the change smaller, one that only begins is left out of
a shrinking and counts as idle in a growth; if that turns the direction round, nothing changes.
All amounts are whole thousandths, divided as Go divides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_CEILING
from math import ceil
from typing import Protocol

from msgspec import Struct

from quintant.api.meta import condition_of
from quintant.api.quantity import Quantity, bounded_quantity
from quintant.cluster.controllers.podautoscaler.views import AutoscaledContainer, AutoscaledPod
from quintant.cluster.controllers.pods.views import ALWAYS, parse_time

TOLERANCE = 0.1
"""How far from one a ratio may be without a change (--horizontal-pod-autoscaler-tolerance)."""
CPU_INITIALIZATION = timedelta(minutes=5)
"""While a pod is younger, samples of its start are left out
(--horizontal-pod-autoscaler-cpu-initialization-period)."""
INITIAL_READINESS_DELAY = timedelta(seconds=30)
"""A pod that was last unready so soon after its start was never ready
(--horizontal-pod-autoscaler-initial-readiness-delay)."""
MOST_REPLICAS = 2**31 - 1
CPU = "cpu"
_WHOLE_PERCENT = 100


class MetricsError(Exception):
    """A metric proposes nothing; the text says why, in a real cluster's words."""


class PodMetric(Struct, frozen=True):
    """What a pod used, in thousandths, on average over the seconds before a time."""

    value: int
    timestamp: datetime
    window: float


class Tolerances(Struct, frozen=True):
    """How far below and above one a ratio may be without a change."""

    scale_down: float = TOLERANCE
    scale_up: float = TOLERANCE

    def is_within(self, ratio: float) -> bool:
        return 1.0 - self.scale_down <= ratio <= 1.0 + self.scale_up


class UsageRatio(Struct, frozen=True):
    """What pods use, beside what they should."""

    ratio: float
    average: int
    utilization: int | None = None
    """In percent of what they are promised, if that is the target."""


class UsageTarget(Protocol):
    """What pods should use on average."""

    def usage(self, metrics: Mapping[str, int]) -> UsageRatio:
        """What they use instead; MetricsError if that cannot be compared."""

    def fallback(self, pod: str) -> int:
        """What a pod without a sample is taken to use when others use too little."""


class UtilizationTarget(Struct, frozen=True):
    """A percentage of what pods are promised (GetResourceUtilizationRatio)."""

    percent: int
    requests: Mapping[str, int]

    def usage(self, metrics: Mapping[str, int]) -> UsageRatio:
        known = [pod for pod in metrics if pod in self.requests]
        requested, used = sum(self.requests[pod] for pod in known), sum(metrics[p] for p in known)
        if not requested:
            raise MetricsError("no metrics returned matched known pods")
        utilization = used * _WHOLE_PERCENT // requested
        return UsageRatio(utilization / self.percent, used // len(known), utilization)

    def fallback(self, pod: str) -> int:
        return self.requests[pod] * max(_WHOLE_PERCENT, self.percent) // _WHOLE_PERCENT


class AverageTarget(Struct, frozen=True):
    """An amount per pod (GetMetricUsageRatio)."""

    value: int

    def usage(self, metrics: Mapping[str, int]) -> UsageRatio:
        average = sum(metrics.values()) // len(metrics)
        return UsageRatio(average / self.value, average)

    def fallback(self, pod: str) -> int:
        return self.value


class PodGroups(Struct, frozen=True):
    """Pods by what can be said of them."""

    ready: int
    """How many have a sample that counts."""
    unready: frozenset[str]
    missing: frozenset[str]
    """Those that run, and have no sample."""
    metrics: Mapping[str, int]
    """The samples that count; perhaps of pods, too, that are not known any more."""


class ReplicaProposal(Struct, frozen=True):
    """How many replicas there should be, because of what pods use."""

    replicas: int
    usage: UsageRatio


def propose_replicas(
    current: int, groups: PodGroups, target: UsageTarget, tolerances: Tolerances
) -> ReplicaProposal:
    """How many replicas bring the pods' usage to the target; as many as now if that is near."""
    usage = target.usage(groups.metrics)
    unready = groups.unready if usage.ratio > 1 else frozenset[str]()
    if unready or groups.missing:
        metrics = _completed(groups, unready, target, usage.ratio)
        replicas = _cautious(current, usage.ratio, metrics, target, tolerances)
    elif tolerances.is_within(usage.ratio):
        replicas = current
    else:
        replicas = ceil(usage.ratio * groups.ready)
    return ReplicaProposal(min(replicas, MOST_REPLICAS), usage)


def group_pods(
    pods: Sequence[AutoscaledPod], metrics: Mapping[str, PodMetric], resource: str, now: datetime
) -> PodGroups:
    """Which pods count, and with what; MetricsError if none does."""
    if not pods:
        raise MetricsError("no pods returned by selector while calculating replica count")
    unready, missing, ignored = set(), set(), set()
    for pod in pods:
        name, metric = pod.metadata.name, metrics.get(pod.metadata.name)
        if pod.deleting or pod.status.phase == "Failed":
            ignored.add(name)
        elif pod.status.phase == "Pending":
            unready.add(name)
        elif metric is None:
            missing.add(name)
        elif resource == CPU and _begins(pod, metric, now):
            unready.add(name)
    left_out = ignored | unready
    values = {name: each.value for name, each in metrics.items() if name not in left_out}
    if not values:
        raise MetricsError("did not receive metrics for targeted pods (pods might be unready)")
    ready = len(pods) - len(left_out) - len(missing)
    return PodGroups(ready, frozenset(unready), frozenset(missing), values)


def calculate_requests(
    pods: Iterable[AutoscaledPod], resource: str, container: str = ""
) -> dict[str, int]:
    """What each pod is promised, or a container of it; MetricsError if one does not say."""
    return {pod.metadata.name: _request(pod, resource, container) for pod in pods}


def milli_value(quantity: Quantity) -> int:
    """An amount in thousandths, rounded up."""
    return int((bounded_quantity(quantity) * 1000).to_integral_value(ROUND_CEILING))


def _completed(
    groups: PodGroups, unready: Iterable[str], target: UsageTarget, ratio: float
) -> dict[str, int]:
    """The samples, with what is assumed of pods that have none."""
    assumed: dict[str, int] = dict.fromkeys(unready, 0)
    if ratio < 1:
        assumed |= {pod: target.fallback(pod) for pod in groups.missing}
    elif ratio > 1:
        assumed |= dict.fromkeys(groups.missing, 0)
    return {**groups.metrics, **assumed}


def _cautious(
    current: int,
    before: float,
    metrics: Mapping[str, int],
    target: UsageTarget,
    tolerances: Tolerances,
) -> int:
    """How many replicas what is assumed asks for, unless it contradicts what is known."""
    ratio = target.usage(metrics).ratio
    if tolerances.is_within(ratio) or before < 1 < ratio or ratio < 1 < before:
        return current
    replicas = ceil(ratio * len(metrics))
    turned = replicas > current if ratio < 1 else replicas < current
    return current if turned else replicas


def _begins(pod: AutoscaledPod, metric: PodMetric, now: datetime) -> bool:
    """Whether a sample of a pod's processor time is one of its start."""
    started, ready = parse_time(pod.status.start_time), condition_of(pod.status.conditions, "Ready")
    if ready is None or started is None:
        return True
    changed = parse_time(ready.last_transition_time) or started
    if started + CPU_INITIALIZATION > now:
        recent = metric.timestamp < changed + timedelta(seconds=metric.window)
        return ready.status == "False" or recent
    return ready.status == "False" and started + INITIAL_READINESS_DELAY > changed


def _request(pod: AutoscaledPod, resource: str, container: str) -> int:
    whole = pod.spec.resources.requests.get(resource)
    if whole is not None and not container:
        return milli_value(whole)
    running = [each for each in _running(pod) if container in ("", each.name)]
    if container and not running:
        raise MetricsError(f"container {container} not found in Pod {pod.metadata.name}")
    for each in running:
        if resource not in each.requests:
            words = f"missing request for {resource} in container {each.name}"
            raise MetricsError(f"{words} of Pod {pod.metadata.name}")
    return sum(milli_value(each.requests[resource]) for each in running)


def _running(pod: AutoscaledPod) -> tuple[AutoscaledContainer, ...]:
    """The containers that run beside each other: those, and sidecars."""
    sidecars = (each for each in pod.spec.init_containers if each.restart_policy == ALWAYS)
    return (*pod.spec.containers, *sidecars)
