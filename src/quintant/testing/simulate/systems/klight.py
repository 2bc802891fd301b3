"""klight with its users: a network of peers, each a pod that may die and come back elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.api.apps import StatefulSet
from quintant.api.core import Pod
from quintant.core.object import Object
from quintant.operators.klight import controllers
from quintant.operators.klight.api import LABEL
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import object_name
from quintant.runtime.manager.manager import Manager
from quintant.testing.simulate.disturbances import HOUR, RecurringDisturbance, chosen
from quintant.testing.simulate.plan import Occurrence
from quintant.testing.simulate.remotes.peers import ModelledPeers, Mood
from quintant.testing.simulate.systems.system import SimulatedSystem, made
from quintant.testing.simulate.world import SimulatedWorld
from quintant.wire.lightpeer import PORT

NAMESPACE, NETWORK, NAME = "peers", "net", "peer"
LEAST_PEERS, MOST_PEERS = 3, 6
OPTIONS = Options(repair="auto", probe_interval=60.0, down_after=180.0)
SCALED_WHILE_DEAD = "a network was scaled while a node was silent"
CAME_BACK = "a peer came back at another address"

Plain = dict[str, Any]


class Klight(SimulatedSystem):
    """One network of three to six peers, which write now and then."""

    namespaces: tuple[str, ...] = (NAMESPACE,)
    kinds: tuple[type[Object], ...] = (LightNetwork,)
    sometimes: tuple[str, ...] = (SCALED_WHILE_DEAD, CAME_BACK)

    def __init__(self, world: SimulatedWorld) -> None:
        super().__init__(world)
        self._peers = ModelledPeers()
        self._lives: dict[str, str] = {}
        """The life of the container behind each address."""
        self._addresses: dict[str, str] = {}
        self._words = 0
        world.on_write("pods", self._attend)
        world.on_write("nodes", self._attend)
        world.assertions.always(self._views, "lightnetworks.klight.quintant.dev")

    def manager(self) -> Manager:
        manager = Manager("klight")
        controllers(manager, OPTIONS, self._peers)
        return manager

    async def prepare(self) -> None:
        labels = {LABEL: NETWORK}
        container = {"name": "lightpeer", "image": "lightpeer", "ports": [{"containerPort": PORT}]}
        spec = {
            "replicas": LEAST_PEERS,
            "serviceName": NAME,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        }
        await self.world.client.create(made(StatefulSet, NAME, NAMESPACE, spec))

    def disturbances(self) -> list[RecurringDisturbance]:
        return [
            RecurringDisturbance(Occurrence("network is scaled", 2 * HOUR), self._scale),
            RecurringDisturbance(Occurrence("a peer is written to", 0.5 * HOUR), self._write),
        ]

    def at_rest(self) -> Iterable[str]:
        found = self.world.one(LightNetwork, object_name(NETWORK), NAMESPACE)
        pods = [each for each in self.world.all(Pod, NAMESPACE) if not each.deleting]
        if found is None or found.status is None:
            yield "there is no LightNetwork"
            return
        if found.status.phase != "Ready" or found.status.ready != len(pods):
            counts = f"{found.status.ready} of {len(pods)} peers have joined"
            yield f"LightNetwork {found.key} is {found.status.phase}: {counts}"
        serving = [each for each in self._peers.models.values() if each.mood is Mood.SERVING]
        if len({tuple(sorted(each.view)) for each in serving}) > 1:
            yield "peers of one network do not see the same members"
        if len({tuple(sorted(each.contents)) for each in serving}) > 1:
            yield "peers of one network do not have the same contents"

    def _views(self) -> Iterable[str]:
        for each in self._peers.models.values():
            if len(each.view) != len(set(each.view)):
                yield f"{each.address} lists somebody twice"

    def _attend(self) -> None:
        """Run a peer behind every pod that runs, on a node that does."""
        dead, there = self.world.dead_nodes(), dict[str, str]()
        for pod in self.world.all(Pod, NAMESPACE):
            if not pod.ready or pod.spec.node_name in dead or not pod.status.container_statuses:
                continue
            address = f"{pod.status.pod_ip}:{PORT}"
            there[address] = f"{pod.metadata.uid} {pod.status.container_statuses[0].restart_count}"
            before = self._addresses.get(pod.metadata.name, address)
            self.world.assertions.sometimes(CAME_BACK, holds=before != address)
            self._addresses[pod.metadata.name] = address
        for address in sorted(set(self._lives) - set(there)):
            self._peers.kill(address)
            del self._lives[address]
        for address, life in there.items():
            if self._lives.get(address) != life:
                if address in self._lives:
                    self._peers.kill(address)
                self._peers.add(address)
                self._lives[address] = life

    async def _scale(self, chance: float) -> None:
        count = LEAST_PEERS + chosen(chance, MOST_PEERS - LEAST_PEERS + 1)
        self.world.timeline.tell(f"the network is to have {count} peers")
        self.world.assertions.sometimes(SCALED_WHILE_DEAD, holds=bool(self.world.dead_nodes()))
        found = self.world.one(StatefulSet, NAME, NAMESPACE)
        if found is not None:
            await self.world.patch(StatefulSet, found.key, {"spec": {"replicas": count}})

    async def _write(self, chance: float) -> None:
        serving = sorted(self._lives)
        if serving:
            self._words += 1
            self._peers.persist(serving[chosen(chance, len(serving))], f"word {self._words}")
