"""Budgets are counted by a controller, and asked by the server when a pod shall be evicted."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import READY, UNREADY, WAITING
from conformance.workloads import told
from unit.cluster.api import JsonObject

POLICY = "policy/v1"
BUDGETS = "poddisruptionbudgets"
NOBODY = "00000000-0000-0000-0000-000000000001"


def pod(name: str) -> JsonObject:
    return {
        "metadata": {"name": name, "labels": {"app": "a", "pod": name}},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
    }


def budget(name: str = "b", **spec: Any) -> JsonObject:
    return {
        "apiVersion": POLICY,
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, **spec},
    }


async def running(cluster: ControllerCluster, *names: str, phase: str = "Running") -> None:
    for name in names:
        await cluster.create(cluster.path("pods"), pod(name))
    for name in names:
        await cluster.until("pods", name, lambda it: it["status"].get("phase") == phase)


async def counted(cluster: ControllerCluster, **numbers: int) -> JsonObject:
    """The budget's status, as soon as it says this."""

    def says(it: JsonObject) -> bool:
        status = it.get("status") or {}
        current = status.get("observedGeneration") == it["metadata"]["generation"]
        return current and all(status[name] == number for name, number in numbers.items())

    found: JsonObject = (await cluster.until(BUDGETS, "b", says, api=POLICY))["status"]
    return found


async def made(cluster: ControllerCluster, **spec: Any) -> None:
    await cluster.create(cluster.path(BUDGETS, api=POLICY), budget(**spec))


async def evict(cluster: ControllerCluster, name: str, code: int = 201, **more: Any) -> JsonObject:
    query = {key: more.pop(key) for key in ("dryRun",) if key in more}
    body = {"apiVersion": POLICY, "kind": "Eviction", "metadata": {"name": name}, **more}
    path = cluster.path("pods", name, sub="eviction")
    return await cluster.create(path, body, code=code, **query)


def cause(answer: JsonObject) -> str:
    assert (answer["code"], answer["reason"]) == (429, "TooManyRequests")
    assert answer["message"] == (
        "Cannot evict pod as it would violate the pod's disruption budget."
    )
    (found,) = answer["details"]["causes"]
    assert found["reason"] == "DisruptionBudget"
    message: str = found["message"]
    return message


