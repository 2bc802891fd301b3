"""Simulated nodes say how they are, keep their leases, and fail when they are told to."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.common.node_heartbeat import RENEW_SECONDS, HeartbeatTimes
from quintant.cluster.component.component import Component
from quintant.cluster.controllers.nodes import declare
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.nodes import NodeLeaseController
from quintant.core.clock import LoopClock
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.testing.faults.match import verb
from quintant.testing.faults.transport import FaultTransport
from unit.cluster.api import PODS, Api, JsonObject, server
from unit.cluster.simulated.simulated_cluster import (
    LEASES,
    NODES,
    condition,
    phase,
    pod,
    read,
    simulated,
)

ZONE = "topology.kubernetes.io/zone"


async def fail(api: Api, name: str, fault: str | None) -> None:
    notes: dict[str, Any] = {"simulated.quintant.dev/fault": fault}
    await api.merge(f"{NODES}/{name}", {"metadata": {"annotations": notes}})


async def lease(api: Api, name: str) -> str:
    found: str = (await api.get(f"{LEASES}/{name}"))["spec"]["renewTime"]
    return found


async def test_fleet_is_ready_and_spread_over_zones() -> None:
    async with simulated(nodes=6) as api:
        await asyncio.sleep(1)
        found = (await api.get(NODES))["items"]
        assert [each["metadata"]["name"] for each in found] == [
            f"sim-000{number}" for number in range(1, 7)
        ]
        zones = [each["metadata"]["labels"][ZONE] for each in found]
        assert zones == ["zone-a", "zone-b", "zone-c"] * 2
        assert {condition(each, "Ready") for each in found} == {"True"}
        assert all(each["status"]["allocatable"]["pods"] == "110" for each in found)


async def test_leases_are_renewed_every_ten_seconds() -> None:
    async with simulated(nodes=3) as api:
        await asyncio.sleep(2)
        seen = [await lease(api, "sim-0002")]
        for _ in range(3):
            await asyncio.sleep(10)
            seen.append(await lease(api, "sim-0002"))
        assert len(set(seen)) == 4
        owner = (await api.get(f"{LEASES}/sim-0002"))["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"]) == ("Node", "sim-0002")


async def test_node_with_the_label_is_simulated_whoever_made_it() -> None:
    async with simulated(nodes=0) as api:
        has = {"cpu": "1", "memory": "1Gi", "pods": "5"}
        made: JsonObject = {
            "metadata": {"name": "mine", "labels": {"simulated.quintant.dev/node": "true"}},
            "status": {"capacity": has, "allocatable": has},
        }
        await api.create(NODES, made)
        await asyncio.sleep(2)
        found = await api.get(f"{NODES}/mine")
        assert condition(found, "Ready") == "True"
        assert found["status"]["capacity"] == has
        assert await lease(api, "mine")


async def test_dead_node_is_silent_and_its_pods_start_anew_when_it_is_back() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p"))
        await asyncio.sleep(5)
        await fail(api, "sim-0001", "dead")
        await asyncio.sleep(1)
        before = await lease(api, "sim-0001")
        await api.delete(f"{PODS}/p")
        await asyncio.sleep(60)
        assert await lease(api, "sim-0001") == before
        assert (await read(api, "p"))["metadata"]["deletionTimestamp"]
        await fail(api, "sim-0001", None)
        await asyncio.sleep(15)
        assert await lease(api, "sim-0001") != before
        await api.get(f"{PODS}/p", code=404)


async def test_pods_of_a_node_that_was_off_were_restarted() -> None:
    async with simulated() as api:
        await api.create(PODS, pod("p"))
        await asyncio.sleep(5)
        for fault, restarts in (("dead", 1), ("partitioned", 1)):
            await fail(api, "sim-0001", fault)
            await asyncio.sleep(30)
            await fail(api, "sim-0001", None)
            await asyncio.sleep(5)
            (container,) = (await read(api, "p"))["status"]["containerStatuses"]
            assert container["restartCount"] == restarts


async def test_pod_does_not_start_on_a_node_that_is_cut_off() -> None:
    async with simulated() as api:
        await fail(api, "sim-0001", "partitioned")
        await api.create(PODS, pod("p", nodeName="sim-0001"))
        await asyncio.sleep(60)
        assert await phase(api, "p") == "Pending"


async def test_node_says_itself_that_it_is_not_ready() -> None:
    async with simulated() as api:
        await fail(api, "sim-0001", "not-ready")
        await asyncio.sleep(1)
        assert condition(await api.get(f"{NODES}/sim-0001"), "Ready") == "False"
        await fail(api, "sim-0001", "full")
        await asyncio.sleep(1)
        found = await api.get(f"{NODES}/sim-0001")
        assert condition(found, "Ready") == "True"
        assert condition(found, "MemoryPressure") == "True"


@pytest.mark.parametrize("fault", ["not-ready", "dead", "partitioned"])
async def test_pods_are_ready_again_when_their_node_is(fault: str) -> None:
    async with simulated(others=(_node_controller(),)) as api:
        tolerant = [{"operator": "Exists"}]
        await api.create(PODS, pod("p", tolerations=tolerant))
        await asyncio.sleep(5)
        await fail(api, "sim-0001", fault)
        await asyncio.sleep(120)
        assert condition(await read(api, "p"), "Ready") == "False"
        await fail(api, "sim-0001", None)
        await asyncio.sleep(60)
        assert condition(await api.get(f"{NODES}/sim-0001"), "Ready") == "True"
        assert condition(await read(api, "p"), "Ready") == "True"


def _node_controller() -> Component:
    manager = Manager("nodes")
    declare(manager)
    return Component(manager)


async def test_leases_are_renewed_in_time_however_long_a_renewal_takes() -> None:
    """A dead node would be given up early if its lease was old before it died."""
    served, count = server(), 200
    slow = FaultTransport(InProcessTransport(served))
    # Of ten seconds, renewals take eight.
    slow.delay(0.8 * RENEW_SECONDS / count, when=verb("patch"))
    heart = NodeLeaseController(Fleet(count), LoopClock())
    with suppress(TimeoutError):
        async with asyncio.timeout(100):
            await heart(Client(Rest(slow), manager="heart"))
    renewed: dict[str, list[float]] = {}
    for sent in slow.calls:
        if sent.verb == "patch":
            renewed.setdefault(sent.call.path, []).append(sent.at)
    assert len(renewed) == count
    gaps = [then - at for times in renewed.values() for at, then in pairwise(times)]
    # The first round, in which the leases are made, takes longer.
    assert max(gaps) < 2 * RENEW_SECONDS
    late = [gap for times in renewed.values() for gap in pairwise(times[3:])]
    assert max(then - at for at, then in late) < RENEW_SECONDS + 2


class Seldom(HeartbeatTimes, frozen=True):
    """Nodes that say how they are every twenty minutes."""

    @property
    def report(self) -> float:
        return 1200.0


async def test_a_node_that_is_as_it_was_reports_as_often_as_it_is_told_to() -> None:
    assert await reports(HeartbeatTimes()) == 12
    assert await reports(Seldom()) == 3


async def reports(times: HeartbeatTimes) -> int:
    """How often a node confirms within an hour how it is."""
    seen = set[str]()
    async with simulated(times=times) as api:
        await asyncio.sleep(1)
        for _ in range(60):
            await asyncio.sleep(60)
            node = await api.get(f"{NODES}/sim-0001")
            conditions = {each["type"]: each for each in node["status"]["conditions"]}
            seen.add(conditions["Ready"]["lastHeartbeatTime"])
    return len(seen) - 1
