"""Autoscalers, pods and what they use, for tests of the autoscaler."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from quintant.api.kubernetes.autoscaling_v2 import (
    HorizontalPodAutoscalerSpec,
    MetricSpec,
    MetricTarget,
    ResourceMetricSource,
)
from quintant.api.meta import Condition
from quintant.cluster.common.views import ContainerRequests
from quintant.cluster.controllers.podautoscaler.replica_calculator import PodMetric
from quintant.cluster.controllers.podautoscaler.views import (
    AutoscaledContainer,
    AutoscaledPod,
    AutoscaledPodSpec,
    AutoscaledPodStatus,
    Autoscaler,
)
from quintant.core.clock import timestamp
from quintant.testing import named

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CPU_HALF = MetricSpec(
    type="Resource",
    resource=ResourceMetricSource(
        name="cpu", target=MetricTarget(type="Utilization", average_utilization=50)
    ),
)


def ago(seconds: float) -> str:
    return timestamp(NOW - timedelta(seconds=seconds))


def container(name: str = "main", request: str = "1") -> AutoscaledContainer:
    requests = {"cpu": request} if request else {}
    return AutoscaledContainer(name=name, resources=ContainerRequests(requests=requests))


def pod(
    name: str,
    *,
    phase: str = "Running",
    ready: bool = True,
    started: float = 3600,
    changed: float = 3500,
    containers: tuple[AutoscaledContainer, ...] = (container(),),
    **meta: Any,
) -> AutoscaledPod:
    """A pod that started, and whose readiness changed, so many seconds ago."""
    condition = Condition(type="Ready", status=str(ready), last_transition_time=ago(changed))
    status = AutoscaledPodStatus(phase=phase, start_time=ago(started), conditions=(condition,))
    return AutoscaledPod(
        metadata=named(name, **meta), spec=AutoscaledPodSpec(containers=containers), status=status
    )


def pods(count: int) -> list[AutoscaledPod]:
    return [pod(f"p{at}") for at in range(count)]


def metric(value: int) -> PodMetric:
    return PodMetric(value, NOW, 10.0)


def metrics(*values: int | None) -> dict[str, PodMetric]:
    """What pods p0, p1, … use, in thousandths; None has no sample."""
    given = enumerate(values)
    return {f"p{at}": metric(value) for at, value in given if value is not None}


def autoscaler(**spec: Any) -> Autoscaler:
    given = {"min_replicas": 1, "max_replicas": 10, "metrics": (CPU_HALF,), **spec}
    return Autoscaler(metadata=named("a"), spec=HorizontalPodAutoscalerSpec(**given))
