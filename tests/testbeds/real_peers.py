"""Real lightpeers on an embedded cluster, the operator beside them, and clients of the peers."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

import patience
from node.node_fixture import alive, children
from quintant.api.core import Pod
from quintant.api.events import Event
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster
from quintant.core import codec
from quintant.core.errors import BadRequest, NotFound
from quintant.core.object import replace
from quintant.operators.klight import controllers
from quintant.operators.klight.api import LABEL, PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.observed.answers import Answer
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.options import Options
from quintant.operators.klight.remote.grpc_peers import GrpcPeers
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from quintant.wire.lightpeer import (
    PERSIST,
    QUERY,
    EmptyQueryRequest,
    PersistRequest,
    QueryResponse,
)

NETWORK = "net"
PATIENCE_SECONDS = 60.0
"""How long a busy machine may take for anything."""
# Checked often, so that a test sees in seconds what takes half a minute elsewhere.
QUICK = Options(probe_interval=2.0, down_after=6.0, settle=10.0)


class Counted(GrpcPeers):
    """The peers of production, and a log of what they were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.joins: list[tuple[str, str]] = []

    async def join(self, address: str, contact: str, within: float) -> Answer:
        self.joins.append((address, contact))
        return await super().join(address, contact, within)


class RealPeersTestbed:
    """A cluster whose pods are real peers."""

    def __init__(self, cluster: Cluster) -> None:
        cluster.server.tokens.add("root", admin("root"))
        self.cluster = cluster
        self.transport = InProcessTransport(cluster.server, "root")
        self.client = Client(Rest(self.transport), manager="test")
        self.peers = Counted()
        self.patience = PATIENCE_SECONDS
        self._running: tuple[Engine, asyncio.Task[None]] | None = None

    async def start(self, options: Options = QUICK) -> None:
        """Start the controller."""
        manager = Manager("klight")
        controllers(manager, options, self.peers)
        await install_crds(self.transport, manager.kinds())
        engine = manager.bind(Environment(self.transport))
        self._running = engine, asyncio.ensure_future(engine.run())
        async with patience.within(PATIENCE_SECONDS):
            await engine.started.wait()

    async def kill(self) -> None:
        """Kill the controller."""
        if self._running is not None:
            engine, task = self._running
            self._running = None
            engine.abandon()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def close(self) -> None:
        """End everything of ours."""
        await self.kill()
        await self.peers.close()

    async def create(self, manifest: dict[str, Any]) -> None:
        """Create any object."""
        group = manifest["apiVersion"]
        root = f"/apis/{group}" if "/" in group else f"/api/{group}"
        plural = f"{manifest['kind'].lower()}s"
        path = f"{root}/namespaces/default/{plural}"
        headers = {"content-type": "application/json"}
        await self.client.raw("POST", path, body=codec.encode(manifest), headers=headers)

    async def pod(self, name: str, network: str = NETWORK, **more: Any) -> None:
        """Create a pod that is a peer, unless its spec says otherwise."""
        meta = {"name": name, "labels": {LABEL: network}}
        spec = peer_spec() | more
        await self.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})

    async def replicas(self, count: int, network: str = NETWORK) -> None:
        """Keep so many peers, whatever becomes of each."""
        labels = {LABEL: network, "app": "peers"}
        template = {"metadata": {"labels": labels}, "spec": peer_spec()}
        spec = {"replicas": count, "selector": {"matchLabels": labels}, "template": template}
        meta = {"name": "peers"}
        await self.create(
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": spec}
        )

    async def delete(self, name: str, **options: Any) -> None:
        """Delete a pod."""
        await self.client.delete(await self.client.get(Pod, name, "default"), **options)

    async def pods(self) -> list[PeerPod]:
        """The pods that are not on their way out."""
        found = await self.client.list(PeerPod, "default", labels={LABEL: ""})
        return [pod for pod in found if not pod.deleting]

    async def addresses(self) -> dict[str, str]:
        """Where the members are, by pod."""
        records = [(pod, Membership.read(pod.metadata.annotations)) for pod in await self.pods()]
        return {pod.metadata.name: record.address for pod, record in records if record}

    async def formed(self, count: int) -> None:
        """Wait until so many pods are members, and every one sees exactly these."""

        async def whole() -> bool:
            members = set((await self.addresses()).values())
            if len(members) != count or len(await self.pods()) != count:
                return False
            return all([await self.view(each) == members for each in members])

        await self.until(whole)

    async def enough(self, count: int) -> None:
        """Wait until so many members serve and see each other."""

        async def whole() -> bool:
            members = set((await self.addresses()).values())
            views = [await self.view(each) for each in members]
            return sum(len(view & members) >= count for view in views) >= count

        await self.until(whole)

    async def view(self, address: str) -> set[str]:
        """The members as a peer sees them."""
        status = await self.peers.status(address, 2)
        return {member.address for member in status.members} if status is not None else set()

    async def log(self, name: str, container: str) -> str:
        """What a container printed; nothing while there is none."""
        path = f"/api/v1/namespaces/default/pods/{name}/log?container={container}"
        try:
            return (await self.client.raw("GET", path)).decode()
        except (BadRequest, NotFound):
            return ""

    async def shown(self, network: str = NETWORK) -> LightNetwork:
        """The network's object."""
        return await self.client.get(LightNetwork, network, "default")

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait until something holds."""
        async with patience.within(self.patience):
            while not await holds():  # noqa: ASYNC110 - other processes tell nobody
                await asyncio.sleep(0.2)

    def processes(self) -> list[int]:
        """The processes of the peers."""
        return [pid for pid in children(os.getpid()) if b"lightpeer" in _read(pid, "cmdline")]

    async def process(self, name: str) -> int:
        """The process of a pod's peer, as soon as there is one."""
        found: list[int] = []

        async def runs() -> bool:
            pod = await self.client.get(PeerPod, name, "default")
            mark = f"QUINTANT_POD_IP={pod.status.pod_ip}\0".encode()
            found[:] = [pid for pid in self.processes() if mark in _read(pid, "environ")]
            return bool(pod.status.pod_ip and found)

        await self.until(runs)
        return found[0]

    async def label(self, name: str, network: str) -> None:
        """Give a pod another network."""
        pod = await self.client.get(Pod, name, "default")
        meta = replace(pod.metadata, labels={**pod.metadata.labels, LABEL: network})
        await self.client.patch(replace(pod, metadata=meta), since=pod)

    async def events(self, name: str) -> set[str]:
        """The reasons of a pod's events."""
        found = await self.client.list(Event, "default")
        return {each.reason for each in found if each.regarding and each.regarding.name == name}


