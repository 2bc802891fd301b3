"""The scheduler at work: pods get nodes, or are told why they get none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.component.component import run_component
from quintant.cluster.scheduler import scheduler
from quintant.cluster.scheduler.volume_binding import SELECTED_NODE
from quintant.core.clock import LoopClock, Random
from unit.cluster.api import PODS, Api, JsonObject, server

NODES = "/api/v1/nodes"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
EVENTS = "/api/v1/namespaces/default/events"


@asynccontextmanager
async def scheduled() -> AsyncIterator[Api]:
    """A server with roles, and the scheduler at work under its own."""
    served = server(rbac=True)
    served.tokens.add("admin", admin())
    async with run_component(served, scheduler(), LoopClock(), Random(0)):
        yield Api(served, "admin")


def node(name: str, cpu: str = "4", **spec: Any) -> JsonObject:
    has = {"cpu": cpu, "memory": "8Gi", "pods": "10"}
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"metadata": meta, "spec": spec, "status": {"allocatable": has, "capacity": has}}


def pod(name: str, cpu: str = "1", **spec: Any) -> JsonObject:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


async def settled(seconds: float = 0.5) -> None:
    await asyncio.sleep(seconds)


async def where(api: Api, name: str) -> str:
    found: str = (await api.get(f"{PODS}/{name}"))["spec"].get("nodeName", "")
    return found


async def condition(api: Api, name: str) -> JsonObject:
    status = (await api.get(f"{PODS}/{name}"))["status"]
    found: list[JsonObject] = status.get("conditions", [])
    return next((each for each in found if each["type"] == "PodScheduled"), {})


async def test_pod_is_bound_to_a_node_that_fits() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("small", cpu="500m"))
        await api.create(NODES, node("large"))
        await api.create(PODS, pod("p"))
        await settled()
        assert await where(api, "p") == "large"
        assert (await condition(api, "p"))["status"] == "True"
        events = (await api.get(EVENTS))["items"]
        told = [(each["reason"], each["message"]) for each in events]
        assert told == [("Scheduled", "Successfully assigned default/p to large")]
        assert events[0]["reportingComponent"] == "default-scheduler"


async def test_pods_spread_over_equal_nodes() -> None:
    async with scheduled() as api:
        for name in "abcd":
            await api.create(NODES, node(name))
        for number in range(8):
            await api.create(PODS, pod(f"p{number}"))
        await settled()
        placed = [await where(api, f"p{number}") for number in range(8)]
        assert sorted(placed) == [*"aabbccdd"]


async def test_pod_without_a_node_is_told_why() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a", cpu="500m"))
        await api.create(NODES, node("b", unschedulable=True))
        await api.create(PODS, pod("p"))
        await settled()
        said = await condition(api, "p")
        assert (said["status"], said["reason"]) == ("False", "Unschedulable")
        assert said["message"] == (
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. "
            "no new claims to deallocate, preemption: 0/2 nodes are available: "
            "2 Preemption is not helpful for scheduling."
        )
        events = (await api.get(EVENTS))["items"]
        assert [each["reason"] for each in events] == ["FailedScheduling"]


async def test_waiting_pod_is_placed_when_a_node_comes() -> None:
    async with scheduled() as api:
        await api.create(PODS, pod("p"))
        await settled()
        assert (await condition(api, "p"))["message"] == "no nodes available to schedule pods"
        await api.create(NODES, node("a"))
        await settled(2)
        assert await where(api, "p") == "a"


async def test_waiting_pod_is_placed_when_another_leaves() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a", cpu="1"))
        await api.create(PODS, pod("first"))
        await settled()
        await api.create(PODS, pod("second"))
        await settled()
        assert await where(api, "second") == ""
        await api.delete(f"{PODS}/first", gracePeriodSeconds="0")
        await settled(2)
        assert await where(api, "second") == "a"


async def test_waiting_pod_is_not_tried_when_nothing_helps() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a", cpu="500m"))
        await api.create(PODS, pod("p"))
        await settled()
        before = (await api.get(f"{PODS}/p"))["metadata"]["resourceVersion"]
        await settled(200)
        assert (await api.get(f"{PODS}/p"))["metadata"]["resourceVersion"] == before


async def test_more_important_pod_comes_first() -> None:
    async with scheduled() as api:
        await api.create(PODS, pod("common"))
        await api.create(PODS, pod("vital", priorityClassName="system-node-critical"))
        await settled()
        await api.create(NODES, node("a", cpu="1"))
        await settled(2)
        assert await where(api, "vital") == "a"
        assert await where(api, "common") == ""


async def test_less_important_pod_makes_room() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a", cpu="1"))
        await api.create(PODS, pod("common"))
        await settled()
        await api.create(PODS, pod("vital", priorityClassName="system-node-critical"))
        await settled()
        leaving = await api.get(f"{PODS}/common")
        assert leaving["metadata"]["deletionTimestamp"]
        target = [
            each for each in leaving["status"]["conditions"] if each["type"] == "DisruptionTarget"
        ]
        assert target[0]["reason"] == "PreemptionByScheduler"
        waiting = await api.get(f"{PODS}/vital")
        assert waiting["status"]["nominatedNodeName"] == "a"
        assert await where(api, "vital") == ""
        await api.delete(f"{PODS}/common", gracePeriodSeconds="0")
        await settled(2)
        assert await where(api, "vital") == "a"


async def test_place_of_a_pod_that_others_leave_for_is_not_given_away() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a", cpu="1"))
        await api.create(PODS, pod("common"))
        await settled()
        await api.create(PODS, pod("vital", priorityClassName="system-node-critical"))
        await settled()
        await api.create(PODS, pod("greedy", priorityClassName="system-cluster-critical"))
        await settled()
        await api.delete(f"{PODS}/common", gracePeriodSeconds="0")
        await settled(20)
        assert await where(api, "vital") == "a"
        assert await where(api, "greedy") == ""


async def test_pods_of_other_schedulers_are_left_alone_and_counted() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a", cpu="1"))
        await api.create(PODS, pod("theirs", schedulerName="another"))
        await api.create(PODS, pod("placed", schedulerName="another", nodeName="a"))
        await api.create(PODS, pod("ours"))
        await settled()
        assert await where(api, "theirs") == ""
        assert (await condition(api, "ours"))["reason"] == "Unschedulable"


async def test_gated_pod_waits_until_its_gate_opens() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a"))
        await api.create(PODS, pod("p", schedulingGates=[{"name": "example.com/wait"}]))
        await settled()
        assert await where(api, "p") == ""
        assert (await condition(api, "p"))["reason"] == "SchedulingGated"
        more = [{"name": "example.com/wait"}, {"name": "example.com/more"}]
        await api.merge(f"{PODS}/p", {"spec": {"schedulingGates": more}}, code=422)
        await api.merge(f"{PODS}/p", {"spec": {"schedulingGates": None}})
        await settled()
        assert await where(api, "p") == "a"


async def test_missing_claim_holds_a_pod_back() -> None:
    async with scheduled() as api:
        await api.create(NODES, node("a"))
        await api.create(PODS, pod("p", volumes=[claimed("data")]))
        await settled()
        told = (await condition(api, "p"))["message"]
        assert told.startswith('0/1 nodes are available: persistentvolumeclaim "data" not found.')


async def test_claim_that_waits_hears_of_the_node_and_the_pod_follows_its_volume() -> None:
    async with scheduled() as api:
        wait = {"provisioner": "x", "volumeBindingMode": "WaitForFirstConsumer"}
        await api.create(CLASSES, {"metadata": {"name": "slow"}, **wait})
        await api.create(NODES, node("a"))
        await api.create(CLAIMS, claim("data", "slow"))
        await api.create(PODS, pod("p", volumes=[claimed("data")]))
        await settled()
        asked = await api.get(f"{CLAIMS}/data")
        assert asked["metadata"]["annotations"][SELECTED_NODE] == "a"
        assert await where(api, "p") == ""
        await api.create(VOLUMES, volume("v"))
        await api.merge(f"{CLAIMS}/data", {"spec": {"volumeName": "v"}})
        await api.merge(f"{CLAIMS}/data/status", {"status": {"phase": "Bound"}})
        await settled()
        assert await where(api, "p") == "a"


def claimed(name: str) -> JsonObject:
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def claim(name: str, storage_class: str) -> JsonObject:
    asked = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class, "resources": asked}
    return {"metadata": {"name": name}, "spec": spec}


def volume(name: str) -> JsonObject:
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"},
    }
    return {"metadata": {"name": name}, "spec": spec}
