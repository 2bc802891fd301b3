"""What becomes of a target, and what its autoscaler says of that, in a real cluster's words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quintant.api.kubernetes.autoscaling_v2 import (
    ContainerResourceMetricSource,
    CrossVersionObjectReference,
    ExternalMetricSource,
    MetricIdentifier,
    MetricSpec,
    MetricTarget,
    ObjectMetricSource,
    PodsMetricSource,
    ResourceMetricSource,
)
from quintant.api.meta import LabelSelector
from quintant.api.metrics import ContainerMetrics, PodMetrics
from quintant.cluster.controllers.podautoscaler.behavior import ScaleHistory
from quintant.cluster.controllers.podautoscaler.metrics import ObservedPods
from quintant.cluster.controllers.podautoscaler.plan import (
    ScalePlan,
    plan_bounds,
    plan_metrics,
    plan_refused,
    plan_rescaled,
    planned_status,
)
from quintant.cluster.controllers.podautoscaler.selectors import ambiguous_problem, parse_problem
from quintant.core.clock import timestamp
from quintant.core.object import Request
from quintant.testing import named
from unit.cluster.controllers.podautoscaler.autoscaled_pods import (
    CPU_HALF,
    NOW,
    autoscaler,
    container,
    pod,
    pods,
)

HISTORY = ScaleHistory()
NO_CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"  # noqa: E501


def usage(name: str, **containers: dict[str, str]) -> PodMetrics:
    found = tuple(ContainerMetrics(name=each, usage=used) for each, used in containers.items())
    return PodMetrics(
        metadata=named(name), timestamp=timestamp(NOW), window="10s", containers=found
    )


def observed(*cpus: str, **more: Any) -> ObservedPods:
    usages = [usage(f"p{at}", main={"cpu": cpu}) for at, cpu in enumerate(cpus)]
    return ObservedPods(len(cpus), "default", pods(len(cpus)), usages, **more)


def reasons(plan: ScalePlan) -> dict[str, str]:
    """The last word on each condition."""
    return {claim.type: claim.reason for claim in plan.claims}


@pytest.mark.parametrize(
    ("current", "replicas", "reason"),
    [
        (11, 10, "Current number of replicas above Spec.MaxReplicas"),
        (1, 2, "Current number of replicas below Spec.MinReplicas"),
        (0, 0, ""),
    ],
)
def test_bounds_come_before_metrics(current: int, replicas: int, reason: str) -> None:
    plan = plan_bounds(autoscaler(min_replicas=2), current, HISTORY)
    assert plan is not None
    assert (plan.replicas, plan.reason) == (replicas, reason)


def test_a_target_of_no_replicas_is_left_alone() -> None:
    plan = plan_bounds(autoscaler(), 0, HISTORY)
    assert plan is not None
    assert reasons(plan) == {"AbleToScale": "SucceededGetScale", "ScalingActive": "ScalingDisabled"}


def test_usage_above_the_target_makes_it_grow() -> None:
    plan = plan_metrics(autoscaler(), observed("900m", "900m"), HISTORY, NOW)
    assert plan.replicas == 4
    assert plan.reason == "cpu resource utilization (percentage of request) above target"
    assert reasons(plan) == {
        "AbleToScale": "ReadyForNewScale",
        "ScalingActive": "ValidMetricFound",
        "ScalingLimited": "DesiredWithinRange",
    }
    (status,) = plan.statuses
    assert status.resource is not None
    current = status.resource.current
    assert (current.average_utilization, current.average_value) == (90, "900m")


def test_of_several_metrics_the_highest_proposal_counts() -> None:
    memory = MetricSpec(
        type="Resource",
        resource=ResourceMetricSource(
            name="memory", target=MetricTarget(type="AverageValue", average_value="1Ki")
        ),
    )
    used = [usage("p0", main={"cpu": "500m", "memory": "2561"})]
    seen = ObservedPods(1, "default", pods(1), used)
    plan = plan_metrics(autoscaler(metrics=(CPU_HALF, memory)), seen, HISTORY, NOW)
    assert (plan.replicas, plan.reason) == (3, "memory resource above target")
    assert plan.statuses[1].resource is not None
    assert plan.statuses[1].resource.current.average_value == "2561"


def test_one_container_of_each_pod_can_be_the_measure() -> None:
    source = ContainerResourceMetricSource(
        name="cpu",
        container="side",
        target=MetricTarget(type="Utilization", average_utilization=50),
    )
    spec = MetricSpec(type="ContainerResource", container_resource=source)
    made = pod("p0", containers=(container(), container("side", "100m")))
    used = [usage("p0", main={"cpu": "0"}, side={"cpu": "90m"})]
    seen = ObservedPods(1, "default", [made], used)
    plan = plan_metrics(autoscaler(metrics=(spec,)), seen, HISTORY, NOW)
    assert plan.replicas == 2
    words = "cpu container resource utilization (percentage of request) above target"
    assert plan.reason == words


def test_a_metric_that_fails_keeps_a_target_from_shrinking_and_not_from_growing() -> None:
    lost = MetricSpec(type="Pods", pods=PodsMetricSource(metric=MetricIdentifier(name="packets")))
    both = autoscaler(metrics=(lost, CPU_HALF))
    growing = plan_metrics(both, observed("900m"), HISTORY, NOW)
    assert (growing.replicas, reasons(growing)["ScalingActive"]) == (2, "ValidMetricFound")
    assert [event.reason for event in growing.events] == ["FailedGetPodsMetric"]
    idle = plan_metrics(both, observed("100m", "100m"), HISTORY, NOW)
    assert (idle.replicas, reasons(idle)["ScalingActive"]) == (None, "FailedGetPodsMetric")
    assert [event.note for event in idle.events][1:] == [
        "invalid metrics (1 invalid out of 2), first error is: failed to get pods metric value: "
        f"unable to get metric packets: {NO_CUSTOM}"
    ]


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        (
            MetricSpec(
                type="Object",
                object=ObjectMetricSource(
                    metric=MetricIdentifier(name="hits"),
                    described_object=CrossVersionObjectReference(kind="Ingress", name="front"),
                    target=MetricTarget(type="Value", value="10"),
                ),
            ),
            "FailedGetObjectMetric",
            f"unable to get metric hits: Ingress on default front/{NO_CUSTOM}",
        ),
        (
            MetricSpec(
                type="External",
                external=ExternalMetricSource(
                    metric=MetricIdentifier(
                        name="queue", selector=LabelSelector(match_labels={"b": "2", "a": "1"})
                    ),
                    target=MetricTarget(type="Value", value="10"),
                ),
            ),
            "FailedGetExternalMetric",
            "unable to get external metric default/queue/&LabelSelector{MatchLabels:"
            "map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}: "
            "unable to fetch metrics from external metrics API: the server could not find the "
            "requested resource (get queue.external.metrics.k8s.io)",
        ),
    ],
)
def test_metrics_whose_api_is_not_served_say_so(spec: MetricSpec, reason: str, words: str) -> None:
    plan = plan_metrics(autoscaler(metrics=(spec,)), observed("1"), HISTORY, NOW)
    claim = plan.claims[-1]
    assert (claim.type, claim.status, claim.reason) == ("ScalingActive", False, reason)
    assert claim.message == f"the HPA was unable to compute the replica count: {words}"
    assert plan.events[0].note == words


def test_unknown_usage_says_what_was_being_done() -> None:
    seen = observed("1", unavailable="no metrics returned from resource metrics API")
    plan = plan_metrics(autoscaler(), seen, HISTORY, NOW)
    assert plan.events[0].note == (
        "failed to get cpu utilization: unable to get metrics for resource cpu: "
        "no metrics returned from resource metrics API"
    )


def test_a_rescale_is_told_and_dated() -> None:
    asked = autoscaler()
    plan = plan_metrics(asked, observed("900m"), HISTORY, NOW)
    later = NOW + timedelta(seconds=1)
    done = plan_rescaled(plan, asked, 1, later)
    status = planned_status(asked, 1, done, later)
    assert (status.current_replicas, status.desired_replicas) == (1, 2)
    assert status.last_scale_time == timestamp(later)
    assert [(each.type, each.status, each.reason) for each in status.conditions] == [
        ("AbleToScale", "True", "SucceededRescale"),
        ("ScalingActive", "True", "ValidMetricFound"),
        ("ScalingLimited", "False", "DesiredWithinRange"),
    ]
    assert [event.note for event in done.events] == [
        "New size: 2; reason: cpu resource utilization (percentage of request) above target"
    ]


def test_a_rescale_that_is_refused_changes_no_size() -> None:
    asked = autoscaler()
    plan = plan_refused(plan_metrics(asked, observed("900m"), HISTORY, NOW), "no")
    status = planned_status(asked, 1, plan, NOW)
    assert (status.desired_replicas, status.last_scale_time) == (0, None)
    assert status.conditions[0].reason == "FailedUpdateScale"
    assert plan.events[-1].note.endswith("above target; error: no")


def test_pods_without_a_selector_or_with_two_autoscalers_are_not_counted() -> None:
    missing = parse_problem("")
    assert missing is not None
    assert (missing.event, missing.reason) == ("SelectorRequired", "InvalidSelector")
    assert parse_problem("app in (") is not None
    assert parse_problem("app=web") is None
    labelled = [pod("p0", labels={"app": "web", "tier": "front"})]
    rivals = {Request("a", "default"): "app=web", Request("b", "default"): "tier=front"}
    found = ambiguous_problem("app=web", labelled, rivals)
    assert found is not None
    assert found.message == (
        "pods by selector app=web are controlled by multiple HPAs: [default/a default/b]"
    )
    assert ambiguous_problem("app=web", labelled, {Request("a", "default"): "app=web"}) is None
