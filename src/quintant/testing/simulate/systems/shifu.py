"""shifu with its users: devices whose deviceShifus leave nodes that are lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from quintant.api.apps import Deployment
from quintant.api.core import Pod
from quintant.api.metrics import NodeMetrics
from quintant.core.errors import AlreadyExists
from quintant.core.object import Object
from quintant.operators.shifu import controllers
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.options import Options
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.testing.simulate.disturbances import HOUR, MINUTE, RecurringDisturbance, Undo, chosen
from quintant.testing.simulate.plan import Occurrence
from quintant.testing.simulate.systems.system import SimulatedSystem, made
from quintant.testing.simulate.world import SimulatedWorld

DEVICES, SHIFUS = "devices", "deviceshifu"
NAMES = tuple(f"device-{number}" for number in range(1, 9))
OPTIONS = Options(edgemap_addr="off", collect_period=600.0)
AGAIN_SECONDS = 15.0
LEFT = "a deviceShifu left a node that was lost"
MOVED_WHILE_DEAD = "a device was given another address while a node was silent"


class Shifu(SimulatedSystem):
    """Eight devices, of which some come and go."""

    namespaces: tuple[str, ...] = (DEVICES, SHIFUS, "shifu-service")
    kinds: tuple[type[Object], ...] = (EdgeDevice,)
    sometimes: tuple[str, ...] = (LEFT, MOVED_WHILE_DEAD)

    def __init__(self, world: SimulatedWorld) -> None:
        super().__init__(world)
        self._nodes: dict[str, str] = {}
        self._changes = 0
        world.assertions.always(self._one_each, "deployments.apps")
        world.on_write("edgedevices.shifu.edgenesis.io", self._note_moves)

    def manager(self) -> Manager:
        manager = Manager("shifu")
        controllers(manager, OPTIONS, _no_figures)
        return manager

    async def prepare(self) -> None:
        for name in NAMES:
            await self.world.client.create(_device(name, "10.0.0.1:80"))

    def disturbances(self) -> list[RecurringDisturbance]:
        return [
            RecurringDisturbance(Occurrence("device is moved", 1 * HOUR), self._move),
            RecurringDisturbance(Occurrence("device goes", 2 * HOUR, 15 * MINUTE), self._remove),
        ]

    def at_rest(self) -> Iterable[str]:
        devices = self.world.all(EdgeDevice)
        if len(devices) != len(NAMES):
            yield "a device did not come back"
        ready = {each.key.name for each in self._shifus() if _available(each)}
        if len(ready) != len(devices):
            yield f"{len(ready)} deviceShifus of {len(devices)} devices are there"
        dead = self.world.dead_nodes()
        for each in self.world.all(Pod, SHIFUS):
            if each.spec.node_name in dead and not each.deleting:
                yield f"{each.key} is on a node that is lost"

    def _one_each(self) -> Iterable[str]:
        """No device has two deviceShifus."""
        known = [each.metadata.labels.get(DEVICE, "") for each in self._shifus()]
        if len(known) != len(set(known)):
            yield "a device has two deviceShifus"

    def _shifus(self) -> list[Deployment]:
        return self.world.all(Deployment, SHIFUS)

    def _note_moves(self) -> None:
        dead = self.world.dead_nodes()
        for each in self.world.all(EdgeDevice):
            placement = each.status.placement if each.status is not None else None
            node = placement.node_name if placement is not None else ""
            before = self._nodes.get(each.metadata.uid, "")
            if node and before != node:
                self.world.assertions.sometimes(LEFT, holds=before in dead)
                self._nodes[each.metadata.uid] = node

    async def _move(self, chance: float) -> None:
        found = self._a_device(chance)
        if found is None:
            return
        self._changes += 1
        address = f"10.0.1.{self._changes % 250}:80"
        self.world.timeline.tell(f"{found.key.name} is at {address}")
        self.world.assertions.sometimes(MOVED_WHILE_DEAD, holds=bool(self.world.dead_nodes()))
        await self.world.patch(EdgeDevice, found.key, {"spec": {"address": address}})

    async def _remove(self, chance: float) -> Undo | None:
        found = self._a_device(chance)
        if found is None:
            return None
        self.world.timeline.tell(f"{found.key.name} goes")
        await self.world.delete(found)

        async def restore() -> None:
            self.world.timeline.tell(f"{found.key.name} comes back")
            while True:
                try:
                    await self.world.client.create(_device(found.key.name, found.spec.address))
                    return
                except AlreadyExists:
                    await asyncio.sleep(AGAIN_SECONDS)

        return restore

    def _a_device(self, chance: float) -> EdgeDevice | None:
        found = [each for each in self.world.all(EdgeDevice) if not each.deleting]
        return found[chosen(chance, len(found))] if found else None


DEVICE = "shifu.edgenesis.io/edgedevice-uid"


def _available(deployment: Deployment) -> bool:
    return (deployment.status.available_replicas or 0) >= 1


def _device(name: str, address: str) -> EdgeDevice:
    return made(EdgeDevice, name, DEVICES, {"protocol": "HTTP", "address": address})


async def _no_figures(_: Client) -> list[NodeMetrics]:
    return []