async def test_budget_is_counted(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNREADY, pod="c")
    await running(cluster, "a", "b", "c")
    await made(cluster, minAvailable=2)
    status = await counted(cluster, currentHealthy=2, desiredHealthy=2, expectedPods=3)
    assert status["disruptionsAllowed"] == 0
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "DisruptionAllowed", "False", "InsufficientPods",
    )  # fmt: skip
    cluster.kubelet.let(READY, pod="c")
    status = await counted(cluster, currentHealthy=3, disruptionsAllowed=1)
    (condition,) = status["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "SufficientPods")


async def test_budget_of_nobody_says_so(cluster: ControllerCluster) -> None:
    await made(cluster, minAvailable=1)
    assert await told(cluster, "b", "NoPods", 1) == ["No matching pods found"]


async def test_eviction_is_refused_until_the_budget_changes(cluster: ControllerCluster) -> None:
    await running(cluster, "a", "b")
    await made(cluster, minAvailable=2)
    await counted(cluster, currentHealthy=2)
    answer = await evict(cluster, "a", 429)
    assert cause(answer) == "The disruption budget b needs 2 healthy pods and has 2 currently"
    await cluster.merge(cluster.path(BUDGETS, "b", POLICY), {"spec": {"minAvailable": 1}})
    await counted(cluster, disruptionsAllowed=1)
    answer = await evict(cluster, "a")
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    await cluster.until_gone("pods", "a")
    await counted(cluster, currentHealthy=1, disruptionsAllowed=0)
    cause(await evict(cluster, "b", 429))


async def test_evicted_pod_says_why(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(WAITING)
    await running(cluster, "a", phase="Pending")
    await cluster.until("pods", "a", lambda it: it["spec"].get("nodeName"))
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    await cluster.merge(cluster.path("pods", "a"), hold)
    await evict(cluster, "a")
    found = await cluster.get(cluster.path("pods", "a"))
    assert found["metadata"]["deletionTimestamp"]
    told = {each["type"]: each for each in found["status"]["conditions"]}["DisruptionTarget"]
    assert (told["status"], told["reason"], told["message"]) == (
        "True", "EvictionByEvictionAPI", "Eviction API: evicting",
    )  # fmt: skip
    await cluster.merge(cluster.path("pods", "a"), {"metadata": {"finalizers": None}})


async def test_pods_without_a_budget_go(cluster: ControllerCluster) -> None:
    await running(cluster, "a")
    await evict(cluster, "a")
    await cluster.until_gone("pods", "a")


@pytest.mark.parametrize(
    ("least", "policy", "code"),
    [(2, "IfHealthyBudget", 201), (3, "IfHealthyBudget", 429), (3, "AlwaysAllow", 201)],
)
async def test_unhealthy_pods_go_by_policy(
    cluster: ControllerCluster, least: int, policy: str, code: int
) -> None:
    cluster.kubelet.let(UNREADY, pod="c")
    await running(cluster, "a", "b", "c")
    await made(cluster, minAvailable=least, unhealthyPodEvictionPolicy=policy)
    await counted(cluster, currentHealthy=2, expectedPods=3)
    await evict(cluster, "c", code)


async def test_dry_run_spends_nothing(cluster: ControllerCluster) -> None:
    await running(cluster, "a", "b")
    await made(cluster, minAvailable=1)
    before = await counted(cluster, disruptionsAllowed=1)
    await evict(cluster, "a", dryRun="All")
    await evict(cluster, "a", deleteOptions={"dryRun": ["All"]})
    assert "deletionTimestamp" not in (await cluster.get(cluster.path("pods", "a")))["metadata"]
    assert await counted(cluster, disruptionsAllowed=1) == before


@pytest.mark.parametrize("wrong", [{"uid": NOBODY}, {"resourceVersion": "1"}], ids=str)
async def test_preconditions(cluster: ControllerCluster, wrong: JsonObject) -> None:
    await running(cluster, "a")
    answer = await evict(cluster, "a", 409, deleteOptions={"preconditions": wrong})
    assert (answer["reason"], answer["details"]["kind"]) == ("Conflict", "Pod")
    found = await cluster.get(cluster.path("pods", "a"))
    right = {name: found["metadata"][name] for name in wrong}
    await evict(cluster, "a", deleteOptions={"preconditions": right})


async def test_two_budgets_are_one_too_many(cluster: ControllerCluster) -> None:
    await running(cluster, "a")
    await made(cluster, minAvailable=0)
    await made(cluster, name="second", minAvailable=0)
    answer = await evict(cluster, "a", 500)
    assert answer["message"] == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support."
    )
    assert "reason" not in answer


async def test_eviction_names_its_pod(cluster: ControllerCluster) -> None:
    await running(cluster, "a")
    path = cluster.path("pods", "a", sub="eviction")
    body = {"apiVersion": POLICY, "kind": "Eviction", "metadata": {"name": "b"}}
    answer = await cluster.create(path, body, code=400)
    assert answer["message"] == "name in URL does not match name in Eviction object"
    assert (await evict(cluster, "nobody", 404))["details"]["kind"] == "pods"


async def test_percentages_are_of_what_controllers_want(cluster: ControllerCluster) -> None:
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
    }
    spec = {"replicas": 4, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    await cluster.create(
        cluster.path("replicasets", api="apps/v1"), {"metadata": {"name": "rs"}, "spec": spec}
    )
    await made(cluster, maxUnavailable="30%")
    await counted(cluster, currentHealthy=4, desiredHealthy=2, expectedPods=4)
    await cluster.merge(
        cluster.path(BUDGETS, "b", POLICY),
        {"spec": {"maxUnavailable": None, "minAvailable": "30%"}},
    )
    await counted(cluster, currentHealthy=4, desiredHealthy=2, expectedPods=4)


async def test_pods_of_nobody_cannot_be_a_percentage(cluster: ControllerCluster) -> None:
    await running(cluster, "a")
    await made(cluster, minAvailable="10%")
    await counted(cluster, expectedPods=0, disruptionsAllowed=0, currentHealthy=1)
    assert (await cluster.told("b", "UnmanagedPods"))["type"] == "Warning"
    answer = await evict(cluster, "a", 429)
    assert cause(answer) == "The disruption budget b does not allow evicting pods currently"
