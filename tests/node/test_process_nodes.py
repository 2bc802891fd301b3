"""Several nodes of this machine with real processes: a pod moves, and a partition is one."""

from __future__ import annotations

import asyncio
import json
import math
import ssl
from collections.abc import AsyncIterator

import pytest_asyncio

import patience
from node.node_fixture import INSPECTOR, PATIENCE_SECONDS, NodeCluster, answering, ask, vanished
from quintant.cluster.common.labels import FAULT
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from unit.cluster.api import PODS, JsonObject

NODES = "/api/v1/nodes"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
GRACE = HeartbeatTimes(5.0)
HOSTNAME = "kubernetes.io/hostname"
AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": HOSTNAME, "operator": "In", "values": ["paris", "berlin"]}
                ]
            }
        ]
    },
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {
            "weight": 100,
            "preference": {
                "matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["berlin"]}]
            },
        }
    ],
}
WEB = {
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "affinity": {"nodeAffinity": AFFINITY},
                "containers": [{"name": "main", "image": INSPECTOR.image}],
            },
        },
    },
}


class Machine(NodeCluster):
    """A cluster with two further nodes, and a test that makes them fail."""

    async def becomes(self, node: str, ready: str) -> None:
        """Wait until a node is ready, or not, or nobody knows."""
        async with (
            patience.within(PATIENCE_SECONDS),
            self.api.watch(NODES, fieldSelector=f"metadata.name={node}") as events,
        ):
            found = ""
            while found != ready:
                obj = (await events.next(math.inf))["object"]
                said = obj.get("status", {}).get("conditions", ())
                found = next((each["status"] for each in said if each["type"] == "Ready"), "")

    async def pod_on(self, node: str) -> JsonObject:
        """The pod that runs on a node, once it answers."""
        async with (
            patience.within(PATIENCE_SECONDS),
            self.api.watch(PODS, fieldSelector=f"spec.nodeName={node}") as events,
        ):
            while True:
                pod: JsonObject = (await events.next(math.inf))["object"]
                if pod.get("status", {}).get("phase") == "Running":
                    await answering(pod)
                    return pod

    async def fault(self, node: str, fault: str | None) -> None:
        await self.api.merge(f"{NODES}/{node}", {"metadata": {"annotations": {FAULT: fault}}})

    async def reaches_the_api(self, port: int) -> bool:
        """Whether the API server answers at a port, as a program sees it."""
        context = ssl.create_default_context(cadata=self.authority())
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
            writer.write(b"GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            answer = await reader.read()
        except OSError:
            return False
        writer.transport.abort()
        return answer.startswith(b"HTTP/1.1 ")


@pytest_asyncio.fixture
async def machine() -> AsyncIterator[Machine]:
    config = ClusterConfig(
        BindAddress("127.0.0.1", 0),
        controllers=True,
        fleet=Fleet(),
        node=NodeOptions((INSPECTOR,), process_nodes=("paris", "berlin")),
        times=GRACE,
    )
    async with run_cluster(config) as cluster:
        machine = Machine(cluster)
        for name in ("paris", "berlin"):
            await machine.becomes(name, "True")
        yield machine


async def test_a_pod_of_a_node_that_dies_runs_on_another_one(machine: Machine) -> None:
    await machine.api.create(DEPLOYMENTS, WEB)
    first = await machine.pod_on("berlin")
    pid = json.loads(await ask(first, "/"))["pid"]
    await machine.fault("berlin", "dead")
    await vanished(pid)
    await machine.becomes("berlin", "Unknown")
    name = first["metadata"]["name"]
    await machine.api.delete(f"{PODS}/{name}", {"gracePeriodSeconds": 0})
    second = await machine.pod_on("paris")
    assert second["status"]["podIP"] != first["status"]["podIP"]
    assert "listening" in await machine.logs(second["metadata"]["name"])


async def test_a_partitioned_node_cannot_be_reached_and_cannot_reach_the_api_server(
    machine: Machine,
) -> None:
    await machine.api.create(DEPLOYMENTS, WEB)
    pod = await machine.pod_on("berlin")
    port = int(await ask(pod, "/env?name=KUBERNETES_SERVICE_PORT"))
    assert port != machine.cluster.address.port
    assert await machine.reaches_the_api(port)
    await machine.fault("berlin", "partitioned")
    await machine.becomes("berlin", "Unknown")
    assert not await machine.reaches_the_api(port)
    assert "hostname" in await ask(pod, "/"), "its programs go on"
    assert await machine.reaches_the_api(machine.cluster.address.port)
    await machine.fault("berlin", None)
    await machine.becomes("berlin", "True")
    assert await machine.reaches_the_api(port)
