"""Five clusters of one machine: the same services in each, and nobody meets the others'."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest_asyncio

import patience
from node.node_fixture import INSPECTOR, PATIENCE_SECONDS, PORT, NodeCluster, fetch
from quintant.cluster.instance.cluster import ClusterConfig, persistent, run_cluster
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from unit.cluster.api import JsonObject

CLUSTERS = 5
NODE_PORT = 30080
SERVICES = "/api/v1/namespaces/default/services"
ADDRESS = BindAddress("127.0.0.1", 0)
PLAN = ClusterConfig(ADDRESS, controllers=True, fleet=Fleet(), node=NodeOptions((INSPECTOR,)))
LABELS = {"app": "web"}


@pytest_asyncio.fixture
async def nodes() -> AsyncIterator[list[NodeCluster]]:
    async with AsyncExitStack() as stack:
        yield [
            NodeCluster(await stack.enter_async_context(run_cluster(PLAN))) for _ in range(CLUSTERS)
        ]


async def serve(node: NodeCluster, who: str) -> JsonObject:
    """A pod that answers who it is, and a service in front of it."""
    port = {"port": PORT, "nodePort": NODE_PORT}
    spec = {"type": "NodePort", "selector": LABELS, "ports": [port]}
    service = await node.api.create(SERVICES, {"metadata": {"name": "web"}, "spec": spec})
    await node.api.create(
        "/api/v1/namespaces/default/pods",
        {
            "metadata": {"name": "web", "labels": LABELS},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": INSPECTOR.image,
                        "env": [{"name": "WHO", "value": who}],
                    }
                ]
            },
        },
    )
    return service


async def heard(host: str, port: int) -> str:
    """Who answers at an address, once somebody does."""
    async with patience.within(PATIENCE_SECONDS):
        while True:
            try:
                return (await fetch(host, port, "/env?name=WHO"))[1]
            except OSError:
                await asyncio.sleep(0.05)


def address(node: JsonObject) -> str:
    (found,) = (each for each in node["status"]["addresses"] if each["type"] == "InternalIP")
    return str(found["address"])


async def test_every_cluster_answers_at_its_own_addresses(nodes: list[NodeCluster]) -> None:
    names = [f"cluster-{at}" for at in range(CLUSTERS)]
    services = [await serve(node, who) for node, who in zip(nodes, names, strict=True)]
    addresses = [service["spec"]["clusterIP"] for service in services]
    assert len(set(addresses)) == CLUSTERS
    assert [await heard(each, PORT) for each in addresses] == names
    hosts = [address(await node.api.get("/api/v1/nodes/local")) for node in nodes]
    assert [await heard(host, NODE_PORT) for host in hosts] == names


async def test_every_cluster_proves_itself_where_it_is_a_service(nodes: list[NodeCluster]) -> None:
    for node in nodes:
        spec = (await node.api.get(f"{SERVICES}/kubernetes"))["spec"]
        context = ssl.create_default_context(cadata=node.authority())
        port = await mapped(node, spec["clusterIP"])
        _, writer = await asyncio.open_connection(spec["clusterIP"], port, ssl=context)
        writer.close()
        await writer.wait_closed()


async def mapped(node: NodeCluster, host: str) -> int:
    """Where port 443 of the API server's service is; without privileges, elsewhere."""
    configs = await node.api.get("/api/v1/namespaces/kube-system/configmaps")
    (table,) = (each for each in configs["items"] if each["metadata"]["name"] == "service-ports")
    for line in table.get("data", {}).get("default.kubernetes", "").splitlines():
        wanted, _, place = line.partition(" is at ")
        if wanted == f"{host}:443/TCP":
            return int(place.rpartition(":")[2])
    return 443


async def test_a_kept_cluster_comes_back_beside_one_that_has_its_place(tmp_path: Path) -> None:
    async with persistent(PLAN, tmp_path) as plan, run_cluster(plan) as cluster:
        node = NodeCluster(cluster)
        before = (await serve(node, "kept"))["spec"]["clusterIP"]
        assert await heard(before, PORT) == "kept"
    async with AsyncExitStack() as stack:
        other = NodeCluster(await stack.enter_async_context(run_cluster(PLAN)))
        await serve(other, "other")
        plan = await stack.enter_async_context(persistent(PLAN, tmp_path))
        node = NodeCluster(await stack.enter_async_context(run_cluster(plan)))
        now = (await node.api.get(f"{SERVICES}/web"))["spec"]["clusterIP"]
        assert now != before
        assert await heard(before, PORT) == "other"
        assert await heard(now, PORT) == "kept"
