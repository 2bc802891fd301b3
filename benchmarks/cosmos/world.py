"""A cluster in this process with simulated pods, whose nodes answer over HTTP; and who watches it.

Controllers, scheduler, volumes and snapshots are the embedded cluster's own. The operator is a
process of its own, with a user of its own, so that its CPU, memory and writes can be told apart.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv4Network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from benchmarks.cosmos.chain import NETWORK, ChainNodes
from quintant.api.snapshot import VolumeSnapshot
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.filters.audit import AuditRecord
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.stages import ANY, Stage, StageNext, StageSelector
from quintant.core.address import BindAddress
from quintant.core.object import Object
from quintant.core.yaml import load_all
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.api.views import NodePod
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_crds

NAMESPACE = "default"
OPERATOR = "operator"
FULL_NODES = f"/apis/cosmos.strange.love/v1/namespaces/{NAMESPACE}/cosmosfullnodes"
SCHEDULES = f"/apis/cosmos.strange.love/v1alpha1/namespaces/{NAMESPACE}/scheduledvolumesnapshots"
PODS = IPv4Network(f"127.{200 + os.getpid() % 50}.0.0/16")
"""On loopback, where nodes of another run are not met."""
PODS_OF_A_NODE = 60
STOP_SECONDS, START_SECONDS = 1.0, 2.0
PROBE_SECONDS = 0.5
"""From being in sync to being ready."""
PATIENCE_SECONDS = 240.0
READS = ("get", "list", "watch")

Plain = dict[str, Any]


def full_node(name: str, replicas: int = 3, **spec: Any) -> Plain:
    """A CosmosFullNode of the modelled chain."""
    chain = {
        "chainID": NETWORK, "network": "mainnet", "binary": "gaiad",
        "app": {"minGasPrice": "0.0025uatom"},
    }  # fmt: skip
    size = {"requests": {"storage": "100Gi"}}
    return {
        "apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas, "chain": chain, "podTemplate": {"image": "gaia:v1"},
            "volumeClaimTemplate": {"storageClassName": "standard", "resources": size}, **spec,
        },
    }  # fmt: skip


def is_settled(full_node: CosmosFullNode) -> bool:
    """Whether nothing is to be done, and every node is ready; in sync, if nobody tells that."""
    status = full_node.status
    if status is None or status.observed_generation != full_node.metadata.generation:
        return False
    ready = status.ready_replicas  # an operator of others may not say
    told = sum(each.in_sync is True for each in status.sync.values()) if ready is None else ready
    return status.phase == "Complete" and told >= full_node.spec.replicas


class World:
    """What there is, as a watch shows it, and when it changed."""

    def __init__(self, cluster: Cluster, client: Client, nodes: ChainNodes) -> None:
        self.cluster, self.client, self.nodes = cluster, client, nodes
        self.full_nodes: dict[str, CosmosFullNode] = {}
        self.pods: dict[str, NodePod] = {}
        self.snapshots: dict[str, VolumeSnapshot] = {}
        self.settled: set[str] = set()
        self.gone_at: dict[str, float] = {}
        """When the object of a pod was gone, by name."""
        self.deleted_at: dict[str, float] = {}
        """When a pod was first seen going, by uid."""
        self.born_at: dict[str, float] = {}
        """When an object was first seen, by uid."""
        self.ready_at: dict[str, float] = {}
        """When a snapshot was ready, by uid."""
        self._change = asyncio.get_running_loop().create_future()

    async def watch(self) -> None:
        """Look at everything that matters, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.nodes.follow(self.client))
            group.create_task(self._follow(CosmosFullNode, self._full_node))
            group.create_task(self._follow(NodePod, self._pod))
            group.create_task(self._follow(VolumeSnapshot, self._snapshot))

    async def until(self, holds: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> float:
        """Wait until something is so; when that was seen."""
        async with asyncio.timeout(seconds):
            while not holds():
                await asyncio.shield(self._change)
        return time.monotonic()

    async def post(self, path: str, body: Plain) -> None:
        await self.client.raw("POST", path, body=msgspec.json.encode(body))

    async def merge(self, path: str, body: Plain) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        await self.client.raw("PATCH", path, body=msgspec.json.encode(body), headers=headers)

    def writes(self) -> list[AuditRecord]:
        """What the operator wrote since the audit was cleared."""
        found = self.cluster.server.audit.by(OPERATOR)
        return [each for each in found if each.verb not in READS]

    async def _follow(self, kind: type[Any], seen: Callable[[Any, Any], None]) -> None:
        async for change in self.client.watch(kind):
            known: Object | None = change.new or change.old
            assert known is not None
            self.born_at.setdefault(known.metadata.uid, time.monotonic())
            seen(change.old, change.new)
            held, self._change = self._change, asyncio.get_running_loop().create_future()
            held.set_result(None)

    def _full_node(self, old: CosmosFullNode | None, new: CosmosFullNode | None) -> None:
        if new is None:
            return
        self.full_nodes[new.metadata.name] = new
        (self.settled.add if is_settled(new) else self.settled.discard)(new.metadata.name)

    def _pod(self, old: NodePod | None, new: NodePod | None) -> None:
        known = new or old
        assert known is not None
        name, uid = known.metadata.name, known.metadata.uid
        if new is None:
            self.gone_at[name] = time.monotonic()
            self.deleted_at.setdefault(uid, self.gone_at[name])
            if name in self.pods and self.pods[name].metadata.uid == uid:
                del self.pods[name]
            return
        if new.deleting:
            self.deleted_at.setdefault(uid, time.monotonic())
        self.pods[name] = new

    def _snapshot(self, old: VolumeSnapshot | None, new: VolumeSnapshot | None) -> None:
        if new is not None:
            self.snapshots[new.metadata.name] = new
            if new.status is not None and new.status.ready_to_use:
                self.ready_at.setdefault(new.metadata.uid, time.monotonic())


@asynccontextmanager
async def opened(pods: int, sync_seconds: float) -> AsyncIterator[World]:
    """A cluster with room for some pods, whose nodes are in sync so long after they started."""
    fleet = Fleet(pods // PODS_OF_A_NODE + 3, pods=PODS)
    config = ClusterConfig(
        BindAddress("127.0.0.1", 0), controllers=True, fleet=fleet, stages=_stages(sync_seconds)
    )
    async with run_cluster(config) as cluster:
        cluster.server.tokens.add("bench", admin("bench"))
        transport = InProcessTransport(cluster.server, "bench")
        await install_crds(transport, [CosmosFullNode, ScheduledVolumeSnapshot, StatefulJob])
        nodes = ChainNodes(sync_seconds)
        world = World(cluster, Client(Rest(transport), manager="bench"), nodes)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(world.watch())
            try:
                yield world
            finally:
                watching.cancel()
                nodes.close()


@asynccontextmanager
async def operator(cluster: Cluster, command: Sequence[str] = ()) -> AsyncIterator[int]:
    """An operator at work, a process of its own: ours, or another; its process id."""
    cluster.server.tokens.add(OPERATOR, admin(OPERATOR))
    with TemporaryDirectory(prefix="quintant-bench-") as folder:
        path = Path(folder) / "kubeconfig"
        path.write_text(kubeconfig(cluster))
        quiet = asyncio.subprocess.DEVNULL
        line = command or (
            sys.executable, "-m", "quintant", "operator", "cosmos", "--no-leader-elect",
            "--metrics=", "--probes=", "--log-level=error", f"--kubeconfig={path}",
        )  # fmt: skip
        environ = {**os.environ, "KUBECONFIG": str(path)}
        process = await asyncio.create_subprocess_exec(
            *line, env=environ, stdout=quiet, stderr=quiet
        )
        try:
            yield process.pid
        finally:
            process.kill()
            await process.wait()


def kubeconfig(cluster: Cluster) -> str:
    """The way in, as a user that the audit tells from others."""
    (found,) = load_all(cluster.kubeconfig.reveal(), "kubeconfig")
    assert isinstance(found, dict)
    for user in found["users"]:
        user["user"] = {"token": OPERATOR}
    return json.dumps(found)


def _stages(sync_seconds: float) -> tuple[Stage, ...]:
    running = StageNext(phase="Running", state="running", ready=False)
    return (
        Stage(
            name="stop", match=StageSelector(fate=ANY, deleting=True), delay=STOP_SECONDS,
            next=StageNext(delete=True),
        ),
        Stage(
            name="start", match=StageSelector(phase="Pending"), delay=START_SECONDS, next=running
        ),
        Stage(
            name="in sync", match=StageSelector(phase="Running"),
            delay=sync_seconds + PROBE_SECONDS,
            next=StageNext(ready=True),
        ),
    )  # fmt: skip
