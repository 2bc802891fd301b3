"""infra with its users: Clusters at a provider that fails, is slow, and loses its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from quintant.api.core import Secret
from quintant.core import codec
from quintant.core.errors import AlreadyExists
from quintant.core.object import Object
from quintant.operators.infra import controllers
from quintant.operators.infra.api import HOSTS, Cloud, Cluster, InfrastructureProvider
from quintant.operators.infra.observed.answers import NodeLook, TargetLook
from quintant.operators.infra.options import Options
from quintant.operators.infra.remote import Remote
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.testing.simulate.disturbances import HOUR, MINUTE, RecurringDisturbance, Undo, chosen
from quintant.testing.simulate.plan import Occurrence
from quintant.testing.simulate.remotes.provider import ModelledProvider
from quintant.testing.simulate.systems.system import SimulatedSystem, made
from quintant.testing.simulate.world import SimulatedWorld

NAMESPACE = "clusters"
CLUSTERS = ("alpha", "beta")
MOST_WORKERS = 3
LOOK_SECONDS = 0.5
AGAIN_SECONDS = 15.0
OPTIONS = Options(dummy_clouds=True, observe_interval=300.0)
SOON = {"reconfigure": {"backoff": "10s", "maxBackoff": "60s", "maxAttempts": 100}}
DOWN_WHILE_SCALED = "a provider was down while a Cluster was scaled"
DELETED_WHILE_DOWN = "a Cluster was deleted while its provider was down"
ANSWER_LOST = "the answer to a creation was lost"
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: made, cluster: {server: "https://made.example.com:6443"}}]
users: [{name: admin, user: {token: "made-cluster-token"}}]
contexts: [{name: made, context: {cluster: made, user: admin}}]
current-context: made
"""

Plain = dict[str, Any]


