"""Budgets are counted by a controller, and asked by the server when a pod shall be evicted."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kubelet import READY, UNREADY, WAITING
from conformance.workloads import told
from conformance.workshop import Workshop
from unit.cluster.api import Plain

POLICY = "policy/v1"
BUDGETS = "poddisruptionbudgets"
NOBODY = "00000000-0000-0000-0000-000000000001"


def pod(name: str) -> Plain:
    return {
        "metadata": {"name": name, "labels": {"app": "a", "pod": name}},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
    }


def budget(name: str = "b", **spec: Any) -> Plain:
    return {
        "apiVersion": POLICY,
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, **spec},
    }


async def running(workshop: Workshop, *names: str, phase: str = "Running") -> None:
    for name in names:
        await workshop.create(workshop.path("pods"), pod(name))
    for name in names:
        await workshop.until("pods", name, lambda it: it["status"].get("phase") == phase)


async def counted(workshop: Workshop, **numbers: int) -> Plain:
    """The budget's status, as soon as it says this."""

    def says(it: Plain) -> bool:
        status = it.get("status") or {}
        current = status.get("observedGeneration") == it["metadata"]["generation"]
        return current and all(status[name] == number for name, number in numbers.items())

    found: Plain = (await workshop.until(BUDGETS, "b", says, api=POLICY))["status"]
    return found


async def made(workshop: Workshop, **spec: Any) -> None:
    await workshop.create(workshop.path(BUDGETS, api=POLICY), budget(**spec))


async def evict(workshop: Workshop, name: str, code: int = 201, **more: Any) -> Plain:
    query = {key: more.pop(key) for key in ("dryRun",) if key in more}
    body = {"apiVersion": POLICY, "kind": "Eviction", "metadata": {"name": name}, **more}
    path = workshop.path("pods", name, sub="eviction")
    return await workshop.create(path, body, code=code, **query)


def cause(answer: Plain) -> str:
    assert (answer["code"], answer["reason"]) == (429, "TooManyRequests")
    assert answer["message"] == (
        "Cannot evict pod as it would violate the pod's disruption budget."
    )
    (found,) = answer["details"]["causes"]
    assert found["reason"] == "DisruptionBudget"
    message: str = found["message"]
    return message


