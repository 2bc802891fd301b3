"""An embedded cluster as home, and a real API server as another cluster, named by a Secret."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

import patience
from envtest import RealCluster
from envtest.access import kubeconfig
from quintant import Client, KeyedState, Manager, ObjectMeta, Request, SecretClusters, replace
from quintant.api.core import ConfigMap, Namespace, Secret
from quintant.runtime.clusters.states import ClusterState
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.testing import InProcessCluster
from real.proxy import Proxy
from scenarios.greeter import Greeter, GreeterSpec, GreeterStatus, greeter, reconcile

pytestmark = pytest.mark.realtime

NAME, WEST = "several-clusters", "fleet.west"
LOOK_SECONDS = 0.2
LABELS = {"quintant.dev/cluster": "true"}


@pytest_asyncio.fixture
async def way(real_cluster: RealCluster) -> AsyncIterator[Proxy]:
    server = urlsplit(real_cluster.server)
    assert server.hostname
    assert server.port
    async with Proxy.before(server.hostname, server.port) as proxy:
        yield proxy


def secret(real_cluster: RealCluster, way: Proxy) -> Secret:
    given = kubeconfig(
        f"https://127.0.0.1:{way.port}", real_cluster.token, real_cluster.ca.read_bytes()
    )
    data = base64.b64encode(json.dumps(given).encode()).decode()
    meta = ObjectMeta(name="west", namespace="fleet", labels=LABELS)
    return Secret(metadata=meta, data={"kubeconfig": data})


async def until_state(engine: Engine, state: ClusterState | None) -> None:
    clusters = engine.clusters
    assert clusters is not None

    def at() -> ClusterState | None:
        found = clusters.conditions.get(WEST)
        return found.state if found is not None else None

    async with patience.within(60):
        while at() is not state:  # noqa: ASYNC110 - nobody tells what a cluster is at
            await asyncio.sleep(LOOK_SECONDS)


async def test_a_real_server_is_worked_in_is_away_and_comes_back_and_leaves(
    real_cluster: RealCluster, client: Client, way: Proxy
) -> None:
    home, state = InProcessCluster(), KeyedState[int](int)
    await install_crds(client.rest.transport, [Greeter])
    manager = Manager("greeter")
    manager.clusters(SecretClusters(namespaces=("fleet",)))
    manager.controls(Greeter).owns(ConfigMap).keeps(state).reconcile(reconcile)
    environment = home.environment()
    engine = await home.run(
        manager,
        environment=Environment(environment.transport, environment.clock, environment.random),
    )
    await home.client.create(Namespace(metadata=ObjectMeta(name="fleet")))
    await client.create(greeter(NAME, "there"))
    await home.create(greeter(NAME, "here"))
    made = await home.client.create(secret(real_cluster, way))
    await until_state(engine, ClusterState.READY)
    await greeted(client, "there")
    await greeted(home.client, "here")

    way.refuse()
    way.cut()
    await until_state(engine, ClusterState.AWAY)
    found = await client.get(Greeter, NAME, "default", live=True)
    await client.patch(replace(found, spec=GreeterSpec(message="later")), since=found)
    at_home = await home.get(Greeter, NAME)
    await home.client.patch(replace(at_home, spec=GreeterSpec(message="now")), since=at_home)
    await greeted(home.client, "now")
    way.resume()
    await until_state(engine, ClusterState.READY)
    await greeted(client, "later")

    await home.client.delete(made)
    await until_state(engine, None)
    kept = await client.get(Greeter, NAME, "default", live=True)
    assert kept.status == GreeterStatus(greeted=True)
    assert (await client.get(ConfigMap, NAME, "default", live=True)).data == {"text": "later"}
    assert Request(NAME, "default").in_cluster(WEST) not in state
    await home.close()


async def greeted(client: Client, text: str) -> None:
    def says(child: ConfigMap | None) -> bool:
        return child is not None and child.data["text"] == text

    timeout = patience.seconds(60)
    await client.wait_for(ConfigMap, NAME, "default", until=says, timeout=timeout)
