"""Several nodes of one machine under virtual time: they come, fail in each way, and go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGKILL

import pytest
import pytest_asyncio

from quintant.api.node import NodeSystemInfo
from quintant.api.quantity import Quantity
from quintant.cluster.common.labels import FAULT, SIMULATED
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.controllers import nodes as node_lifecycle
from quintant.cluster.kubelet.cluster_access import ClusterAccess, Partitionable
from quintant.cluster.kubelet.node_status import NEEDS, MachineInfo
from quintant.cluster.kubelet.process_nodes.controller import ProcessNodes, running_process_nodes
from quintant.core.address import BindAddress
from quintant.core.clock import LoopClock, Random
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import PODS, JsonObject
from unit.cluster.kubelet.world import FakeProcess, World, condition, container, status

NODES = "/api/v1/nodes"
LABELS: JsonObject = {"node.quintant.dev/runs": "processes"}
CAPACITY: JsonObject = {"cpu": "2", "memory": "4Gi", "pods": "10"}
GRACE = 5.0
MOMENT = 0.1
"""What is due happens within it."""


class FakeEndpoint:
    """An address of the API server that nobody dials."""

    def __init__(self) -> None:
        self.connected = True

    def connect(self) -> None:
        self.connected = True

    def disconnect(self) -> None:
        self.connected = False


class Machine(World):
    """A machine with as many nodes as somebody makes."""

    nodes: ProcessNodes

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.endpoints: list[FakeEndpoint] = []

    @asynccontextmanager
    async def at_work_with(self, *names: str) -> AsyncIterator[None]:
        """The nodes, and the controller that looks whether they are heard of."""
        capacity = {"cpu": Quantity("4"), "memory": Quantity("8Gi"), "pods": Quantity("500")}
        machine = MachineInfo("local", "127.0.0.1", capacity, NodeSystemInfo(os_image="here"))
        clock, times = LoopClock(), HeartbeatTimes(GRACE)
        api = BindAddress("127.0.0.1", 7443)
        access = ClusterAccess(
            self.server, api, self._endpoint, lambda _: {}, clock, Random(3), times
        )
        async with running_process_nodes(self.node, machine, access, names) as self.nodes:
            self.server.logs.providers[:] = [self.nodes]
            own, lifecycle = Manager("node:local"), Manager("kube-controller-manager")
            self.nodes.declare(own)
            node_lifecycle.declare(lifecycle, times)
            async with (
                run_component(self.server, Component(own, (), NEEDS), clock, Random(4)),
                run_component(self.server, Component(lifecycle), clock, Random(5)),
            ):
                await asyncio.sleep(MOMENT)
                yield

    @asynccontextmanager
    async def _endpoint(self) -> AsyncIterator[tuple[Partitionable, BindAddress]]:
        made = FakeEndpoint()
        self.endpoints.append(made)
        yield made, BindAddress("127.0.0.1", 40000 + len(self.endpoints))

    async def make(
        self, name: str, capacity: JsonObject = CAPACITY, labels: JsonObject = LABELS
    ) -> None:
        meta = {"name": name, "labels": labels}
        await self.api.create(NODES, {"metadata": meta, "status": {"capacity": capacity}})
        await asyncio.sleep(MOMENT)

    def reachable(self) -> list[bool]:
        """Which nodes' programs reach the API server."""
        return [each.connected for each in self.endpoints]

    async def seen(self, name: str) -> JsonObject:
        return await self.api.get(f"{NODES}/{name}")

    async def fault(self, name: str, fault: str | None) -> None:
        change = {"metadata": {"annotations": {FAULT: fault}}}
        await self.api.merge(f"{NODES}/{name}", change)
        await asyncio.sleep(MOMENT)

    async def program(self, node: str, pod: str = "a") -> FakeProcess:
        """The program of a new pod on a node."""
        await self.run(pod, container(), nodeName=node)
        return self.processes.newest


@pytest_asyncio.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    found = Machine(tmp_path)
    async with found.at_work_with():
        yield found


async def test_a_node_with_the_label_runs_pods_as_processes(machine: Machine) -> None:
    await machine.make("paris")
    process = await machine.program("paris")
    pod = await machine.pod()
    assert condition(pod, "Ready")["status"] == "True"
    node = await machine.seen("paris")
    assert condition(node, "Ready")["status"] == "True"
    assert node["status"]["capacity"] == node["status"]["allocatable"] == CAPACITY
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "paris"
    addresses = {each["type"]: each["address"] for each in node["status"]["addresses"]}
    assert pod["status"]["hostIP"] == addresses["InternalIP"]
    assert process.launch.env["KUBERNETES_SERVICE_PORT"] == "40001"


async def test_nodes_have_addresses_folders_and_pods_of_their_own(machine: Machine) -> None:
    await machine.make("paris")
    await machine.make("berlin")
    one, two = await machine.program("paris", "a"), await machine.program("berlin", "b")
    hosts = {(await machine.pod(name))["status"]["hostIP"] for name in ("a", "b")}
    assert len(hosts) == 2
    assert "/nodes/paris/" in one.launch.env["QUINTANT_ROOT"]
    assert "/nodes/berlin/" in two.launch.env["QUINTANT_ROOT"]


async def test_nodes_that_are_asked_for_are_made_with_the_size_of_the_machine(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path)
    async with machine.at_work_with("paris", "berlin"):
        node = await machine.seen("berlin")
        assert node["status"]["capacity"] == {"cpu": "4", "memory": "8Gi", "pods": "110"}
        assert condition(node, "Ready")["status"] == "True"


