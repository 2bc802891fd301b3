"""A cluster under virtual time with the Cosmos operator in it, and a modelled chain around it.

Volumes, snapshots, load balancers, jobs and garbage are the embedded cluster's own. A modelled
kubelet starts and stops pods; a modelled node in each answers `/status` as CometBFT does, catches
up, falls behind, halts and lies as a test says.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from quintant.api.core import ConfigMap, Service, ServiceAccount
from quintant.api.events import Event
from quintant.api.pod import Pod
from quintant.api.rbac import Role, RoleBinding
from quintant.api.storage import StorageClass
from quintant.api.volume import PersistentVolumeClaim
from quintant.client.rest import Rest
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.controllers import NAME as KUBERNETES
from quintant.cluster.controllers import garbage, job, load_balancers
from quintant.cluster.controllers.endpoints import endpoints
from quintant.cluster.controllers.job import ttl
from quintant.cluster.controllers.namespaces import defaults
from quintant.cluster.controllers.volumes import claims, protection, volumes
from quintant.cluster.volumes.component import csi_driver
from quintant.cluster.volumes.directories import NoDirectories
from quintant.core.clock import Random, parse_timestamp, timestamp
from quintant.core.errors import ConnectError, NotFound
from quintant.core.object import Object
from quintant.core.owner import controller_of
from quintant.operators.cosmos import controllers
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.options import Options
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.manager import Manager
from quintant.testing import GrantedAccount, InProcessCluster, grant
from testbeds.liars import Manner, lie

NAMESPACE = "test"
STEP_SECONDS = 0.5
MOST_BYTES = 256 * 1024
GIB = 2**30
OWNED: tuple[type[Object], ...] = (
    Service, ConfigMap, ServiceAccount, Role, RoleBinding, PersistentVolumeClaim, Pod,
)  # fmt: skip

Plain = dict[str, Any]
Answer = Callable[[], "bytes | Exception"]


@dataclass
class ModelledNode:
    """How the node of one pod name behaves; it outlives its pods, as a volume does."""

    lag: int = 0
    """Blocks behind the chain, though it says that it is in sync."""
    catching_up: bool = False
    """It does not get in sync."""
    down: bool = False
    """Its RPC does not answer."""
    halted_at: int = 0
    """The height at which it stands, for an upgrade or for good."""
    answer: bytes | None = None
    """What it says instead of its status."""
    breaks: Exception | None = None
    """What reading its status raises."""
    latency: float = 0.0
    disk: tuple[int, int] | None = (100 * GIB, 90 * GIB)
    """All and free bytes of its volume; None if its sidecar does not tell."""
    network: str = "cosmoshub-4"
    reached: int = 0
    """The height of its data."""
    peers: int = 2
    restarts: int = 0
    """How often its program was restarted in its pod."""
    crashes: str = ""
    """The last words of a program that ends again and again; its pod waits before the next try."""
    asked: list[float] = field(default_factory=list)
    """When its status was asked for."""


class CosmosTestbed:
    """The cluster, its modelled parts, and what a test does with them."""

    def __init__(self, cluster: InProcessCluster, options: Options) -> None:
        self.cluster, self.options = cluster, options
        self.nodes: dict[str, ModelledNode] = {}
        """By the name of the pod."""
        self.block_seconds = 1.0
        self.first_height = 100
        self.stopped: float | None = None
        """When the chain stopped making blocks, in the loop's time."""
        self.start_seconds = 2.0
        """From an address to an answer."""
        self.sync_seconds = 4.0
        """From the first answer to being in sync."""
        self.stop_seconds = 1.0
        self.lies: Iterator[int] | None = None
        """The seeds of what nodes and sidecars answer instead of the truth."""
        self.lied: set[str] = set()
        """The questions that were answered so."""
        self.probe_seconds = 0.0
        """From being in sync to being ready."""
        self.images: Callable[[str], bool] = lambda _: True
        """Whether an image can be pulled."""
        self.leader_elect = False
        """Whether the operator competes for a lease, as it does where it is installed."""
        self.planned: Plain | None = None
        """The upgrade that the chain announces."""
        self.account: GrantedAccount | None = None
        self.engine: Engine | None = None
        self.deleted: list[tuple[float, str]] = []
        """When each pod was first seen going."""
        self.absent: list[tuple[float, int]] = []
        self._seed = 0
        self._pods: dict[str, Pod] = {}
        self._since: dict[str, float] = {}
        self._going: dict[str, float] = {}

    # The operator.

    async def start(self) -> Engine:
        """Start the operator under its generated role."""
        manager = Manager("cosmos-operator", leader_elect=self.leader_elect)
        controllers(manager, self.options, self)
        self.account = await grant(self.cluster, manager)
        environment = self.cluster.environment(self.account.credentials)
        self.engine = await self.cluster.run(manager, environment=environment)
        return self.engine

    async def crash(self) -> None:
        """End the operator between two moments."""
        assert self.engine is not None
        await self.cluster.crash(self.engine)

    # The remote: what the operator asks.

    def connect(self, address: str, port: int) -> ModelledConnection:
        return ModelledConnection(self, address, port)

    def seed(self) -> bytes:
        self._seed += 1
        return self._seed.to_bytes(32, "big")

    # The chain.

    @property
    def time(self) -> float:
        return asyncio.get_running_loop().time()

    @property
    def height(self) -> int:
        """The latest block of the chain."""
        now = self.time if self.stopped is None else min(self.time, self.stopped)
        return self.first_height + int(now / self.block_seconds)

    def node(self, name: str) -> ModelledNode:
        return self.nodes.setdefault(name, ModelledNode())

    def in_sync(self, pod: Pod) -> bool:
        """Whether a node follows the chain."""
        node, up = self.node(pod.metadata.name), self._up(pod)
        synced = up is not None and up >= self.sync_seconds and not node.catching_up
        return synced and not self._is_down(pod)

    def status(self, pod: Pod) -> Plain:
        """What a node says of itself."""
        node = self.node(pod.metadata.name)
        height = self.height - node.lag
        if node.halted_at:
            height = min(height, node.halted_at)
        syncing = not self.in_sync(pod)
        if syncing:
            height = max(height - 50, min(node.reached, height), 1)
        node.reached = height
        return {
            "jsonrpc": "2.0", "id": -1, "result": {
                "node_info": {"id": "0" * 40, "network": node.network, "moniker": "m"},
                "sync_info": {
                    "latest_block_height": str(height),
                    "latest_block_time": timestamp(self.cluster.clock.now()),
                    "earliest_block_height": "1", "catching_up": syncing,
                },
                "validator_info": {},
            },
        }  # fmt: skip

    def _up(self, pod: Pod) -> float | None:
        """For how long a node has answered; None if it does not."""
        since = self._since.get(pod.metadata.uid)
        ran = None if since is None else self.time - since - self.start_seconds
        return ran if ran is not None and ran >= 0 and not pod.deleting else None

    def answering(self, address: str) -> Pod:
        """The pod at an address, if its node answers."""
        pod = self._pods.get(address)
        if pod is None or self._up(pod) is None or self._is_down(pod):
            raise ConnectError(f"{address} refuses connections")
        return pod

    def _is_down(self, pod: Pod) -> bool:
        node = self.node(pod.metadata.name)
        return node.down or bool(node.crashes)

    # The kubelet.

    async def attend(self) -> None:
        """Be the kubelet."""
        while True:
            pods = await self.cluster.client.list(Pod)
            self._pods = {_address(pod): pod for pod in pods}
            for pod in pods:
                with suppress(NotFound):
                    await self._care(pod)
            await asyncio.sleep(STEP_SECONDS)

    async def _care(self, pod: Pod) -> None:
        uid, place = pod.metadata.uid, f"/api/v1/namespaces/{pod.metadata.namespace}/pods"
        if pod.deleting:
            if uid not in self._going:
                self._going[uid] = self.time
                self.deleted.append((self.time, pod.metadata.name))
            if self.time - self._going[uid] >= self.stop_seconds:
                await self.cluster.client.delete(pod, grace=0)
            return
        if pod.status.phase in ("Failed", "Succeeded") or not await self._mounted(pod):
            return
        if not pod.spec.node_name:
            await self._bind(pod)
        status = self._status(pod)
        if status is not None:
            await self.merge(f"{place}/{pod.metadata.name}/status", {"status": status})

    async def _bind(self, pod: Pod) -> None:
        """Be the scheduler: only a pod that has a node is given time to end."""
        place = f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}/binding"
        target = {"apiVersion": "v1", "kind": "Node", "name": "model"}
        await self.cluster.client.raw(
            "POST",
            place,
            body=msgspec.json.encode({"target": target, "metadata": {"name": pod.metadata.name}}),
        )

    async def _mounted(self, pod: Pod) -> bool:
        """Whether its volumes are there."""
        for volume in pod.spec.volumes:
            held = volume.persistent_volume_claim
            if held is not None:
                claim = await self.cluster.client.find(
                    PersistentVolumeClaim, held.claim_name, pod.metadata.namespace
                )
                if claim is None or claim.deleting or claim.status.phase != "Bound":
                    return False
        return True

    def _status(self, pod: Pod) -> Plain | None:
        """What there is to say of a pod; None if it is said."""
        pulled = all(self.images(each.image) for each in pod.spec.containers)
        if pulled:
            self._since.setdefault(pod.metadata.uid, self.time)
        up = self._up(pod)
        probed = any(each.readiness_probe for each in pod.spec.containers)
        ready = pulled and (not probed or (self.in_sync(pod) and self._settled(up)))
        told = {each.name: each.state.running is not None for each in pod.status.container_statuses}
        restarts = self.node(pod.metadata.name).restarts
        same = all(each.restart_count == restarts for each in pod.status.container_statuses)
        crashes = self.node(pod.metadata.name).crashes
        runs = pulled and not crashes
        known = pod.ready == ready and told and all(told.values()) == runs and same
        if pod.status.pod_ip and known:
            return None
        why = "CrashLoopBackOff" if pulled else "ImagePullBackOff"
        state: Plain = {"running": {}} if runs else {"waiting": {"reason": why}}
        last = {"lastState": {"terminated": {"exitCode": 1, "message": crashes}}} if crashes else {}
        now, address = timestamp(self.cluster.clock.now()), _address(pod)
        return {
            "phase": "Running" if pulled else "Pending",
            "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": now}],
            "containerStatuses": [
                {"name": each.name, "image": each.image, "imageID": "", "ready": ready,
                 "restartCount": restarts, "state": state, **last} for each in pod.spec.containers
            ],
        }  # fmt: skip

    def _settled(self, up: float | None) -> bool:
        return up is not None and up >= self.sync_seconds + self.probe_seconds

    # What a test does and reads.

    async def apply(self, manifest: Plain) -> None:
        """Apply a manifest as `kubectl apply --server-side` does."""
        meta, group = manifest["metadata"], manifest["apiVersion"]
        root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
        plural = f"{manifest['kind'].lower()}s"
        path = f"{root}/namespaces/{meta['namespace']}/{plural}/{meta['name']}"
        await self.cluster.client.raw(
            "PATCH",
            f"{path}?fieldManager=user&force=true",
            body=msgspec.json.encode(manifest),
            headers={"Content-Type": "application/apply-patch+yaml"},
        )

    async def merge(self, path: str, change: Any, kind: str = "merge") -> None:
        """Change something as a user would."""
        await self.cluster.client.raw(
            "PATCH",
            path,
            body=msgspec.json.encode(change),
            headers={"Content-Type": f"application/{kind}-patch+json"},
        )

    async def change(self, spec: Plain, name: str = "hub") -> None:
        """Change the spec of a CosmosFullNode."""
        await self.merge(f"{FULL_NODES}/{name}", {"spec": spec})

    async def full_node(self, name: str = "hub") -> CosmosFullNode:
        return await self.cluster.get(CosmosFullNode, name, NAMESPACE)

    async def phase(self, phase: str, name: str = "hub", within: float = 300.0) -> CosmosFullNode:
        """Wait for a phase of what was last written."""
        return await self.until(
            lambda it: it.status is not None and it.status.phase == phase
            and it.status.observed_generation == it.metadata.generation,
            name, within,
        )  # fmt: skip

    async def until(
        self, holds: Callable[[CosmosFullNode], bool], name: str = "hub", within: float = 300.0
    ) -> CosmosFullNode:
        """Wait for something to be so of a CosmosFullNode."""
        return await self.cluster.eventually(
            CosmosFullNode, name, NAMESPACE, until=holds, within=within
        )

    async def settled(self, name: str = "hub", within: float = 600.0) -> CosmosFullNode:
        """Wait until nothing is to be done, and every node is in sync."""
        return await self.until(_is_settled, name, within)

    async def run(self, **given: Any) -> CosmosFullNode:
        """A CosmosFullNode at rest."""
        await self.apply(full_node(**given))
        found = await self.settled(given.get("name", "hub"))
        await self.cluster.advance(1)
        return found

    async def pods(self) -> dict[str, Pod]:
        """The pods that are to stay, by name."""
        found = await self.cluster.client.list(Pod, NAMESPACE)
        return {pod.metadata.name: pod for pod in found if not pod.deleting}

    async def owned(self, name: str = "hub") -> set[str]:
        """What a CosmosFullNode controls: kind/name."""
        full_node, found = await self.full_node(name), set()
        for kind in OWNED:
            for each in await self.cluster.client.list(kind, NAMESPACE):
                held = controller_of(each)
                if held is not None and held.uid == full_node.metadata.uid:
                    found.add(f"{kind.__name__}/{each.metadata.name}")
        return found

    async def data(self, name: str) -> dict[str, str]:
        """What is in a ConfigMap."""
        return dict((await self.cluster.get(ConfigMap, name, NAMESPACE)).data)

    async def events(self) -> list[tuple[str, str, str]]:
        """What the operator told so far: type, reason and text, in order."""
        await self.cluster.advance(1)  # they are written in the background
        found = await self.cluster.client.list(Event)
        ours = [each for each in found if each.regarding.api_version.startswith("cosmos")]
        return [(each.type, each.reason, each.note) for each in sorted(ours, key=_moment)]

    async def reasons(self) -> list[str]:
        return [reason for _, reason, _ in await self.events()]


