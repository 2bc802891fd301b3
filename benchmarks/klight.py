"""The klight controller with many pods: how long it joins them, and what a restart costs.

Three processes: an embedded API server with the pods (and this benchmark), peers that say yes at
once, each at an address of its own, and the controller as users run it. So what is measured is the
controller: its calls, its records on pods, its statuses.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import grpc.aio

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.stub_lightpeers import JOINS
from processes.usage import MEGABYTE, usage
from quintant.api.container import Container
from quintant.api.core import Pod
from quintant.api.pod import PodSpec, PodStatus
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.core.object import ObjectMeta
from quintant.operators.klight.api import LABEL, NETWORK
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_crds

NETWORKS = 20
IDLE_SECONDS = 20.0
JOIN_SECONDS, RESTART_SECONDS = 60.0, 5.0
# Half of what the generated Deployment allows.
MEGABYTES = 128
METHOD = (
    "{pods:,} pods in {networks} networks, on an embedded API server over HTTPS. Peers are one "
    "process that answers at once, at an address per pod. Joined: from the start of the "
    "controller's process until the last pod has its record; joins of one network are one after "
    "another. CPU and RSS are the controller's. Idle is over {idle:g} s in which every member is "
    "checked each 10 s. Restart: the controller is killed and started again; until every network "
    "was checked and shown anew, with the joins that took."
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run took."""

    joined: float
    cpu: float
    rss: float
    idle: float
    restart: float
    joins: int
    again: int


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Join everybody, wait, and restart."""
    pods = sizes.pods // 2
    say(f"klight: {pods:,} pods")
    found = asyncio.run(_measure(pods))
    head = ("pods", "joined", "per join", "CPU", "RSS", "idle CPU", "restart", "joins again")
    row = (
        f"{pods:,}",
        f"{found.joined:.1f} s",
        f"{found.joined / pods * 1000:.1f} ms",
        f"{found.cpu:.1f} s",
        f"{found.rss:.0f} MB",
        f"{found.idle * 100:.0f} %",
        f"{found.restart:.1f} s",
        f"{found.again}",
    )
    budgets = [
        Budget(f"all joined within {JOIN_SECONDS:g} s", row[1], found.joined <= JOIN_SECONDS),
        Budget("each joined once", f"{found.joins}", found.joins == pods - NETWORKS),
        Budget(f"RSS below {MEGABYTES} MB", row[4], found.rss < MEGABYTES),
        Budget(
            f"ready {RESTART_SECONDS:g} s after a restart", row[6], found.restart <= RESTART_SECONDS
        ),
        Budget("a restart joins nobody", row[7], found.again == 0),
    ]
    method = METHOD.format(pods=pods, networks=NETWORKS, idle=IDLE_SECONDS)
    yield Table("The klight controller", method, head, [row], budgets)


async def _measure(pods: int) -> Figures:
    addresses = [f"127.88.{number // 250}.{number % 250 + 1}" for number in range(pods)]
    with TemporaryDirectory() as folder, _recorders(addresses):
        async with _cluster() as (cluster, client):
            way = Path(folder) / "kubeconfig"
            save_kubeconfig(cluster, way)
            await _create(client, addresses)
            with _controller(way) as controller:
                began = monotonic()
                await _recorded(client, pods)
                joined, used = monotonic() - began, usage(controller.pid)
                joins = await _joins(addresses[0])
                before = usage(controller.pid).cpu
                await asyncio.sleep(IDLE_SECONDS)
                idle = (usage(controller.pid).cpu - before) / IDLE_SECONDS
                rss = usage(controller.pid).rss / MEGABYTE
            await _delete(client)
            with _controller(way):
                began = monotonic()
                await _shown(client)
                restart = monotonic() - began
            again = await _joins(addresses[0]) - joins
    return Figures(joined, used.cpu, rss, idle, restart, joins, again)


@asynccontextmanager
async def _cluster() -> AsyncIterator[tuple[Cluster, Client]]:
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        cluster.server.tokens.add("root", admin("root"))
        transport = InProcessTransport(cluster.server, "root")
        await install_crds(transport, [LightNetwork])
        yield cluster, Client(Rest(transport), manager="benchmark")


@contextmanager
def _recorders(addresses: list[str]) -> Iterator[None]:
    line = [sys.executable, "-m", "benchmarks.stub_lightpeers"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(line, **pipes) as peers:
        assert peers.stdin is not None
        assert peers.stdout is not None
        peers.stdin.write("\n".join(f"{each}:9081" for each in addresses).encode())
        peers.stdin.close()
        peers.stdout.readline()
        try:
            yield
        finally:
            peers.kill()


@contextmanager
def _controller(way: Path) -> Iterator[subprocess.Popen[bytes]]:
    flags = ("--kubeconfig", str(way), "--metrics=", "--probes=")
    line = [sys.executable, "-m", "quintant", "operator", "klight", *flags]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


async def _create(client: Client, addresses: list[str]) -> None:
    spec = PodSpec(containers=(Container(name="lightpeer", image="lightpeer"),))
    for number, address in enumerate(addresses):
        labels = {LABEL: f"net-{number % NETWORKS}"}
        meta = ObjectMeta(name=f"pod-{number:05}", namespace="default", labels=labels)
        pod = await client.create(Pod(metadata=meta, spec=spec))
        await client.set_status(pod, PodStatus(phase="Running", pod_ip=address))


async def _recorded(client: Client, pods: int) -> None:
    """Wait until every pod has its record."""
    done: set[str] = set()
    async for change in client.watch(Pod, "default"):
        if change.new is not None and NETWORK in change.new.metadata.annotations:
            done.add(change.new.metadata.name)
        if len(done) == pods:
            return


async def _delete(client: Client) -> None:
    """Take away what shows the networks, so that it is seen when they are shown anew."""
    for network in await client.list(LightNetwork, "default"):
        await client.delete(network)


async def _shown(client: Client) -> None:
    """Wait until every network is shown as ready."""
    ready: set[str] = set()
    async for change in client.watch(LightNetwork, "default"):
        if change.new is not None and change.new.status and change.new.status.phase == "Ready":
            ready.add(change.new.metadata.name)
        if len(ready) == NETWORKS:
            return


async def _joins(address: str) -> int:
    async with grpc.aio.insecure_channel(f"{address}:9081") as channel:
        ask: Any = channel.unary_unary(JOINS)
        return int(await ask(b""))
