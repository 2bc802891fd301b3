"""Budgets are counted, and evictions are granted as long as they can spare a pod."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quintant.api.apps import ReplicaSet, ReplicaSetSpec
from quintant.api.core import Pod
from quintant.api.meta import LabelSelector
from quintant.api.policy import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from quintant.api.quantity import IntOrString
from quintant.cluster.controllers import disruption
from quintant.cluster.controllers.disruption import budget_status
from quintant.core.clock import timestamp
from quintant.core.errors import ApiError, BadRequest, Conflict, NotFound, TooManyRequests
from quintant.core.object import Opaque, replace
from quintant.core.owner import owned
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, named
from unit.cluster.controllers.service_samples import LABELS, pod, seen, started

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def budget(name: str = "b", **spec: Any) -> PodDisruptionBudget:
    given = {"selector": LabelSelector(match_labels=LABELS), **spec}
    return PodDisruptionBudget(
        metadata=named(name, generation=1), spec=PodDisruptionBudgetSpec(**given)
    )


@pytest.mark.parametrize(
    ("least", "most", "healthy", "expected", "desired", "allowed"),
    [
        (2, None, 3, 3, 2, 1),
        (3, None, 3, 3, 3, 0),
        (3, None, 2, 3, 3, 0),
        (0, None, 2, 3, 0, 2),
        ("30%", None, 4, 4, 2, 2),
        ("100%", None, 4, 4, 4, 0),
        (None, 1, 4, 4, 3, 1),
        (None, "30%", 4, 4, 2, 2),
        (None, 9, 4, 4, 0, 4),
        (None, 1, 4, 0, 0, 0),
    ],
)
def test_budget_spares_what_is_healthy_beyond_need(
    least: IntOrString | None,
    most: IntOrString | None,
    healthy: int,
    expected: int,
    desired: int,
    allowed: int,
) -> None:
    pods = [seen(pod(f"p{at}", f"10.0.0.{at + 1}")) for at in range(healthy)]
    status = budget_status(budget(min_available=least, max_unavailable=most), pods, expected, NOW)
    assert (status.desired_healthy, status.disruptions_allowed) == (desired, allowed)
    assert (status.current_healthy, status.expected_pods) == (healthy, expected)
    (condition,) = status.conditions
    assert (condition.type, condition.status) == ("DisruptionAllowed", str(allowed > 0))


def test_pod_that_was_let_go_counts_no_more_until_that_is_old() -> None:
    pods = [seen(pod("a")), seen(pod("b", "10.0.0.2"))]
    granted = PodDisruptionBudgetStatus(
        disrupted_pods={"a": timestamp(NOW), "gone": timestamp(NOW)}
    )
    made = replace(budget(min_available=1), status=granted)
    status = budget_status(made, pods, 2, NOW + timedelta(seconds=60))
    assert (status.current_healthy, list(status.disrupted_pods)) == (1, ["a"])
    later = budget_status(made, pods, 2, NOW + timedelta(seconds=121))
    assert (later.current_healthy, list(later.disrupted_pods)) == (2, [])


@pytest.fixture
async def controlled(cluster: InProcessCluster) -> InProcessCluster:
    manager = Manager("kube-controller-manager")
    disruption.declare(manager)
    await cluster.run(manager)
    return cluster


async def counted(cluster: InProcessCluster, allowed: int) -> PodDisruptionBudget:
    return await cluster.eventually(
        PodDisruptionBudget,
        "b",
        until=lambda it: (
            it.status.observed_generation == it.metadata.generation
            and it.status.disruptions_allowed == allowed
        ),
    )


async def pods(cluster: InProcessCluster, *ready: bool) -> Sequence[Pod]:
    return [
        await started(cluster, pod(f"p{at}", f"10.0.0.{at + 1}", ready=each))
        for at, each in enumerate(ready)
    ]


async def evict(cluster: InProcessCluster, name: str, **options: Any) -> None:
    found = await cluster.get(Pod, name)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, **options}
    await cluster.client.subresource(found, "eviction").post(body)


async def test_evictions_end_where_the_budget_does(controlled: InProcessCluster) -> None:
    await pods(controlled, True, True, True)
    await controlled.create(budget(min_available=2))
    await counted(controlled, 1)
    await evict(controlled, "p0")
    gone = await controlled.get(Pod, "p0")
    assert gone.deleting
    assert any(each.reason == "EvictionByEvictionAPI" for each in gone.status.conditions)
    with pytest.raises(TooManyRequests, match="would violate the pod's disruption budget"):
        await evict(controlled, "p1")
    after = await counted(controlled, 0)
    assert (after.status.current_healthy, after.status.disrupted_pods) == (2, {})
    await evict(controlled, "p0")


async def test_budget_that_nobody_counted_yet_grants_nothing(cluster: InProcessCluster) -> None:
    await pods(cluster, True)
    await cluster.create(budget(min_available=0))
    with pytest.raises(TooManyRequests) as refused:
        await evict(cluster, "p0")
    assert refused.value.retry_after == 10


async def test_two_evictions_cannot_spend_the_same(cluster: InProcessCluster) -> None:
    await pods(cluster, True, True)
    made = await cluster.create(budget(min_available=1))
    status = PodDisruptionBudgetStatus(
        observed_generation=1, disruptions_allowed=1, current_healthy=2, desired_healthy=1,
        expected_pods=2,
    )  # fmt: skip
    await cluster.client.set_status(made, status)
    await evict(cluster, "p0")
    with pytest.raises(TooManyRequests):
        await evict(cluster, "p1")
    assert list((await cluster.get(PodDisruptionBudget, "b")).status.disrupted_pods) == ["p0"]


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
async def test_pod_that_does_not_run_may_always_go(
    controlled: InProcessCluster, phase: str
) -> None:
    await started(controlled, pod("idle", ready=False, phase=phase))
    await controlled.create(budget(min_available=5))
    await counted(controlled, 0)
    await evict(controlled, "idle")


@pytest.mark.parametrize(
    ("least", "policy", "goes"),
    [(2, None, True), (3, None, False), (3, "AlwaysAllow", True), (3, "IfHealthyBudget", False)],
)
async def test_unhealthy_pod_goes_if_policy_or_the_others_health_allow(
    controlled: InProcessCluster, least: int, policy: str | None, goes: bool
) -> None:
    await pods(controlled, True, True, False)
    await controlled.create(budget(min_available=least, unhealthy_pod_eviction_policy=policy))
    await counted(controlled, 0)
    if goes:
        await evict(controlled, "p2")
    else:
        with pytest.raises(TooManyRequests):
            await evict(controlled, "p2")


async def test_two_budgets_are_one_too_many(controlled: InProcessCluster) -> None:
    await pods(controlled, True)
    await controlled.create(budget(min_available=0))
    await controlled.create(budget("second", min_available=0))
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget"):
        await evict(controlled, "p0")


async def test_dry_run_changes_nothing(controlled: InProcessCluster) -> None:
    await pods(controlled, True)
    await controlled.create(budget(min_available=0))
    before = await counted(controlled, 1)
    await evict(controlled, "p0", deleteOptions={"dryRun": ["All"]})
    assert not (await controlled.get(Pod, "p0")).deleting
    assert await counted(controlled, 1) == before


async def test_preconditions_are_checked_before_anything_is_spent(
    controlled: InProcessCluster,
) -> None:
    await pods(controlled, True)
    await controlled.create(budget(min_available=0))
    before = await counted(controlled, 1)
    for wrong in ({"uid": "00000000-0000-0000-0000-000000000001"}, {"resourceVersion": "1"}):
        with pytest.raises(Conflict):
            await evict(controlled, "p0", deleteOptions={"preconditions": wrong})
    assert await counted(controlled, 1) == before


async def test_eviction_names_its_pod(cluster: InProcessCluster) -> None:
    (made,) = await pods(cluster, True)
    with pytest.raises(BadRequest, match="name in URL does not match name in Eviction object"):
        await cluster.client.subresource(made, "eviction").post({"metadata": {"name": "other"}})
    nobody = replace(made, metadata=replace(made.metadata, name="nobody"))
    with pytest.raises(NotFound):
        await cluster.client.subresource(nobody, "eviction").post({"metadata": {"name": "nobody"}})


async def test_percentages_are_of_what_controllers_want(controlled: InProcessCluster) -> None:
    inner = {"containers": [{"name": "main", "image": "image"}]}
    template = Opaque.of({"metadata": {"labels": LABELS}, "spec": inner})
    spec = ReplicaSetSpec(
        replicas=4, selector=LabelSelector(match_labels=LABELS), template=template
    )
    owner = await controlled.create(ReplicaSet(metadata=named("rs"), spec=spec))
    for at in range(3):
        await started(controlled, owned(pod(f"p{at}", f"10.0.0.{at + 1}"), by=owner))
    await controlled.create(budget(max_unavailable="30%"))
    found = await counted(controlled, 1)
    assert (found.status.expected_pods, found.status.desired_healthy) == (4, 2)


async def test_pods_of_nobody_cannot_be_a_percentage(controlled: InProcessCluster) -> None:
    await pods(controlled, True)
    await controlled.create(budget(min_available="10%"))
    found = await counted(controlled, 0)
    assert found.status.expected_pods == 0
