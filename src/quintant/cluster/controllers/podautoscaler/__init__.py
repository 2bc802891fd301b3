"""The HorizontalPodAutoscaler controller: as many replicas as the usage of their pods asks for.

views           autoscalers, pods and scales       scale_client    scales, by whatever kind
metrics_client  what pods use now                   replica_calculator  how many pods that needs
metrics         the proposal of one metric          behavior        how fast, and how steadily
plan            all of it, decided                  reconcile       every quarter of a minute
"""

from __future__ import annotations

from quintant.api.kubernetes.autoscaling_v2 import HorizontalPodAutoscalerSpec
from quintant.api.metrics import PodMetrics
from quintant.cluster.controllers.podautoscaler.reconcile import HorizontalController
from quintant.cluster.controllers.podautoscaler.views import AutoscaledPod, Autoscaler
from quintant.cluster.controllers.served_kinds import AllKinds
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source import predicates

NAME = "horizontal-pod-autoscaler-controller"


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    controller = HorizontalController()
    (
        # Its own statuses do not wake it: it comes again by itself, at an even pace.
        manager.controls(Autoscaler, name=NAME, when=predicates.changed(_spec))
        .uses(AllKinds, "get", "patch", sub="scale")
        .uses(AutoscaledPod, "list")
        .uses(PodMetrics, "list")
        .keeps(controller.memories)
        .reconcile(controller)
    )


def _spec(autoscaler: Autoscaler) -> HorizontalPodAutoscalerSpec:
    return autoscaler.spec
