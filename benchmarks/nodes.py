"""A large cluster on one machine: simulated pods over simulated nodes, until all are ready."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from processes.usage import MEGABYTE, usage

if TYPE_CHECKING:
    from quintant.cluster.instance.cluster import Cluster
    from quintant.runtime.cache.client import Client

DEPLOYMENTS = 20
SECONDS, MEGABYTES = 60.0, 250
METHOD = (
    "One process: API server, controllers, scheduler and {nodes:,} simulated nodes that renew "
    f"their leases. {DEPLOYMENTS} Deployments of {{each:,}} replicas are created; the time is from "
    "the first of them to the last pod that is Ready, as a watch over HTTPS sees it. CPU and peak "
    "RSS are of the whole process, nodes and the watching client included."
)


class Figures(msgspec.Struct):
    """What a run took."""

    nodes: float
    """Seconds until the nodes were there."""
    seconds: float
    """Seconds until all pods were ready."""
    cpu: float
    peak: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Bring up one cluster."""
    say(f"nodes: {sizes.pods:,} pods over {sizes.nodes:,} nodes")
    found = answer("nodes", str(sizes.nodes), str(sizes.pods), to=Figures)
    yield Table(
        "A large cluster",
        METHOD.format(nodes=sizes.nodes, each=sizes.pods // DEPLOYMENTS),
        ("", "nodes there", "pods ready", "pods/s", "CPU", "peak RSS"),
        [
            (
                f"{sizes.pods:,} pods, {sizes.nodes:,} nodes",
                f"{found.nodes:.1f} s",
                f"{found.seconds:.1f} s",
                f"{sizes.pods / found.seconds:.0f}",
                f"{found.cpu:.1f} s",
                f"{found.peak:.0f} MB",
            )
        ],
        (
            Budget(
                f"ready within {SECONDS:.0f} s",
                f"{found.seconds:.1f} s",
                found.seconds <= SECONDS,
            ),
            Budget(f"at most {MEGABYTES} MB", f"{found.peak:.0f} MB", found.peak <= MEGABYTES),
        ),
    )


async def _measure(nodes: int, pods: int) -> Figures:
    from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
    from quintant.cluster.simulated.fleet import Fleet
    from quintant.core.address import BindAddress

    began = time.monotonic()
    plan = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(nodes))
    async with run_cluster(plan) as cluster, _client(cluster) as client:
        await _nodes(client, nodes)
        there, started = time.monotonic() - began, time.monotonic()
        async with asyncio.TaskGroup() as group:
            group.create_task(_ready(client, pods))
            for number in range(DEPLOYMENTS):
                await _deploy(client, f"web-{number}", pods // DEPLOYMENTS)
        took = time.monotonic() - started
        used = usage(os.getpid())
        return Figures(there, took, used.cpu, used.peak / MEGABYTE)


@asynccontextmanager
async def _client(cluster: Cluster) -> AsyncIterator[Client]:
    """Somebody outside, with the kubeconfig."""
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport
    from quintant.client.rest import Rest
    from quintant.cluster.instance.cluster import save_kubeconfig
    from quintant.runtime.cache.client import Client

    with TemporaryDirectory(prefix="quintant-bench-") as folder:
        save_kubeconfig(cluster, Path(folder) / "kubeconfig")
        transport = HttpTransport(Config.load(Path(folder) / "kubeconfig"))
    try:
        yield Client(Rest(transport))
    finally:
        await transport.close()


async def _nodes(client: Client, count: int) -> None:
    from quintant.api.core import Node
    from quintant.core.object import Metadata

    seen: set[str] = set()
    async for change in client.watch(Metadata[Node]):
        if change.new is not None:
            seen.add(change.new.metadata.name)
        if len(seen) == count:
            return


async def _ready(client: Client, count: int) -> None:
    from quintant.cluster.controllers.pods.views import PodState, pod_ready

    seen: set[str] = set()
    async for change in client.watch(PodState, "default"):
        if change.new is not None and pod_ready(change.new):
            seen.add(change.new.metadata.uid)
        if len(seen) == count:
            return


async def _deploy(client: Client, name: str, replicas: int) -> None:
    labels = {"app": name}
    requests = {"cpu": "100m", "memory": "64Mi"}
    container = {"name": "web", "image": "nginx", "resources": {"requests": requests}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    await client.raw(
        "POST",
        "/apis/apps/v1/namespaces/default/deployments",
        body=msgspec.json.encode({"metadata": {"name": name}, "spec": spec}),
        headers={"content-type": "application/json"},
    )


if __name__ == "__main__":
    import uvloop

    from quintant.runtime.observe import logs

    logs.configure()
    print(msgspec.json.encode(uvloop.run(_measure(*map(int, sys.argv[1:])))).decode())