FULL_NODES = f"/apis/cosmos.strange.love/v1/namespaces/{NAMESPACE}/cosmosfullnodes"


@dataclass
class ModelledConnection:
    """HTTP to a modelled node, or to its sidecar."""

    testbed: CosmosTestbed
    address: str
    port: int

    async def get(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        status, truth = await self._truth(path, query, seconds)
        if self.testbed.lies is None:
            return status, truth
        self.testbed.lied.add(path)
        return await _lie(next(self.testbed.lies), truth, seconds)

    async def _truth(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        pod = self.testbed.answering(self.address)
        node = self.testbed.node(pod.metadata.name)
        if node.latency:
            await asyncio.sleep(min(node.latency, seconds))
            if node.latency > seconds:
                raise TimeoutError("no answer in time")
        if path == "/disk":
            if node.disk is None:
                return 500, msgspec.json.encode({"dir": query["dir"], "error": "no such folder"})
            return 200, msgspec.json.encode(
                {"dir": query["dir"], "all_bytes": node.disk[0], "free_bytes": node.disk[1]}
            )
        if path == "/net_info":
            return 200, msgspec.json.encode({"result": {"n_peers": str(node.peers)}})
        if path.startswith("/cosmos/upgrade"):
            return 200, msgspec.json.encode({"plan": self.testbed.planned})
        node.asked.append(self.testbed.time)
        if node.breaks is not None:
            raise node.breaks
        if node.answer is not None:
            return 200, node.answer
        return 200, msgspec.json.encode(self.testbed.status(pod))

    async def close(self) -> None:
        pass


async def _lie(seed: int, truth: bytes, seconds: float) -> tuple[int, bytes]:
    """A lie, as a connection delivers it: the real one has a limit of bytes, too."""
    answer = lie(seed, truth)
    if answer.manner in (Manner.SLOW, Manner.SILENT):
        await asyncio.sleep(seconds)
        raise TimeoutError
    if answer.manner is not Manner.WHOLE or answer.head or len(answer.body) > MOST_BYTES:
        raise ConnectError("the connection broke before the whole answer")
    return answer.status, answer.body


def full_node(
    name: str = "hub", replicas: int = 3, image: str = "gaia:v1.2.3", **spec: Any
) -> Plain:
    """A CosmosFullNode of the chain that is modelled; `chain`, `pod` and `claim` add to parts."""
    chain = {
        "chainID": "cosmoshub-4", "network": "mainnet", "binary": "gaiad",
        "app": {"minGasPrice": "0.0025uatom"}, **spec.pop("chain", {}),
    }  # fmt: skip
    pod = {**({"image": image} if image else {}), **spec.pop("pod", {})}
    claim = {
        "storageClassName": "standard", "resources": {"requests": {"storage": "100Gi"}},
        **spec.pop("claim", {}),
    }  # fmt: skip
    meta = {"name": name, "namespace": NAMESPACE, **spec.pop("metadata", {})}
    return {
        "apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode", "metadata": meta,
        "spec": {
            "replicas": replicas, "chain": chain, "podTemplate": pod, "volumeClaimTemplate": claim,
            **spec,
        },
    }  # fmt: skip


def _is_settled(full_node: CosmosFullNode) -> bool:
    status = full_node.status
    return (
        status is not None
        and status.phase == "Complete"
        and status.observed_generation == full_node.metadata.generation
        and (status.ready_replicas or 0) >= full_node.spec.replicas
    )


def _address(pod: Pod) -> str:
    number = int(pod.metadata.uid.replace("-", "")[:8], 16)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _moment(event: Event) -> str:
    return event.event_time or ""


def moment(text: str) -> datetime:
    return parse_timestamp(text)


def _kubernetes() -> Manager:
    """The controllers that matter here; there are no nodes to look after."""
    manager = Manager(KUBERNETES)
    for part in (
        garbage, job, load_balancers, endpoints, ttl, defaults, claims, protection, volumes,
    ):  # fmt: skip
        part.declare(manager)
    return manager


@asynccontextmanager
async def opened(
    options: Options = Options(), *, storage: bool = True, started: bool = True
) -> AsyncIterator[CosmosTestbed]:
    """A testbed in which the operator is at work."""
    cluster = InProcessCluster(rbac=True)
    await cluster.install(CosmosFullNode, ScheduledVolumeSnapshot, StatefulJob)
    testbed = CosmosTestbed(cluster, options)
    await cluster.client.raw(
        "POST", "/api/v1/namespaces", body=msgspec.json.encode({"metadata": {"name": NAMESPACE}})
    )
    parts = [Component(_kubernetes()), *([csi_driver(NoDirectories())] if storage else [])]
    async with _components(cluster, parts), asyncio.TaskGroup() as group:
        task = group.create_task(testbed.attend())
        if started:
            await testbed.start()
        try:
            yield testbed
        finally:
            task.cancel()
            await cluster.close()


@asynccontextmanager
async def _components(cluster: InProcessCluster, parts: Sequence[Component]) -> AsyncIterator[None]:
    if not parts:
        yield
        return
    first, *rest = parts
    running = run_component(cluster.server, first, cluster.clock, Random())
    async with running, _components(cluster, rest):
        yield


__all__ = ["Client", "CosmosTestbed", "ModelledNode", "Rest", "StorageClass", "full_node", "opened"]
