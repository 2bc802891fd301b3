"""python -m benchmarks.console_site DEVICES NODES FOLDER: a cluster that a console looks at.

Devices with their pods and nodes, on an embedded server that keeps objects and does nothing with
them. A line on standard input is how many devices change from then on in a second: each change
writes the time of day in milliseconds as the device's SKU, so that whoever sees it knows how long
it took. Every tenth change is of a device that stands at the top of a list.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path

import msgspec
import uvloop

from benchmarks.subprocesses import module_command
from quintant.api.meta import Condition
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.core.object import ObjectMeta
from quintant.die_with_parent import die_with_parent
from quintant.operators.shifu.api.device import (
    RUNNING,
    DeviceShifuStatus,
    EdgeDevice,
    EdgeDeviceSpec,
    EdgeDeviceStatus,
    PlacementStatus,
)
from quintant.operators.shifu.api.node import (
    EdgeNode,
    EdgeNodeSpec,
    EdgeNodeStatus,
    NodeLocation,
)
from quintant.runtime.cache.client import Client
from shifu_site.world import DEVICES, SHIFUS, prepare

KUBECONFIG = "kubeconfig"
WRITERS = 8
TOP = 10
"""Devices that are first in every list."""
SINCE = "2026-01-01T00:00:00Z"
READY = Condition(type="Ready", status="True", reason="Running", last_transition_time=SINCE)


class ConsoleSite:
    """The process of a site."""

    def __init__(self, child: subprocess.Popen[str], folder: Path) -> None:
        self._child, self.kubeconfig = child, folder / KUBECONFIG

    def wait(self) -> None:
        """Return when everything is there."""
        assert self._child.stdout is not None
        assert self._child.stdout.readline(), "the site ended before it served"

    def change(self, rate: int) -> None:
        """Let so many devices change in a second, until another number is said."""
        assert self._child.stdin is not None
        self._child.stdin.write(f"{rate}\n")
        self._child.stdin.flush()


@contextmanager
def console_site(devices: int, nodes: int, folder: Path) -> Iterator[ConsoleSite]:
    """A site for as long as the context lasts."""
    command = module_command("console_site", str(devices), str(nodes), str(folder))
    pipe = subprocess.PIPE
    with subprocess.Popen(die_with_parent(command), stdin=pipe, stdout=pipe, text=True) as child:
        try:
            site = ConsoleSite(child, folder)
            site.wait()
            yield site
        finally:
            child.kill()


async def main(devices: int, nodes: int, folder: Path) -> None:
    """Serve until killed."""
    async with _cluster(folder) as client:
        await prepare(client)
        await _many(nodes, lambda at: _make_node(client, at))
        await _many(devices, lambda at: _make_device(client, at, f"node-{at % nodes:04}"))
        print("ready", flush=True)
        await _change(client, devices)


@asynccontextmanager
async def _cluster(folder: Path) -> AsyncIterator[Client]:
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        save_kubeconfig(cluster, folder / KUBECONFIG)
        cluster.server.tokens.add("root", admin("root"))
        transport = InProcessTransport(cluster.server, "root")
        yield Client(Rest(transport), manager="shifu-controller")


async def _many(number: int, make: Callable[[int], Awaitable[None]]) -> None:
    left = iter(range(number))

    async def work() -> None:
        for at in left:
            await make(at)

    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(work())


async def _make_node(client: Client, number: int) -> None:
    name = f"node-{number:04}"
    size = {"cpu": "8", "memory": "32Gi", "pods": "2000"}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": SINCE}
    status = {"capacity": size, "allocatable": size, "conditions": [ready]}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}
    await client.raw("POST", "/api/v1/nodes", body=msgspec.json.encode(body))
    location = NodeLocation(latitude=number % 90, longitude=number % 180)
    meta = ObjectMeta(name=name)
    made = await client.create(EdgeNode(metadata=meta, spec=EdgeNodeSpec(location=location)))
    await client.set_status(made, EdgeNodeStatus(phase="Ready", conditions=(READY,)))


async def _make_device(client: Client, number: int, node: str) -> None:
    name = f"sensor-{number:05}"
    spec = EdgeDeviceSpec(
        sku="sensor", connection="Ethernet", protocol="HTTP", address="127.0.0.1:80"
    )
    meta = ObjectMeta(name=name, namespace=DEVICES, labels={"hall": f"h{number % 10}"})
    made = await client.create(EdgeDevice(metadata=meta, spec=spec))
    status = EdgeDeviceStatus(
        phase=RUNNING,
        placement=PlacementStatus(node_name=node, kind="Memory", reason="most free memory"),
        device_shifu=DeviceShifuStatus(deployment=name, url=f"http://{name}.{SHIFUS}.svc"),
        conditions=(READY,),
    )
    await client.set_status(made, status)
    asks = {"requests": {"cpu": "10m", "memory": "40Mi"}}
    container = {"name": "agent", "image": "quintant", "resources": asks}
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": SHIFUS},
        "spec": {"nodeName": node, "containers": [container]},
    }  # fmt: skip
    path = f"/api/v1/namespaces/{SHIFUS}/pods"
    await client.raw("POST", path, body=msgspec.json.encode(pod))


async def _change(client: Client, devices: int) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    work: asyncio.Task[None] | None = None
    while line := await reader.readline():
        if work is not None:
            work.cancel()
        rate = int(line)
        work = asyncio.create_task(_keep_changing(client, devices, rate)) if rate else None


async def _keep_changing(client: Client, devices: int, rate: int) -> None:
    began = time.monotonic()
    for at in count():
        await asyncio.sleep(max(0.0, began + at / rate - time.monotonic()))
        number = at // 10 % TOP if at % 10 == 0 else at * 7 % devices
        stamp = {"op": "replace", "path": "/spec/sku", "value": f"t{time.time() * 1000:.0f}"}
        meta = ObjectMeta(name=f"sensor-{number:05}", namespace=DEVICES)
        await client.json_patch(EdgeDevice, meta, [stamp])


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
