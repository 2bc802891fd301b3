"""Every crash, lost answer and refusal at every write of a device's life, each in its own run."""

from __future__ import annotations

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
from quintant.testing import Scenario, ScenarioWorld, explore_scenario
from quintant.testing.explore.injection.fault import FaultMode

OPTIONS = Options(
    edgemap_addr="off", settle_delay=0.5, write_qps=1000, edgenode_mirror=False,
    collect_period=600.0,
)  # fmt: skip
MODES = tuple(FaultMode(name) for name in (
    "crash-before", "crash-after", "lost", "409", "429", "500", "503", "timeout", "hand-over",
    "stale", "rewind", "unobserved",
))  # fmt: skip


class DeviceLife(Scenario):
    """A device comes, is given another address, and goes."""

    modes = MODES

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("shifu")
        controllers(manager, OPTIONS, _no_figures)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        for name in ("devices", "deviceshifu"):
            await world.create(Namespace(metadata=ObjectMeta(name=name)))
        await _node(world, "n1")
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


def _moved(device: EdgeDevice) -> EdgeDevice:
    return replace(device, spec=replace(device.spec, address="b:2"))


async def _no_figures(_: Client) -> list[NodeMetrics]:
    return []


async def _node(world: ScenarioWorld, name: str) -> None:
    size = {"cpu": "4", "memory": "4Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True"}
    body = {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"capacity": size, "allocatable": size, "conditions": [ready]},
    }  # fmt: skip
    await world.client.raw("POST", "/api/v1/nodes", body=msgspec.json.encode(body))


def test_nothing_that_goes_wrong_leaves_a_trace() -> None:
    explore_scenario(DeviceLife).check()
