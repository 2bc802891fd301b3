"""Nodes that are not heard of are given up, and so are their pods, in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from quintant.cluster.component.component import Component
from quintant.cluster.controllers import nodes
from quintant.cluster.controllers.pods import gc
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import PODS, Api, JsonObject
from unit.cluster.simulated.simulated_cluster import NODES, condition, pod, read, simulated

EVENTS = "/api/v1/namespaces/default/events"


@asynccontextmanager
async def cluster(count: int = 2) -> AsyncIterator[Api]:
    """Simulated nodes, and the controllers that look after nodes."""
    manager = Manager("kube-controller-manager")
    nodes.declare(manager)
    gc.declare(manager)
    async with simulated(count, others=[Component(manager)]) as api:
        await asyncio.sleep(3)
        yield api


async def fail(api: Api, name: str, fault: str | None) -> None:
    notes: dict[str, Any] = {"simulated.quintant.dev/fault": fault}
    await api.merge(f"{NODES}/{name}", {"metadata": {"annotations": notes}})


async def node(api: Api, name: str = "sim-0001") -> JsonObject:
    return await api.get(f"{NODES}/{name}")


def taints(found: JsonObject) -> set[tuple[str, str]]:
    return {(each["key"], each["effect"]) for each in found["spec"].get("taints", ())}


LOST = {
    ("node.kubernetes.io/unreachable", "NoSchedule"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
}


async def test_healthy_nodes_are_left_alone() -> None:
    async with cluster() as api:
        await asyncio.sleep(280)
        before = (await node(api))["metadata"]["resourceVersion"]
        assert condition(await node(api), "Ready") == "True"
        await asyncio.sleep(15)
        assert (await node(api))["metadata"]["resourceVersion"] == before
        assert not taints(await node(api))


async def test_silent_node_becomes_unknown_and_is_tainted() -> None:
    async with cluster() as api:
        await fail(api, "sim-0001", "dead")
        await asyncio.sleep(40)
        assert condition(await node(api), "Ready") == "True"
        await asyncio.sleep(25)
        found = await node(api)
        ready = next(each for each in found["status"]["conditions"] if each["type"] == "Ready")
        assert ready["status"] == "Unknown"
        assert ready["reason"] == "NodeStatusUnknown"
        assert ready["message"] == "Kubelet stopped posting node status."
        assert taints(found) == LOST
        told = [
            each for each in (await api.get(EVENTS))["items"] if each["reason"] == "NodeNotReady"
        ]
        assert [each["message"] for each in told] == ["Node sim-0001 status is now: NodeNotReady"]
        assert not taints(await node(api, "sim-0002"))


async def test_node_that_is_back_loses_its_taints() -> None:
    async with cluster() as api:
        await fail(api, "sim-0001", "partitioned")
        await asyncio.sleep(70)
        await fail(api, "sim-0001", None)
        await asyncio.sleep(15)
        found = await node(api)
        assert condition(found, "Ready") == "True"
        assert not taints(found)


async def test_pods_of_a_lost_node_are_not_ready_and_leave_after_their_toleration() -> None:
    async with cluster() as api:
        patient = [
            {
                "key": "node.kubernetes.io/unreachable",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 30,
            }
        ]
        await api.create(PODS, pod("usual", nodeName="sim-0001"))
        await api.create(PODS, pod("hasty", nodeName="sim-0001", tolerations=patient))
        forever = [{"operator": "Exists"}]
        await api.create(PODS, pod("loyal", nodeName="sim-0001", tolerations=forever))
        await asyncio.sleep(3)
        await fail(api, "sim-0001", "dead")
        await asyncio.sleep(60)
        assert condition(await read(api, "usual"), "Ready") == "False"
        assert "deletionTimestamp" not in (await read(api, "hasty"))["metadata"]
        await asyncio.sleep(40)
        hasty = await read(api, "hasty")
        assert hasty["metadata"]["deletionTimestamp"]
        assert condition(hasty, "DisruptionTarget") == "True"
        assert condition(hasty, "Ready") == "False"
        assert "deletionTimestamp" not in (await read(api, "usual"))["metadata"]
        await asyncio.sleep(300)
        assert (await read(api, "usual"))["metadata"]["deletionTimestamp"]
        assert "deletionTimestamp" not in (await read(api, "loyal"))["metadata"]


async def test_nobody_is_driven_out_when_no_node_is_ready() -> None:
    async with cluster() as api:
        for name in ("sim-0001", "sim-0002"):
            await fail(api, name, "dead")
        await asyncio.sleep(400)
        assert taints(await node(api)) == {("node.kubernetes.io/unreachable", "NoSchedule")}


async def test_pressure_and_cordon_are_taints_too() -> None:
    async with cluster() as api:
        await fail(api, "sim-0001", "full")
        await api.merge(f"{NODES}/sim-0002", {"spec": {"unschedulable": True}})
        await asyncio.sleep(10)
        assert taints(await node(api)) == {("node.kubernetes.io/memory-pressure", "NoSchedule")}
        other = await node(api, "sim-0002")
        assert taints(other) == {("node.kubernetes.io/unschedulable", "NoSchedule")}


async def test_taints_of_others_are_kept() -> None:
    async with cluster() as api:
        own = {"key": "role", "value": "db", "effect": "NoSchedule"}
        await api.merge(f"{NODES}/sim-0001", {"spec": {"taints": [own]}})
        await fail(api, "sim-0001", "not-ready")
        await asyncio.sleep(10)
        assert ("role", "NoSchedule") in taints(await node(api))
        assert ("node.kubernetes.io/not-ready", "NoExecute") in taints(await node(api))
        await fail(api, "sim-0001", None)
        await asyncio.sleep(10)
        assert (await node(api))["spec"]["taints"] == [own]


async def test_node_that_never_spoke_is_given_a_minute() -> None:
    async with cluster() as api:
        await api.create(NODES, {"metadata": {"name": "mute"}})
        await asyncio.sleep(50)
        assert condition(await node(api, "mute"), "Ready") == ""
        await asyncio.sleep(20)
        found = (await node(api, "mute"))["status"]["conditions"]
        assert {each["reason"] for each in found} == {"NodeStatusNeverUpdated"}


async def test_pods_of_a_deleted_node_are_collected() -> None:
    async with cluster() as api:
        await api.create(PODS, pod("p", nodeName="sim-0001"))
        await asyncio.sleep(3)
        await api.delete(f"{NODES}/sim-0001")
        await asyncio.sleep(30)
        await read(api, "p")
        await asyncio.sleep(50)
        await api.get(f"{PODS}/p", code=404)


async def test_pod_on_a_node_out_of_service_goes_at_once() -> None:
    async with cluster() as api:
        await api.create(PODS, pod("p", nodeName="sim-0001"))
        await asyncio.sleep(3)
        await fail(api, "sim-0001", "dead")
        await asyncio.sleep(60)
        out = {"key": "node.kubernetes.io/out-of-service", "value": "x", "effect": "NoExecute"}
        given = (await node(api))["spec"]["taints"]
        await api.merge(f"{NODES}/sim-0001", {"spec": {"taints": [*given, out]}})
        await asyncio.sleep(60)
        await api.get(f"{PODS}/p", code=404)
