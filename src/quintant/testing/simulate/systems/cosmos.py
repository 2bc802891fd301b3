"""The Cosmos operator with its users: a chain that is scaled, rolled out, and copied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.api.core import Pod
from quintant.api.snapshot import VolumeSnapshot
from quintant.core.object import Object
from quintant.operators.cosmos import controllers
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.options import Options
from quintant.runtime.manager.manager import Manager
from quintant.testing.simulate.disturbances import HOUR, RecurringDisturbance, chosen
from quintant.testing.simulate.plan import Occurrence
from quintant.testing.simulate.remotes.comet import CometNodes
from quintant.testing.simulate.systems.system import SimulatedSystem, made
from quintant.testing.simulate.world import SimulatedWorld

NAMESPACE, NAME, CHAIN = "chains", "hub", "simnet-1"
IMAGES = ("gaia:v1", "gaia:v2")
MOST_NODES = 4
DEAD_DURING_ROLL_OUT = "a node was silent while a chain was rolled out"
COPIED_WHILE_DEAD = "a volume was copied while a node was silent"

Plain = dict[str, Any]


class Cosmos(SimulatedSystem):
    """One chain of two to four nodes, a volume of which is copied every six hours."""

    namespaces: tuple[str, ...] = (NAMESPACE,)
    kinds: tuple[type[Object], ...] = (CosmosFullNode, ScheduledVolumeSnapshot)
    sometimes: tuple[str, ...] = (DEAD_DURING_ROLL_OUT, COPIED_WHILE_DEAD)

    def __init__(self, world: SimulatedWorld) -> None:
        super().__init__(world)
        self._remote = CometNodes(CHAIN, self._runs)
        self._snapshots: set[str] = set()
        """Uids of those that were there at the last look."""
        world.assertions.always(self._pods, "pods")
        world.on_write("volumesnapshots.snapshot.storage.k8s.io", self._copied)

    def manager(self) -> Manager:
        manager = Manager("cosmos-operator")
        controllers(manager, Options(), self._remote)
        return manager

    async def prepare(self) -> None:
        await self.world.client.create(made(CosmosFullNode, NAME, NAMESPACE, _chain()))
        schedule = {
            "fullNodeRef": {"name": NAME},
            "schedule": "30 1-23/3 * * *",
            "volumeSnapshotClassName": "standard",
            "deletePod": True,
            "limit": 2,
        }
        await self.world.client.create(made(ScheduledVolumeSnapshot, NAME, NAMESPACE, schedule))

    def disturbances(self) -> list[RecurringDisturbance]:
        return [
            RecurringDisturbance(Occurrence("chain is scaled", 2 * HOUR), self._scale),
            RecurringDisturbance(Occurrence("chain is rolled out", 2 * HOUR), self._roll_out),
        ]

    def at_rest(self) -> Iterable[str]:
        found = self.world.one(CosmosFullNode, NAME, NAMESPACE)
        if found is None or found.status is None:
            yield f"CosmosFullNode {NAME} has no status"
            return
        ready = found.status.ready_replicas or 0
        if ready != found.spec.replicas or found.status.phase != "Complete":
            counts = f"{ready} of {found.spec.replicas} nodes are in sync"
            yield f"CosmosFullNode {NAME} is {found.status.phase}: {counts}"

    def _pods(self) -> Iterable[str]:
        """Two pods never have one volume."""
        claims = [
            volume.persistent_volume_claim.claim_name
            for pod in self.world.all(Pod, NAMESPACE)
            for volume in pod.spec.volumes
            if volume.persistent_volume_claim is not None
        ]
        if len(claims) != len(set(claims)):
            yield "two pods have one volume"

    def _runs(self, address: str) -> bool:
        dead = self.world.dead_nodes()
        return any(
            pod.status.pod_ip == address and pod.ready and pod.spec.node_name not in dead
            for pod in self.world.all(Pod, NAMESPACE)
        )

    def _copied(self) -> None:
        before = self._snapshots
        self._snapshots = {each.metadata.uid for each in self.world.all(VolumeSnapshot, NAMESPACE)}
        began = bool(self._snapshots - before and self.world.dead_nodes())
        self.world.assertions.sometimes(COPIED_WHILE_DEAD, holds=began)

    async def _scale(self, chance: float) -> None:
        count = 2 + chosen(chance, MOST_NODES - 1)
        self.world.timeline.tell(f"the chain is to have {count} nodes")
        await self._change({"replicas": count})

    async def _roll_out(self, chance: float) -> None:
        found = self.world.one(CosmosFullNode, NAME, NAMESPACE)
        if found is None:
            return
        image = next(each for each in IMAGES if each != found.spec.pod_template.image)
        self.world.timeline.tell(f"the chain is to run {image}")
        self.world.assertions.sometimes(DEAD_DURING_ROLL_OUT, holds=bool(self.world.dead_nodes()))
        await self._change({"podTemplate": {"image": image}})

    async def _change(self, change: Plain) -> None:
        found = self.world.one(CosmosFullNode, NAME, NAMESPACE)
        if found is not None:
            await self.world.patch(CosmosFullNode, found.key, {"spec": change})


def _chain() -> Plain:
    claim = {"storageClassName": "standard", "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "replicas": 3,
        "chain": {
            "chainID": CHAIN,
            "network": "simnet",
            "binary": "gaiad",
            "app": {"minGasPrice": "0stake"},
        },
        "podTemplate": {"image": IMAGES[0]},
        "volumeClaimTemplate": claim,
        "service": {"maxP2PExternalAddresses": 0},
        "strategy": {"maxUnavailable": 1},
    }
