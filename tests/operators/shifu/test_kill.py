"""Two processes of the operator, and a SIGKILL in the middle of an evacuation (G4)."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import patience
from processes.running import running_command
from quintant.api.apps import Deployment
from quintant.api.coordination import Lease
from quintant.api.core import Namespace, ServiceAccount
from quintant.client.rest import MERGE, Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.common.labels import FAULT, SIMULATED
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.object import ObjectMeta
from quintant.die_with_parent import die_with_parent
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.api.names import MOVES, PLACED_NODE
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.api.telemetry import TelemetryService
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_crds
from scenarios.soak_size import SHARE
from testbeds.shifu import DEVICES, HOME, SHIFUS

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(SHARE != 1, reason="a minute of real time: make soak K=shifu"),
]

MANY = 40
SETTINGS = {
    "EDGEMAP_ADDR": "off", "NODE_LOST_AFTER": "1s", "SETTLE_DELAY": "500ms", "WRITE_QPS": "10",
    "RESCHEDULE": "evacuate-only",
}  # fmt: skip
WITHIN_SECONDS = 120.0
LOOK_SECONDS = 0.25
STANDBYS = 2
"""One that loses its lease on a busy machine ends itself, and nobody starts it again here."""


@asynccontextmanager
async def site(way: Path) -> AsyncIterator[Client]:
    """A cluster with simulated nodes, and the way to it in a file."""
    config = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet())
    async with run_cluster(config) as cluster:
        cluster.server.tokens.add("root", admin("root"))
        transport = InProcessTransport(cluster.server, "root")
        await install_crds(transport, [EdgeDevice, EdgeNode, TelemetryService])
        client = Client(Rest(transport), manager="test")
        for name in (DEVICES, SHIFUS, HOME):
            await client.create(Namespace(metadata=ObjectMeta(name=name)))
        account = ObjectMeta(name="edgedevice-sa", namespace=SHIFUS)
        await client.create(ServiceAccount(metadata=account))
        save_kubeconfig(cluster, way)
        yield client


@contextmanager
def replica(way: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the operator."""
    flags = ("--kubeconfig", str(way), "--probes=", "--metrics=", "--leader-elect")
    command = [sys.executable, "-m", "quintant", "operator", "shifu", *flags]
    with running_command(die_with_parent(command), env=SETTINGS) as process:
        yield process


async def node(client: Client, name: str) -> None:
    size = {"cpu": "64", "memory": "64Gi", "pods": "500"}
    meta = {"name": name, "labels": {SIMULATED: "true"}}
    body = {
        "apiVersion": "v1", "kind": "Node", "metadata": meta,
        "status": {"capacity": size, "allocatable": size},
    }  # fmt: skip
    await client.raw("POST", "/api/v1/nodes", body=msgspec.json.encode(body))


async def until(client: Client, true: Any) -> list[Deployment]:
    """The Deployments, as soon as they are as wanted."""
    async with patience.within(WITHIN_SECONDS):
        while not true(found := await client.list(Deployment, SHIFUS, live=True)):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)
    return list(found)


def elsewhere(found: list[Deployment]) -> int:
    return sum(each.metadata.annotations.get(PLACED_NODE) != "n1" for each in found)


def all_up(found: list[Deployment]) -> bool:
    return len(found) == MANY and all(each.status.available_replicas == 1 for each in found)


async def test_g4_soak_the_standby_finishes_what_a_killed_process_began(tmp_path: Path) -> None:
    way = tmp_path / "kubeconfig"
    async with site(way) as client:
        with ExitStack() as stack:
            first = stack.enter_context(replica(way))
            await client.wait_for(
                Lease, "shifu", "default", until=lambda lease: lease is not None, timeout=60
            )
            for _ in range(STANDBYS):
                stack.enter_context(replica(way))
            await node(client, "n1")
            for number in range(MANY):
                meta = ObjectMeta(name=f"d{number:02}", namespace=DEVICES)
                spec = EdgeDeviceSpec(protocol="HTTP", address="10.0.0.1:80")
                await client.create(EdgeDevice(metadata=meta, spec=spec))
            await until(client, all_up)
            await node(client, "n2")
            change = {"metadata": {"annotations": {FAULT: "not-ready"}}}
            await client.raw(
                "PATCH", "/api/v1/nodes/n1", body=msgspec.json.encode(change),
                headers={"Content-Type": MERGE},
            )  # fmt: skip

            found = await until(client, lambda found: elsewhere(found) > MANY // 4)
            first.send_signal(signal.SIGKILL)
            assert elsewhere(found) < MANY, "it was killed too late"
            found = await until(client, lambda found: elsewhere(found) == MANY and all_up(found))
            assert {each.metadata.annotations[MOVES] for each in found} == {"1"}
