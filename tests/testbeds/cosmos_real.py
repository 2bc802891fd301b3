"""A whole cluster with the Cosmos operator in it, whose pods are real nodes of a real chain.

Pods, volumes, copies and Services are those of the local node; the operator runs in this process,
under its generated role. The validator is outside (`comet_chains`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import patience
from quintant.api.core import PersistentVolume, Pod
from quintant.api.events import Event
from quintant.api.volume import PersistentVolumeClaim
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.common.volume_paths import local_directory
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.kubelet.container.images import load_image_table
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.object import K
from quintant.operators.cosmos import controllers
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.sample import example, manifests
from quintant.wire import toml
from testbeds.comet_chains import Plain, Validator
from testbeds.real_cluster import operator_environment
from testbeds.watched_history import WatchedHistory

NAMESPACE = "chains"
PATIENCE_SECONDS = 60.0
"""What anything here takes a quiet machine, at most."""
_FULL_NODES = f"/apis/cosmos.strange.love/v1/namespaces/{NAMESPACE}/cosmosfullnodes"


@dataclass
class RealCosmosTestbed:
    """The cluster, and what a test does with it."""

    cluster: Cluster
    client: Client

    async def apply(self, *documents: Mapping[str, Any]) -> None:
        await Applier(self.client.rest, "test", NAMESPACE).apply(documents)

    async def change(self, name: str, spec: Plain) -> None:
        """Change the spec of a CosmosFullNode as a user would."""
        headers = {"Content-Type": "application/merge-patch+json"}
        body = msgspec.json.encode({"spec": spec})
        await self.client.raw("PATCH", f"{_FULL_NODES}/{name}", body=body, headers=headers)

    async def until(
        self, kind: type[K], name: str, holds: Callable[[K], bool], within: float = PATIENCE_SECONDS
    ) -> K:
        """An object as soon as it is as wanted."""
        try:
            async with patience.within(within):
                found = await self.client.wait_for(
                    kind, name, NAMESPACE, timeout=float("inf"),
                    until=lambda it: it is not None and holds(it),
                )  # fmt: skip
        except TimeoutError:
            last = await self.client.find(kind, name, NAMESPACE, live=True)
            raise AssertionError(f"not in time; it is {last}") from None
        assert found is not None
        return found

    async def settled(self, name: str, within: float = PATIENCE_SECONDS) -> CosmosFullNode:
        """Wait until everything is as wanted, and every node in sync."""
        return await self.until(CosmosFullNode, name, is_settled, within)

    async def pods(self, name: str) -> dict[str, Pod]:
        """The pods of a CosmosFullNode that are to stay."""
        found = await self.client.list(
            Pod, NAMESPACE, labels={"app.kubernetes.io/name": name}, live=True
        )
        return {pod.metadata.name: pod for pod in found if not pod.deleting}

    async def volume(self, claim: str) -> Path:
        """The folder of a claim on this machine."""
        bound = await self.client.get(PersistentVolumeClaim, claim, NAMESPACE, live=True)
        volume = await self.client.get(PersistentVolume, bound.spec.volume_name or "", live=True)
        assert self.cluster.node is not None
        found = local_directory(self.cluster.node.storage, volume)
        assert found is not None
        return found

    async def log(self, pod: str, container: str, *, previous: bool = False) -> str:
        """What a container printed, or the one before it."""
        before = "&previous=true" if previous else ""
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}/log?container={container}{before}"
        return (await self.client.raw("GET", path)).decode()

    async def reasons(self) -> list[str]:
        """What was told of CosmosFullNodes and the like."""
        found = await self.client.list(Event, NAMESPACE, live=True)
        return [each.reason for each in found if each.regarding.api_version.startswith("cosmos")]


def is_settled(full_node: CosmosFullNode) -> bool:
    """Whether nothing is to be done, and every node is in sync."""
    status = full_node.status
    return (
        status is not None
        and status.phase == "Complete"
        and status.observed_generation == full_node.metadata.generation
        and status.ready_replicas == full_node.spec.replicas
    )


def example_node(file: str, validator: Validator, name: str, **spec: Any) -> Plain:
    """The CosmosFullNode of an example, after a validator that is no pod."""
    documents = manifests(example(f"cosmos/{file}.yaml"))
    (given,) = (dict(each) for each in documents if each["kind"] == "CosmosFullNode")
    own = {"genesisURL": f"{validator.rpc}/genesis", "config": {"peers": validator.peer}}
    change = {"metadata": {"name": name}, "spec": {"chain": own}}
    return toml.merge(toml.merge(given, change), {"spec": spec})


@asynccontextmanager
async def opened(images: Path) -> AsyncIterator[RealCosmosTestbed]:
    """A testbed in which the operator is at work; `images` is the table of its nodes' programs."""
    node = NodeOptions(load_image_table(images))
    plan = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(0), node=node)
    async with run_cluster(plan) as cluster:
        # For whoever looks while a test runs.
        save_kubeconfig(cluster, images.with_name("kubeconfig"))
        cluster.server.tokens.add("test", admin("test"))
        transport = InProcessTransport(cluster.server, "test")
        client = Client(Rest(transport), manager="test")
        await install_crds(transport, [CosmosFullNode, ScheduledVolumeSnapshot, StatefulJob])
        manager = Manager("cosmos-operator")
        controllers(manager)
        testbed = RealCosmosTestbed(cluster, client)
        await testbed.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        )
        async with manager.running(await operator_environment(cluster, client, manager)):
            yield testbed
            await asyncio.sleep(0)


def upgrades_told(history: WatchedHistory[CosmosFullNode], height: int) -> dict[str, int]:
    """At which revision each pod's sidecar told of upgrade-info.json."""
    found: dict[str, int] = {}
    for _, full_node in history.events:
        for pod, upgrade in (full_node.status.upgrade_info if full_node.status else {}).items():
            if upgrade.height == height:
                found.setdefault(pod, int(full_node.metadata.resource_version))
    return found


def starts_of(history: WatchedHistory[Pod], image: str) -> dict[str, int]:
    """At which revision each pod was first made with an image."""
    found: dict[str, int] = {}
    for _, pod in history.events:
        if pod.spec.containers[0].image == image:
            found.setdefault(pod.metadata.name, int(pod.metadata.resource_version))
    return found
