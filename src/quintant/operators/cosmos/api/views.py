"""Kubernetes' own kinds as this operator sees them: what it writes whole, and what it keeps.

Caches hold thousands of pods and ConfigMaps of 15 KB each; of theirs only what is read is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern

import msgspec

from quintant.api.core import ConfigMap
from quintant.api.meta import Condition
from quintant.api.pod import ContainerState, Pod
from quintant.api.volume import PersistentVolumeClaimVolumeSource
from quintant.core.object import Model, Object, Opaque, replace
from quintant.core.resource import projection
from quintant.operators.cosmos.api import HOME_VOLUME, NODE_CONTAINER, NODE_KEY
from quintant.runtime.apply import data_checksum
from quintant.wire.comet import RPC_PORT

READY, RPC = "Ready", "rpc"


@projection(of=Pod)
class PodObject(Object):
    """A pod as it is written: every field of the user's template survives."""

    spec: Opaque = Opaque(b"{}")


class NodePort(Model):
    """A port of a container."""

    container_port: int
    name: str = ""


class NodeProbe(Model):
    """A probe: that there is one is enough."""


class NodeContainer(Model):
    """A container, as far as it is compared."""

    name: str
    image: str = ""
    ports: tuple[NodePort, ...] = ()
    """Where its node is asked; no other is kept."""
    readiness_probe: NodeProbe | None = None


class NodeVolume(Model):
    """A volume, if it is a claim's."""

    name: str
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None


class NodePodSpec(Model):
    """What a node's pod runs."""

    containers: tuple[NodeContainer, ...] = ()
    volumes: tuple[NodeVolume, ...] = ()
    """The one of its chain's home."""


class NodeContainerStatus(Model):
    """What became of a container."""

    name: str
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class NodePodStatus(Model):
    """How it fares."""

    phase: str = ""
    reason: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[NodeContainerStatus, ...] = ()
    init_container_statuses: tuple[NodeContainerStatus, ...] = ()


class _PodWire(Object):
    spec: NodePodSpec = NodePodSpec()
    status: NodePodStatus = NodePodStatus()


def _pod(wire: _PodWire) -> NodePod:
    spec, status = wire.spec, wire.status
    home = tuple(each for each in spec.volumes if each.name == HOME_VOLUME)
    return NodePod(
        metadata=wire.metadata,
        spec=NodePodSpec(containers=tuple(map(_container, spec.containers)), volumes=home),
        status=replace(
            status, conditions=tuple(each for each in status.conditions if each.type == READY)
        ),
    )


def _container(each: NodeContainer) -> NodeContainer:
    # Thousands of pods have the same few names and images.
    ports = tuple(port for port in each.ports if port.name == RPC)
    return replace(each, name=intern(each.name), image=intern(each.image), ports=ports)


@projection(of=Pod, wire=_PodWire, transform=_pod)
class NodePod(Object):
    """A pod of a node, as it is cached."""

    spec: NodePodSpec = NodePodSpec()
    status: NodePodStatus = NodePodStatus()

    @property
    def ready(self) -> bool:
        """Whether its Ready condition is True."""
        return any(each.type == READY and each.status == "True" for each in self.conditions)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self.status.conditions

    @property
    def probed(self) -> bool:
        """Whether readiness means anything: a container has a probe."""
        return any(each.readiness_probe is not None for each in self.spec.containers)

    @property
    def claim(self) -> str:
        """The claim of its chain's home; empty if there is none."""
        homes = (each for each in self.spec.volumes if each.name == HOME_VOLUME)
        found = next(homes, None)
        held = found.persistent_volume_claim if found else None
        return held.claim_name if held else ""

    @property
    def rpc_port(self) -> int:
        """Where its node is asked."""
        for container in self.spec.containers:
            if container.name == NODE_CONTAINER:
                for port in container.ports:
                    if port.name == RPC:
                        return port.container_port
        return RPC_PORT


class NodeKeyData(Model):
    """The one key of a ConfigMap that is read back."""

    node_key: str = ""

    def __repr__(self) -> str:
        return "NodeKeyData(***)"


class _ConfigWire(Object):
    data: Mapping[str, str] = {}


def _config(wire: _ConfigWire) -> NodeConfig:
    key = NodeKeyData(node_key=wire.data.get(NODE_KEY, ""))
    return NodeConfig(metadata=wire.metadata, data=key, checksum=data_checksum(wire.data))


@projection(of=ConfigMap, wire=_ConfigWire, transform=_config)
class NodeConfig(Object):
    """The ConfigMap of an instance, as it is cached."""

    data: NodeKeyData = NodeKeyData()
    checksum: int = 0
    """Of everything that it says: another one, once somebody has edited it."""