def peer_spec() -> dict[str, Any]:
    """A pod with one lightpeer that keeps its blocks over restarts of its container."""
    container = {
        "name": "lightpeer",
        "image": "quintant/lightpeer",
        "args": ["-repo=/blocks", "-on-join=merge"],
        "volumeMounts": [{"name": "blocks", "mountPath": "/blocks"}],
    }
    return {
        "containers": [container],
        "volumes": [{"name": "blocks", "emptyDir": {}}],
        "terminationGracePeriodSeconds": 5,
    }


def shoot(pid: int) -> None:
    """End a process as a crash would."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


async def persist(address: str, payload: bytes) -> bool:
    """Have a peer keep something; whether it acknowledged."""
    async with grpc.aio.insecure_channel(address, (("grpc.enable_http_proxy", 0),)) as channel:
        ask: Any = channel.unary_unary(PERSIST.path)
        try:
            await ask(PersistRequest(payload).encode(), timeout=5)
        except grpc.aio.AioRpcError:
            return False
    return True


async def query(address: str) -> list[bytes]:
    """Everything that a peer has."""
    async with grpc.aio.insecure_channel(address, (("grpc.enable_http_proxy", 0),)) as channel:
        ask: Any = channel.unary_stream(QUERY.path)
        call = ask(EmptyQueryRequest().encode(), timeout=10)
        return [QueryResponse.decode(raw).payload async for raw in call]


def _read(pid: int, file: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes() if alive(pid) else b""
    except OSError:
        return b""
