"""A site at rest: devices with everything that is composed for them, and nodes, on a bare server.

Nothing runs: Deployments say that they are available, pods that they are ready, nodes that they are
well. The operator finds all of it as it would have made it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from quintant.api.apps import Deployment, DeploymentStatus
from quintant.api.core import Namespace, Pod, PodStatus
from quintant.api.meta import Condition
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster
from quintant.core.address import BindAddress
from quintant.core.clock import SystemClock, timestamp
from quintant.core.object import K, ObjectMeta
from quintant.operators.shifu.act.children import POLICY
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.api.names import LOCATION
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.api.telemetry import TelemetryService
from quintant.operators.shifu.builders.config import generated_config
from quintant.operators.shifu.builders.deployment import PlacedDevice, deployment
from quintant.operators.shifu.builders.names import config_name
from quintant.operators.shifu.builders.ports import service
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.device import placement_digest
from quintant.operators.shifu.rules.hints import resolve_hints
from quintant.runtime.apply import diff
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_crds

DEVICES, SHIFUS = "devices", "deviceshifu"
OPTIONS = Options()


@asynccontextmanager
async def bare_cluster() -> AsyncIterator[tuple[Cluster, Client]]:
    """A server that keeps objects, and does nothing with them."""
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        cluster.server.tokens.add("root", admin("root"))
        transport = InProcessTransport(cluster.server, "root")
        client = Client(Rest(transport), manager="shifu-controller")
        await prepare(client)
        yield cluster, client


async def prepare(client: Client) -> None:
    """Install the kinds, and make the namespaces that everything is in."""
    await install_crds(client.rest.transport, [EdgeDevice, EdgeNode, TelemetryService])
    for name in (DEVICES, SHIFUS, "shifu-service", "shifu-system"):
        await client.create(Namespace(metadata=ObjectMeta(name=name)))


async def settle(client: Client, devices: int, nodes: int, used: int = 0) -> None:
    """Make nodes, devices on the first `used` of them or on all, and all that devices have."""
    now = timestamp(SystemClock().now())
    for number in range(nodes):
        await _node(client, number, now)
    for number in range(devices):
        await _device(client, number, f"node-{number % (used or nodes):04}", now)


async def _node(client: Client, number: int, now: str) -> None:
    size = {"cpu": "8", "memory": "32Gi", "pods": "2000"}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": now}
    place = f"{number % 90},{number % 180}"
    meta = {"name": f"node-{number:04}", "annotations": {LOCATION: place}}
    status = {"capacity": size, "allocatable": size, "conditions": [ready]}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}
    await client.raw("POST", "/api/v1/nodes", body=msgspec.json.encode(body))


async def _device(client: Client, number: int, node: str, now: str) -> None:
    spec = EdgeDeviceSpec(
        sku="sensor", connection="Ethernet", protocol="HTTP",
        address=f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}:80",
    )  # fmt: skip
    meta = ObjectMeta(name=f"edgedevice-sensor-{number:05}", namespace=DEVICES)
    device = await client.create(EdgeDevice(metadata=meta, spec=spec))
    hints = resolve_hints(device)
    placed = PlacedDevice(
        device, hints, node, "Memory", now, placement_digest(hints), "", config_name(device.key)
    )
    await client.apply(_child(generated_config(device, SHIFUS), device))
    await client.apply(_child(service(device, SHIFUS, OPTIONS.service_type), device))
    made = await client.apply(_child(deployment(placed, OPTIONS.agent, SHIFUS), device))
    up = DeploymentStatus(
        observed_generation=1, replicas=1, updated_replicas=1, ready_replicas=1,
        available_replicas=1,
    )  # fmt: skip
    await client.set_status(made, up)
    await _pod(client, made, node, now)


def _child(want: K, device: EdgeDevice) -> K:
    made: Any = diff((want,), (), by=device, mark=POLICY.mark, across_namespaces=True).create[0]
    return made  # type: ignore[no-any-return]


async def _pod(client: Client, made: Deployment, node: str, now: str) -> None:
    template = made.spec.template.value
    body = {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": f"{made.metadata.name}-5d4f8-abcde", "namespace": SHIFUS,
            "labels": template["metadata"]["labels"],
        },
        "spec": {**template["spec"], "nodeName": node},
    }  # fmt: skip
    path = f"/api/v1/namespaces/{SHIFUS}/pods"
    raw = await client.raw("POST", path, body=msgspec.json.encode(body))
    pod = msgspec.json.decode(raw)
    ready = Condition(type="Ready", status="True", last_transition_time=now)
    placed = Condition(type="PodScheduled", status="True", last_transition_time=now)
    status = PodStatus(phase="Running", conditions=(ready, placed))
    held = Pod(metadata=ObjectMeta(name=pod["metadata"]["name"], namespace=SHIFUS))
    await client.set_status(held, status)
