"""autoscalingv2.HorizontalPodAutoscaler, autoscalingv1.Scale: as the autoscaler sees them.

Pods are read when they are counted, and never kept: a cluster without autoscalers pays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.core import Pod
from quintant.api.kubernetes.autoscaling_v2 import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerSpec,
    MetricStatus,
)
from quintant.api.meta import Condition
from quintant.api.quantity import Quantity
from quintant.cluster.common.views import ContainerRequests
from quintant.core.object import Model, Object
from quintant.core.resource import projection


class AutoscalerStatus(Model):
    """What the controller last saw and wanted."""

    last_scale_time: str | None = None
    current_replicas: int = 0
    desired_replicas: int | None = None
    """None alone is left out: a real server writes 0, too."""
    current_metrics: tuple[MetricStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()


@projection(HorizontalPodAutoscaler)
class Autoscaler(Object):
    """An autoscaler; version 1 of it is stored as version 2."""

    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()
    status: AutoscalerStatus = AutoscalerStatus()

    @property
    def min_replicas(self) -> int:
        """The fewest replicas; one, unless it says so."""
        return 1 if self.spec.min_replicas is None else self.spec.min_replicas


class AutoscaledContainer(Model):
    """A container, and what it is promised."""

    name: str = ""
    resources: ContainerRequests = ContainerRequests()
    restart_policy: str | None = None

    @property
    def requests(self) -> Mapping[str, Quantity]:
        return self.resources.requests


class AutoscaledPodSpec(Model):
    """What a pod is promised, as a whole or by container."""

    containers: tuple[AutoscaledContainer, ...] = ()
    init_containers: tuple[AutoscaledContainer, ...] = ()
    resources: ContainerRequests = ContainerRequests()


class AutoscaledPodStatus(Model):
    """Whether a pod runs, is ready, and since when."""

    phase: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] = ()


@projection(Pod)
class AutoscaledPod(Object):
    """A pod that an autoscaler counts."""

    spec: AutoscaledPodSpec = AutoscaledPodSpec()
    status: AutoscaledPodStatus = AutoscaledPodStatus()


class ScaleSpec(Model):
    """How many replicas there shall be; none is written as nothing."""

    replicas: int = 0


class ScaleStatus(Model):
    """How many replicas there are, and which pods they are."""

    replicas: int = 0
    selector: str = ""


class TargetScale(Model):
    """The subresource of whatever can be scaled."""

    spec: ScaleSpec = ScaleSpec()
    status: ScaleStatus = ScaleStatus()
