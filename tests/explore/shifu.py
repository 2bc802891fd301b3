"""shifu at every point: a device comes, moves to another address, and goes.

There is one node and no kubelet: what is explored is what shifu writes, not what pods do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.api.apps import Deployment
from quintant.api.core import Namespace, Service
from quintant.api.metrics import NodeMetrics
from quintant.core.object import ObjectMeta, replace
from quintant.operators.shifu import controllers
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.options import Options
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, Scenario, ScenarioWorld, SpecScenario

OPTIONS = Options(
    edgemap_addr="off", settle_delay=0.5, write_qps=1000, edgenode_mirror=False,
    collect_period=600.0,
)  # fmt: skip


class DeviceLife(Scenario):
    """A device comes, is given another address, and goes."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("shifu")
        controllers(manager, OPTIONS, _no_figures)
        return [manager]

    async def prepare(self, cluster: InProcessCluster) -> None:
        for name in ("devices", "deviceshifu"):
            await cluster.create(Namespace(metadata=ObjectMeta(name=name)))
        await _add_node(cluster.client, "n1")

    async def script(self, world: ScenarioWorld) -> None:
        meta = ObjectMeta(name="camera", namespace="devices")
        spec = EdgeDeviceSpec(protocol="HTTP", address="a:1")
        await world.create(EdgeDevice(metadata=meta, spec=spec))
        await world.quiet()
        await world.edit(EdgeDevice, "camera", _moved, namespace="devices")
        await world.quiet()
        await world.delete(EdgeDevice, "camera", namespace="devices")
        await world.quiet()

    def normalise(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """The revision of a child covers the time at which it was placed."""
        labels = document["metadata"].get("labels", {})
        labels.pop("shifu.edgenesis.io/compose-hash", None)
        return document

    def always(self, world: ScenarioWorld) -> None:
        assert len(world.all(Deployment)) <= 1, "two deviceShifus of one device"

    def settled(self, world: ScenarioWorld) -> None:
        assert not world.all(Deployment), "a deviceShifu outlived its device"
        assert not [each for each in world.all(Service) if each.metadata.namespace == "deviceshifu"]


class DeviceSpecs(SpecScenario, DeviceLife):
    """Everything that can be said of an EdgeDevice, with two nodes to be on."""

    subject = EdgeDevice(
        metadata=ObjectMeta(name="camera", namespace="devices"),
        spec=EdgeDeviceSpec(protocol="HTTP", address="a:1"),
    )

    without_effect: Mapping[str, str] = {
        "connectionInfo": "for people",
        "description": "for people",
    }

    def hopeless(self, document: dict[str, Any]) -> bool:
        """A device without a node stays where it is, if it is somewhere."""
        scheduled = document["status"]["conditions"]["Scheduled"]
        return bool(scheduled["status"] != "True")

    async def prepare(self, cluster: InProcessCluster) -> None:
        await super().prepare(cluster)
        await _add_node(cluster.client, "n2")

    def settled(self, world: ScenarioWorld) -> None:
        assert len(world.all(Deployment)) == 1, "the device has no deviceShifu"


def _moved(device: EdgeDevice) -> EdgeDevice:
    return replace(device, spec=replace(device.spec, address="b:2"))


async def _no_figures(_: Client) -> list[NodeMetrics]:
    return []


async def _add_node(client: Client, name: str) -> None:
    size = {"cpu": "4", "memory": "4Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True"}
    body = {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"capacity": size, "allocatable": size, "conditions": [ready]},
    }  # fmt: skip
    await client.raw("POST", "/api/v1/nodes", body=msgspec.json.encode(body))
