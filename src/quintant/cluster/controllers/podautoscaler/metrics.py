"""computeReplicasForMetric: what one metric of an autoscaler proposes, or why it cannot. Pure.

Resource metrics are those of pods, or of one container of each; of all others see
`unserved_metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from quintant.api.kubernetes.autoscaling_v2 import (
    ContainerResourceMetricStatus,
    HorizontalPodAutoscalerBehavior,
    MetricSpec,
    MetricStatus,
    MetricTarget,
    MetricValueStatus,
    ResourceMetricStatus,
)
from quintant.api.metrics import ContainerMetrics, PodMetrics
from quintant.api.quantity import Quantity, bounded_quantity
from quintant.cluster.apiserver.meta.quantity import format_like
from quintant.cluster.controllers.podautoscaler.replica_calculator import (
    TOLERANCE,
    AverageTarget,
    MetricsError,
    PodMetric,
    ReplicaProposal,
    Tolerances,
    UsageTarget,
    UtilizationTarget,
    calculate_requests,
    group_pods,
    milli_value,
    propose_replicas,
)
from quintant.cluster.controllers.podautoscaler.unserved_metrics import (
    MetricFailure,
    unserved_metric,
)
from quintant.cluster.controllers.podautoscaler.views import AutoscaledPod
from quintant.core.clock import parse_timestamp
from quintant.core.duration import parse_duration

_NO_TARGET = (
    "invalid resource metric source: neither an average utilization target nor an average value "
    "(usage) target was set"
)


class ObservedPods(Struct, frozen=True):
    """The pods of a target, what they use, and how many there should be now."""

    replicas: int
    namespace: str = ""
    pods: Sequence[AutoscaledPod] = ()
    usages: Sequence[PodMetrics] = ()
    unavailable: str = ""
    """Why it is not known what they use."""


class MetricProposal(Struct, frozen=True):
    """How many replicas a metric asks for, and what it is now."""

    replicas: int
    name: str
    status: MetricStatus


def compute_replicas(
    spec: MetricSpec, observed: ObservedPods, tolerances: Tolerances, now: datetime
) -> MetricProposal | MetricFailure:
    """What a metric proposes."""
    resource = _Resource(observed, tolerances, now)
    if spec.resource is not None and spec.type == "Resource":
        return _resource(spec, resource)
    if spec.container_resource is not None and spec.type == "ContainerResource":
        return _container_resource(spec, resource)
    return unserved_metric(spec, observed.namespace)


def tolerances_of(behavior: HorizontalPodAutoscalerBehavior | None) -> Tolerances:
    """How far from its target an autoscaler lets a metric be."""
    if behavior is None:
        return Tolerances()
    down, up = behavior.scale_down, behavior.scale_up
    return Tolerances(
        _tolerance(down.tolerance if down is not None else None),
        _tolerance(up.tolerance if up is not None else None),
    )


def pod_metrics(
    usages: Sequence[PodMetrics], resource: str, container: str = ""
) -> dict[str, PodMetric]:
    """getPodMetrics, getContainerMetrics: a resource by pod; not of pods that lack a figure."""
    found = {}
    for pod in usages:
        counted = [each for each in pod.containers if container in ("", each.name)]
        if counted and all(resource in each.usage for each in counted):
            at, window = parse_timestamp(pod.timestamp or ""), parse_duration(pod.window or "0")
            found[pod.metadata.name] = PodMetric(_sum(counted, resource), at, window)
    return found


class _Resource(Struct, frozen=True):
    """computeStatusForResourceMetricGeneric: a resource of pods, or of a container in each."""

    observed: ObservedPods
    tolerances: Tolerances
    now: datetime

    def propose(self, name: str, target: MetricTarget, container: str = "") -> ReplicaProposal:
        """MetricsError says what was being done, and why it failed."""
        if target.average_value is not None:
            value = milli_value(target.average_value)
            return self._counted("usage", name, container, lambda: AverageTarget(value))
        percent = target.average_utilization
        if percent is None:
            raise MetricsError(_NO_TARGET)
        pods = self.observed.pods
        return self._counted(
            "utilization", name, container,
            lambda: UtilizationTarget(percent, calculate_requests(pods, name, container)),
        )  # fmt: skip

    def _counted(
        self, what: str, name: str, container: str, target: Callable[[], UsageTarget]
    ) -> ReplicaProposal:
        observed = self.observed
        try:
            if observed.unavailable:
                words = f"unable to get metrics for resource {name}"
                raise MetricsError(f"{words}: {observed.unavailable}")
            metrics = pod_metrics(observed.usages, name, container)
            groups = group_pods(observed.pods, metrics, name, self.now)
            return propose_replicas(observed.replicas, groups, target(), self.tolerances)
        except MetricsError as error:
            raise MetricsError(f"failed to get {name} {what}: {error}") from None


def _resource(spec: MetricSpec, resource: _Resource) -> MetricProposal | MetricFailure:
    source = spec.resource
    assert source is not None, "its type says so"
    try:
        found = resource.propose(source.name, source.target)
    except MetricsError as error:
        failed = f"failed to get {source.name} resource metric value: {error}"
        return MetricFailure("FailedGetResourceMetric", str(error), failed)
    status = ResourceMetricStatus(name=source.name, current=_current(source.name, found))
    name = _metric_name(source.name, found, "resource")
    return MetricProposal(found.replicas, name, MetricStatus(type=spec.type, resource=status))


def _container_resource(spec: MetricSpec, resource: _Resource) -> MetricProposal | MetricFailure:
    source = spec.container_resource
    assert source is not None, "its type says so"
    try:
        found = resource.propose(source.name, source.target, source.container)
    except MetricsError as error:
        failed = f"failed to get {source.container} container metric value: {error}"
        return MetricFailure("FailedGetContainerResourceMetric", str(error), failed)
    current = _current(source.name, found)
    status = ContainerResourceMetricStatus(
        name=source.name, container=source.container, current=current
    )
    name = _metric_name(source.name, found, "container resource")
    shown = MetricStatus(type=spec.type, container_resource=status)
    return MetricProposal(found.replicas, name, shown)


def _current(resource: str, proposal: ReplicaProposal) -> MetricValueStatus:
    value = Decimal(proposal.usage.average).scaleb(-3)
    average = format_like(value, "1Ki" if resource == "memory" else "1m")
    return MetricValueStatus(average_value=average, average_utilization=proposal.usage.utilization)


def _metric_name(resource: str, proposal: ReplicaProposal, what: str) -> str:
    if proposal.usage.utilization is None:
        return f"{resource} resource"
    return f"{resource} {what} utilization (percentage of request)"


def _sum(containers: Sequence[ContainerMetrics], resource: str) -> int:
    return sum(milli_value(each.usage[resource]) for each in containers)


def _tolerance(given: Quantity | None) -> float:
    return TOLERANCE if given is None else float(bounded_quantity(given))
