"""Modelled peers: pods on an in-process cluster, the operator, and what they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quintant.api.core import Pod
from quintant.api.events import Event
from quintant.api.meta import condition_of
from quintant.api.pod import ContainerState, ContainerStateRunning, ContainerStatus, PodStatus
from quintant.core import codec
from quintant.core.clock import timestamp
from quintant.core.object import replace
from quintant.operators.klight import controllers
from quintant.operators.klight.api import JOINED, LABEL, PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import address_of, object_name
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster
from quintant.testing.simulate.remotes.peers import Model, ModelledPeers, Mood

NET = "a"
GATE = {"readinessGates": [{"conditionType": JOINED}]}
"""What a pod's spec says that is ready only as a member."""


def manager_with(peers: ModelledPeers, options: Options = Options(), **settings: Any) -> Manager:
    """The operator as shipped, but for the peers it talks to."""
    manager = Manager("klight", **settings)
    controllers(manager, options, peers)
    return manager


@dataclass
class KlightTestbed:
    """A cluster with labelled pods and the peers in them."""

    cluster: InProcessCluster
    peers: ModelledPeers = field(default_factory=ModelledPeers)
    options: Options = field(default_factory=Options)
    engine: Engine | None = None
    count: int = 0

    async def start(self, environment: Environment | None = None, **settings: Any) -> Engine:
        """Start the controller."""
        manager = manager_with(self.peers, self.options, **settings)
        self.engine = await self.cluster.run(manager, environment=environment)
        return self.engine

    async def restart(self) -> None:
        """Kill the controller, and start another one."""
        assert self.engine is not None
        await self.cluster.crash(self.engine)
        await self.start()

    async def pod(
        self,
        name: str,
        network: str | None = NET,
        *,
        ip: str = "",
        namespace: str = "default",
        running: bool = True,
        peer: dict[str, Any] | None = None,
        **more: Any,
    ) -> Model | None:
        """Create a pod that runs at an address, and the peer in it unless `peer` is None."""
        self.count += 1
        ip = ip or f"10.0.{self.count // 250}.{self.count % 250 + 1}"
        labels = {LABEL: network} if network is not None else {}
        spec = {"containers": [{"name": "lightpeer", "image": "lightpeer"}]} | more.pop("spec", {})
        meta = {"name": name, "namespace": namespace, "labels": labels} | more
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        await self.cluster.client.create(codec.decode(Pod, codec.encode(body)))
        model = None
        if peer is not None:
            address = address_of(await self.view(name, namespace, ip), self.options)
            model = self.peers.add(address, **peer)
        if running:
            await self.run(name, ip, namespace=namespace)
        return model

    async def add(self, *names: str, **more: Any) -> None:
        """Create pods with peers, each joined before the next one comes."""
        for name in names:
            await self.pod(name, peer={}, **more)
            await self.cluster.advance(1)

    async def view(self, name: str, namespace: str, ip: str) -> PeerPod:
        """A pod as the operator will see it at an address."""
        pod = await self.cluster.client.get(PeerPod, name, namespace)
        return replace(pod, status=replace(pod.status, pod_ip=ip))

    async def run(
        self,
        name: str,
        ip: str,
        *,
        namespace: str = "default",
        life: int = 1,
        phase: str = "Running",
    ) -> None:
        """Let a pod run; another `life` is another incarnation of its containers."""
        pod = await self.cluster.client.get(Pod, name, namespace)
        since = timestamp(self.cluster.clock.now())
        sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]

        def status(container: str) -> ContainerStatus:
            return ContainerStatus(
                name=container,
                restart_count=life - 1,
                container_id=f"test://{pod.metadata.uid}-{container}-{life}",
                state=ContainerState(running=ContainerStateRunning(started_at=since)),
                image="lightpeer",
                image_id="lightpeer",
            )

        told = PodStatus(
            phase=phase,
            pod_ip=ip,
            container_statuses=tuple(status(each.name) for each in pod.spec.containers),
            init_container_statuses=tuple(status(each.name) for each in sidecars),
        )
        await self.cluster.client.set_status(pod, told)

    async def delete(self, name: str, namespace: str = "default") -> None:
        """Delete a pod at once, its peer with it."""
        pod = await self.cluster.client.get(Pod, name, namespace)
        address = await self.address(name, namespace)
        await self.cluster.client.delete(pod, grace=0)
        if address in self.peers.models:
            self.peers.kill(address)

    async def label(self, name: str, network: str | None) -> None:
        """Give a pod another network, or none."""
        pod = await self.cluster.client.get(Pod, name, "default")
        labels = {LABEL: network} if network is not None else {}
        await self.cluster.client.patch(
            replace(pod, metadata=replace(pod.metadata, labels=labels)), since=pod
        )

    async def address(self, name: str, namespace: str = "default") -> str:
        """Where a pod's peer is."""
        pod = await self.cluster.client.get(PeerPod, name, namespace)
        return address_of(pod, self.options)

    async def record(self, name: str, namespace: str = "default") -> Membership | None:
        """What is recorded of a pod."""
        pod = await self.cluster.client.get(PeerPod, name, namespace)
        return Membership.read(pod.metadata.annotations)

    async def stack(self, network: str = NET, namespace: str = "default") -> list[str]:
        """The pods of a network's stack, newest first, as the records have it."""
        pods = await self.cluster.client.list(PeerPod, namespace, labels={LABEL: network})
        records = [(Membership.read(pod.metadata.annotations), pod) for pod in pods]
        found = [(record.joined_at, pod.metadata.name) for record, pod in records if record]
        return [name for _, name in sorted(found, reverse=True)]

    async def shown(self, network: str = NET, namespace: str = "default") -> LightNetwork:
        """The network's object, as it is a moment later."""
        await self.cluster.advance(2)
        return await self.cluster.client.get(LightNetwork, object_name(network), namespace)

    async def events(self, name: str, namespace: str = "default") -> list[str]:
        """The reasons of a pod's events."""
        found = await self.cluster.client.list(Event, namespace)
        mine = [each for each in found if each.regarding and each.regarding.name == name]
        return [each.reason for each in mine]

    async def joined(self, name: str) -> str | None:
        """Whether a pod that asks for it is told that it has joined."""
        pod = await self.cluster.client.get(Pod, name, "default")
        found = condition_of(pod.status.conditions, JOINED)
        return found.status if found is not None else None

    async def wipe(self, name: str) -> None:
        """Take every annotation off a pod."""
        pod = await self.cluster.client.get(Pod, name, "default")
        wiped = replace(pod, metadata=replace(pod.metadata, annotations={}))
        await self.cluster.client.patch(wiped, since=pod)

    async def annotate(self, name: str, annotations: Mapping[str, str]) -> None:
        """Add annotations to a pod."""
        pod = await self.cluster.client.get(Pod, name, "default")
        merged = {**pod.metadata.annotations, **annotations}
        changed = replace(pod, metadata=replace(pod.metadata, annotations=merged))
        await self.cluster.client.patch(changed, since=pod)

    def alive(self) -> list[Model]:
        """The peers that serve."""
        return [each for each in self.peers.models.values() if each.mood is Mood.SERVING]


__all__ = ["GATE", "NET", "KlightTestbed", "Mood", "manager_with"]