async def test_146_budget_is_counted(workshop: Workshop) -> None:
    workshop.kubelet.let(UNREADY, pod="c")
    await running(workshop, "a", "b", "c")
    await made(workshop, minAvailable=2)
    status = await counted(workshop, currentHealthy=2, desiredHealthy=2, expectedPods=3)
    assert status["disruptionsAllowed"] == 0
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "DisruptionAllowed", "False", "InsufficientPods",
    )  # fmt: skip
    workshop.kubelet.let(READY, pod="c")
    status = await counted(workshop, currentHealthy=3, disruptionsAllowed=1)
    (condition,) = status["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "SufficientPods")


async def test_146_budget_of_nobody_says_so(workshop: Workshop) -> None:
    await made(workshop, minAvailable=1)
    assert await told(workshop, "b", "NoPods", 1) == ["No matching pods found"]


async def test_146_eviction_is_refused_until_the_budget_changes(workshop: Workshop) -> None:
    await running(workshop, "a", "b")
    await made(workshop, minAvailable=2)
    await counted(workshop, currentHealthy=2)
    answer = await evict(workshop, "a", 429)
    assert cause(answer) == "The disruption budget b needs 2 healthy pods and has 2 currently"
    await workshop.merge(workshop.path(BUDGETS, "b", POLICY), {"spec": {"minAvailable": 1}})
    await counted(workshop, disruptionsAllowed=1)
    answer = await evict(workshop, "a")
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    await workshop.until_gone("pods", "a")
    await counted(workshop, currentHealthy=1, disruptionsAllowed=0)
    cause(await evict(workshop, "b", 429))


async def test_146_evicted_pod_says_why(workshop: Workshop) -> None:
    workshop.kubelet.let(WAITING)
    await running(workshop, "a", phase="Pending")
    await workshop.until("pods", "a", lambda it: it["spec"].get("nodeName"))
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    await workshop.merge(workshop.path("pods", "a"), hold)
    await evict(workshop, "a")
    found = await workshop.get(workshop.path("pods", "a"))
    assert found["metadata"]["deletionTimestamp"]
    told = {each["type"]: each for each in found["status"]["conditions"]}["DisruptionTarget"]
    assert (told["status"], told["reason"], told["message"]) == (
        "True", "EvictionByEvictionAPI", "Eviction API: evicting",
    )  # fmt: skip
    await workshop.merge(workshop.path("pods", "a"), {"metadata": {"finalizers": None}})


async def test_146_pods_without_a_budget_go(workshop: Workshop) -> None:
    await running(workshop, "a")
    await evict(workshop, "a")
    await workshop.until_gone("pods", "a")


@pytest.mark.parametrize(
    ("least", "policy", "code"),
    [(2, "IfHealthyBudget", 201), (3, "IfHealthyBudget", 429), (3, "AlwaysAllow", 201)],
)
async def test_146_unhealthy_pods_go_by_policy(
    workshop: Workshop, least: int, policy: str, code: int
) -> None:
    workshop.kubelet.let(UNREADY, pod="c")
    await running(workshop, "a", "b", "c")
    await made(workshop, minAvailable=least, unhealthyPodEvictionPolicy=policy)
    await counted(workshop, currentHealthy=2, expectedPods=3)
    await evict(workshop, "c", code)


async def test_146_dry_run_spends_nothing(workshop: Workshop) -> None:
    await running(workshop, "a", "b")
    await made(workshop, minAvailable=1)
    before = await counted(workshop, disruptionsAllowed=1)
    await evict(workshop, "a", dryRun="All")
    await evict(workshop, "a", deleteOptions={"dryRun": ["All"]})
    assert "deletionTimestamp" not in (await workshop.get(workshop.path("pods", "a")))["metadata"]
    assert await counted(workshop, disruptionsAllowed=1) == before


@pytest.mark.parametrize("wrong", [{"uid": NOBODY}, {"resourceVersion": "1"}], ids=str)
async def test_146_preconditions(workshop: Workshop, wrong: Plain) -> None:
    await running(workshop, "a")
    answer = await evict(workshop, "a", 409, deleteOptions={"preconditions": wrong})
    assert (answer["reason"], answer["details"]["kind"]) == ("Conflict", "Pod")
    found = await workshop.get(workshop.path("pods", "a"))
    right = {name: found["metadata"][name] for name in wrong}
    await evict(workshop, "a", deleteOptions={"preconditions": right})


async def test_146_two_budgets_are_one_too_many(workshop: Workshop) -> None:
    await running(workshop, "a")
    await made(workshop, minAvailable=0)
    await made(workshop, name="second", minAvailable=0)
    answer = await evict(workshop, "a", 500)
    assert answer["message"] == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support."
    )
    assert "reason" not in answer


async def test_146_eviction_names_its_pod(workshop: Workshop) -> None:
    await running(workshop, "a")
    path = workshop.path("pods", "a", sub="eviction")
    body = {"apiVersion": POLICY, "kind": "Eviction", "metadata": {"name": "b"}}
    answer = await workshop.create(path, body, code=400)
    assert answer["message"] == "name in URL does not match name in Eviction object"
    assert (await evict(workshop, "nobody", 404))["details"]["kind"] == "pods"


async def test_146_percentages_are_of_what_controllers_want(workshop: Workshop) -> None:
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
    }
    spec = {"replicas": 4, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    await workshop.create(
        workshop.path("replicasets", api="apps/v1"), {"metadata": {"name": "rs"}, "spec": spec}
    )
    await made(workshop, maxUnavailable="30%")
    await counted(workshop, currentHealthy=4, desiredHealthy=2, expectedPods=4)
    await workshop.merge(
        workshop.path(BUDGETS, "b", POLICY),
        {"spec": {"maxUnavailable": None, "minAvailable": "30%"}},
    )
    await counted(workshop, currentHealthy=4, desiredHealthy=2, expectedPods=4)


async def test_146_pods_of_nobody_cannot_be_a_percentage(workshop: Workshop) -> None:
    await running(workshop, "a")
    await made(workshop, minAvailable="10%")
    await counted(workshop, expectedPods=0, disruptionsAllowed=0, currentHealthy=1)
    assert (await workshop.told("b", "UnmanagedPods"))["type"] == "Warning"
    answer = await evict(workshop, "a", 429)
    assert cause(answer) == "The disruption budget b does not allow evicting pods currently"
