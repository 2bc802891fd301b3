"""The Cosmos operator on a real kube-apiserver: installed with kubectl, under the role that brings.

Manifests of every field give exactly the objects that they give on the embedded server. There is no
node: pods are made and never run. The server's own RBAC and validation decide. VolumeSnapshots are
not installed there.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from msgspec import structs

import patience
from envtest import RealCluster, provide
from envtest.binaries import KUBECTL
from quintant import Client, Config
from quintant.api.apps import Deployment
from quintant.api.core import Namespace
from quintant.api.events import Event
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.core.object import ObjectMeta
from quintant.operators import OPERATORS
from quintant.operators.cosmos import controllers
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from testbeds.cosmos_manifests import OWNED, PRIORITY, manifest, owned

pytestmark = pytest.mark.realtime

NAMESPACE = "every-field"
PROGRAM = OPERATORS["cosmos"]
DEPLOYED = Path(__file__).parents[2] / "deploy/cosmos"
FULL_NODES = f"/apis/cosmos.strange.love/v1/namespaces/{NAMESPACE}/cosmosfullnodes"
Kubectl = Callable[..., None]


@pytest.fixture
def kubectl(real_cluster: RealCluster) -> Iterator[Kubectl]:
    """kubectl with the operator installed by it."""
    program = provide(os.environ, (KUBECTL,)) / KUBECTL

    def run(*words: str) -> None:
        line = (str(program), "--kubeconfig", str(real_cluster.kubeconfig), *words)
        ran = subprocess.run(line, check=False, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr

    run("apply", "-k", str(DEPLOYED))
    yield run
    run("delete", "--wait=false", "-k", str(DEPLOYED))


@pytest_asyncio.fixture
async def account(real_cluster: RealCluster, kubectl: Kubectl) -> AsyncIterator[HttpTransport]:
    """The way of the operator's service account, which has the installed roles and no others."""
    config = Config.load(real_cluster.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:{PROGRAM.namespace}:{PROGRAM.name}")
    transport = HttpTransport(
        structs.replace(config, user=structs.replace(config.user, impersonate=user))
    )
    yield transport
    await transport.close()


async def change(client: Client, name: str, spec: dict[str, object]) -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    body = msgspec.json.encode({"spec": spec})
    await client.raw("PATCH", f"{FULL_NODES}/{name}", body=body, headers=headers)


async def children(client: Client, name: str, wanted: set[str]) -> None:
    """Wait until a CosmosFullNode owns exactly these."""
    crd, found = await client.get(CosmosFullNode, name, NAMESPACE, live=True), set[str]()
    try:
        async with patience.within(60):
            while True:
                found = await owned(client, crd)
                if found == wanted:
                    return
                await asyncio.sleep(0.1)
    except TimeoutError:
        assert found == wanted


async def reasons(client: Client, wanted: set[str]) -> None:
    """Wait until somebody was told all of these."""
    async with patience.within(30):
        while True:
            told = await client.list(Event, NAMESPACE, live=True)
            if wanted <= {each.reason for each in told}:
                return
            await asyncio.sleep(0.1)


async def test_every_manifest_gives_exactly_its_objects_and_no_right_is_missing(
    account: HttpTransport, client: Client
) -> None:
    (installed,) = await client.list(Deployment, PROGRAM.namespace, live=True)
    assert installed.metadata.name == PROGRAM.name
    await client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    apply = Applier(client.rest, "user", NAMESPACE).apply
    manager = Manager(PROGRAM.name)
    controllers(manager)
    async with manager.running(Environment(account)):
        await apply([PRIORITY, manifest("schedule"), manifest("job"), *map(manifest, OWNED)])
        for name, wanted in OWNED.items():
            await children(client, manifest(name)["metadata"]["name"], wanted)
        await change(client, "gaia", {"replicas": 1})
        await children(client, "gaia", _shrunk(OWNED["full"]))
        await reasons(client, {"MissingCRDs", "Error"})
    told = await client.list(Event, NAMESPACE, live=True)
    assert [each.note for each in told if "forbidden" in each.note.lower()] == []


def _shrunk(before: set[str]) -> set[str]:
    """Without the instances gaia-2 and gaia-3; the keys of nodes stay, in their ConfigMaps.

    gaia-1 is on its way, as its manifest asks for it: nobody here lets its old pod go.
    """
    gone = {"Pod/gaia-1"} | {
        f"{child}-{at}"
        for at in (2, 3)
        for child in (
            "Pod/gaia", "Pod/indexer", "Service/gaia-p2p", "PersistentVolumeClaim/pvc-gaia",
        )
    }  # fmt: skip
    return before - gone