class Infra(SimulatedSystem):
    """Two Clusters, which are scaled, deleted and made again."""

    namespaces: tuple[str, ...] = (NAMESPACE,)
    kinds: tuple[type[Object], ...] = (Cluster, InfrastructureProvider, Cloud)
    sometimes: tuple[str, ...] = (DOWN_WHILE_SCALED, DELETED_WHILE_DOWN, ANSWER_LOST)

    def __init__(self, world: SimulatedWorld) -> None:
        super().__init__(world)
        self._provider = ModelledProvider()
        self._provider.name = "im"
        self._losing = False
        """Whether the answer to a creation is to be lost, or has been and nobody has noted it."""
        world.assertions.always(self._once, "clusters.infra.quintant.dev")
        world.on_write("clusters.infra.quintant.dev", self._note_lost_answer)

    def manager(self) -> Manager:
        manager = Manager("infra")
        controllers(manager, OPTIONS, Remote(self._provider.at, _look_at))
        return manager

    async def prepare(self) -> None:
        client = self.world.client
        meta = {"name": "im-credentials", "namespace": NAMESPACE, "annotations": {HOSTS: "im:8800"}}
        secret = {"metadata": meta, "stringData": {"username": "demo", "password": "demo"}}
        await client.create(codec.decode(Secret, codec.encode(secret)))
        im = {"url": "http://im:8800", "credentialsSecretRef": {"name": "im-credentials"}}
        await client.create(made(InfrastructureProvider, "im", NAMESPACE, {"type": "im", "im": im}))
        cloud = {"type": "dummy", "providerRef": {"name": "im"}}
        await client.create(made(Cloud, "here", NAMESPACE, cloud))
        for name in CLUSTERS:
            await client.create(_cluster(name))

    def disturbances(self) -> list[RecurringDisturbance]:
        return [
            RecurringDisturbance(
                Occurrence("provider is down", 1.5 * HOUR, 10 * MINUTE), self._go_down
            ),
            RecurringDisturbance(Occurrence("an answer is lost", 2 * HOUR), self._lose_answer),
            RecurringDisturbance(Occurrence("cluster is scaled", 1 * HOUR), self._scale),
            RecurringDisturbance(
                Occurrence("cluster is deleted", 3 * HOUR, 20 * MINUTE), self._delete
            ),
        ]

    def at_rest(self) -> Iterable[str]:
        clusters = self.world.all(Cluster)
        for each in clusters:
            state = each.status.state if each.status is not None else None
            if state != "ONLINE":
                yield f"Cluster {each.key} is {state}"
        if len(clusters) != len(CLUSTERS):
            yield "a Cluster was not made again"
        self._provider.settle()
        known = {each.status.cluster_id for each in clusters if each.status is not None}
        for id in sorted(set(self._provider.infrastructures) - known):
            yield f"infrastructure {id} belongs to no Cluster"
        lost = [each.id for each in self._provider.cloud.values() if not each.listed]
        if lost:
            yield f"{len(lost)} machines are listed nowhere"

    def _once(self) -> Iterable[str]:
        """No infrastructure is made while there is one of its name."""
        for sort, name in self._provider.ledger.twice:
            yield f"{sort} {name} was made while it existed"

    async def _go_down(self, chance: float) -> Undo | None:
        if self._provider.faults.down:
            return None
        self.world.timeline.tell("the provider is down")
        self._provider.faults.down = True

        async def recover() -> None:
            self.world.timeline.tell("the provider is back")
            self._provider.faults.down = False

        return recover

    async def _lose_answer(self, chance: float) -> None:
        self.world.timeline.tell("the answer to the next creation will be lost")
        self._provider.faults.lost_answers = 1
        self._losing = True

    def _note_lost_answer(self) -> None:
        lost = self._losing and not self._provider.faults.lost_answers
        self.world.assertions.sometimes(ANSWER_LOST, holds=lost)
        self._losing &= not lost

    async def _scale(self, chance: float) -> None:
        found = self._a_cluster(chance)
        if found is None:
            return
        workers = 1 + int(chance * 100) % MOST_WORKERS
        self.world.timeline.tell(f"cluster {found.key.name} is to have {workers} workers")
        self.world.assertions.sometimes(DOWN_WHILE_SCALED, holds=self._provider.faults.down)
        inputs = {"inputs": {"wn_num": {"default": workers}}}
        await self.world.patch(
            Cluster, found.key, {"spec": {"tosca": {"topology_template": inputs}}}
        )

    async def _delete(self, chance: float) -> Undo | None:
        found = self._a_cluster(chance)
        if found is None:
            return None
        name = found.key.name
        self.world.timeline.tell(f"cluster {name} is deleted")
        self.world.assertions.sometimes(DELETED_WHILE_DOWN, holds=self._provider.faults.down)
        await self.world.delete(found)

        async def restore() -> None:
            while True:
                try:
                    await self.world.client.create(_cluster(name))
                    break
                except AlreadyExists:
                    await asyncio.sleep(AGAIN_SECONDS)
            self.world.timeline.tell(f"cluster {name} is made again")

        return restore

    def _a_cluster(self, chance: float) -> Cluster | None:
        found = [each for each in self.world.all(Cluster) if not each.deleting]
        return found[chosen(chance, len(found))] if found else None


async def _look_at(
    near: Client, kubeconfig: bytes, *, seconds: float, insecure: bool
) -> TargetLook:
    """Every cluster that was made is well."""
    await asyncio.sleep(LOOK_SECONDS)
    return TargetLook(nodes=(NodeLook("front", True), NodeLook("wn-1", True)))


def _cluster(name: str) -> Cluster:
    observer = {"interval": "300s"}
    return made(Cluster, name, NAMESPACE, {"tosca": _template(), "observer": observer, **SOON})


def _template() -> Plain:
    """A front machine, and a worker."""
    scalable = {"scalable": {"properties": {"count": {"get_input": "wn_num"}}}}
    compute: Plain = {"type": "demo.nodes.Compute"}
    return {
        "tosca_definitions_version": "tosca_simple_yaml_1_0",
        "node_types": {"demo.nodes.Compute": {"derived_from": "tosca.nodes.Compute"}},
        "topology_template": {
            "inputs": {
                "wn_num": {"type": "integer", "default": 1},
                "kubeconfig": {"type": "string", "default": KUBECONFIG},
            },
            "node_templates": {"front": dict(compute), "wn": {**compute, "capabilities": scalable}},
            "outputs": {"kubeconfig": {"value": {"get_input": "kubeconfig"}}},
        },
    }