async def test_a_dead_node_has_no_processes_and_is_unknown_after_the_grace(
    machine: Machine,
) -> None:
    await machine.make("berlin")
    process = await machine.program("berlin")
    before = (await machine.pod())["status"]
    await machine.fault("berlin", "dead")
    assert process.signals == [SIGKILL]
    assert (await machine.pod())["status"] == before, "nobody tells of it"
    await asyncio.sleep(GRACE - 2)
    assert condition(await machine.seen("berlin"), "Ready")["status"] == "True"
    await asyncio.sleep(4)
    assert condition(await machine.seen("berlin"), "Ready")["status"] == "Unknown"
    reply = await machine.api.send("GET", f"{PODS}/a/log")
    assert b'node \\"berlin\\" cannot be reached' in reply.body


async def test_pods_of_a_node_that_was_off_are_restarted(machine: Machine) -> None:
    await machine.make("berlin")
    await machine.program("berlin")
    address = (await machine.seen("berlin"))["status"]["addresses"]
    await machine.fault("berlin", "dead")
    await asyncio.sleep(20)
    assert machine.processes.alive == []
    await machine.fault("berlin", None)
    pod = await machine.pod(after=MOMENT)
    assert (status(pod)["restartCount"], len(machine.processes.alive)) == (1, 1)
    node = await machine.seen("berlin")
    assert condition(node, "Ready")["status"] == "True"
    assert node["status"]["addresses"] == address


async def test_a_pod_deleted_by_force_while_its_node_was_off_is_gone(machine: Machine) -> None:
    await machine.make("berlin")
    await machine.program("berlin")
    await machine.fault("berlin", "dead")
    await machine.api.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
    await machine.fault("berlin", None)
    await asyncio.sleep(1)
    assert len(machine.processes.started) == 1


async def test_programs_of_a_partitioned_node_go_on_without_the_cluster(machine: Machine) -> None:
    await machine.make("berlin")
    process = await machine.program("berlin")
    await machine.fault("berlin", "partitioned")
    assert machine.reachable() == [False], "its programs cannot reach the API server"
    await asyncio.sleep(GRACE + 2)
    assert condition(await machine.seen("berlin"), "Ready")["status"] == "Unknown"
    await machine.api.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
    await asyncio.sleep(30)
    assert machine.processes.alive == [process], "nobody can tell the node"
    await machine.fault("berlin", None)
    await asyncio.sleep(60)
    assert machine.processes.alive == [], "it has learned what it missed"
    assert machine.reachable() == [True]
    assert condition(await machine.seen("berlin"), "Ready")["status"] == "True"


async def test_a_program_of_a_partitioned_node_is_restarted_there(machine: Machine) -> None:
    await machine.make("berlin")
    process = await machine.program("berlin")
    await machine.fault("berlin", "partitioned")
    process.end(1)
    await asyncio.sleep(MOMENT)
    assert len(machine.processes.alive) == 1
    assert status(await machine.pod())["restartCount"] == 0
    await machine.fault("berlin", None)
    assert status(await machine.pod(after=60))["restartCount"] == 1


@pytest.mark.parametrize(
    ("fault", "type", "becomes"),
    [("not-ready", "Ready", "False"), ("full", "MemoryPressure", "True")],
)
async def test_a_node_says_what_is_wrong_with_it(
    machine: Machine, fault: str, type: str, becomes: str
) -> None:
    await machine.make("berlin")
    process = await machine.program("berlin")
    well = condition(await machine.seen("berlin"), type)["status"]
    await machine.fault("berlin", fault)
    assert condition(await machine.seen("berlin"), type)["status"] == becomes
    assert process.alive
    await machine.fault("berlin", None)
    assert condition(await machine.seen("berlin"), type)["status"] == well


@pytest.mark.parametrize("capacity", [{}, {"cpu": "2", "memory": "1Gi"}])
async def test_a_node_without_capacity_is_not_ready_and_says_what_to_do(
    machine: Machine, capacity: JsonObject
) -> None:
    await machine.make("bare", capacity)
    ready = condition(await machine.seen("bare"), "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "NoCapacity")
    assert "pods: declare it, as in kubectl patch node bare" in ready["message"]
    assert await machine.events("NoCapacity") == [ready["message"]]
    await machine.api.merge(f"{NODES}/bare/status", {"status": {"capacity": CAPACITY}})
    await asyncio.sleep(MOMENT)
    node = await machine.seen("bare")
    assert condition(node, "Ready")["status"] == "True"
    assert node["status"]["allocatable"] == CAPACITY


async def test_a_node_that_is_deleted_or_loses_its_label_has_no_processes(
    machine: Machine,
) -> None:
    await machine.make("paris")
    await machine.make("berlin")
    one, two = await machine.program("paris", "a"), await machine.program("berlin", "b")
    await machine.api.delete(f"{NODES}/paris")
    change = {"metadata": {"labels": {"node.quintant.dev/runs": None}}}
    await machine.api.merge(f"{NODES}/berlin", change)
    await asyncio.sleep(MOMENT)
    assert not one.alive
    assert not two.alive
    assert (await machine.api.send("GET", f"{NODES}/paris")).status == 404
    await asyncio.sleep(20)
    labels = (await machine.seen("berlin"))["metadata"]["labels"]
    assert "node.quintant.dev/runs" not in labels, "nobody puts it back"


async def test_a_node_that_says_it_is_simulated_runs_nothing(machine: Machine) -> None:
    await machine.make("both", labels={**LABELS, SIMULATED: "true"})
    await machine.run("a", container(), nodeName="both")
    assert machine.processes.started == []
