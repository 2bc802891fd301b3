"""Everything that is known about one device, read into a value that decisions are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from quintant.api.core import ConfigMap, Toleration
from quintant.core.object import Request
from quintant.operators.shifu.api.device import EdgeDeviceStatus
from quintant.operators.shifu.builders.config import find_config, wanted_words
from quintant.operators.shifu.builders.resources import memory_request
from quintant.operators.shifu.observe.device_view import DeviceView
from quintant.operators.shifu.observe.edgemap import EdgeLink
from quintant.operators.shifu.observe.node_record import EdgeNodeRecord
from quintant.operators.shifu.observe.topology import (
    DEVICE_INDEX,
    Intent,
    Topology,
    own_deployment,
    user_deployment,
)
from quintant.operators.shifu.observe.views import (
    ComposedObject,
    ShifuConfig,
    ShifuDeployment,
    ShifuPod,
    ShifuService,
)
from quintant.operators.shifu.plan.node_phase import NodePhase
from quintant.operators.shifu.plan.placement import PlacementRequest
from quintant.operators.shifu.rules.geo import GeoPoint
from quintant.operators.shifu.rules.hints import Device, Hints, resolve_hints
from quintant.operators.shifu.rules.serving import beside_driver
from quintant.runtime.controller.context import KeyContext

C = TypeVar("C", bound=ComposedObject)

CONFIG_INDEX = "config"
"""The index of ConfigMaps by the short names of devices that they may be for."""


@dataclass(frozen=True, slots=True)
class SeenNode:
    """What a decision needs to know of the node that a device is bound to."""

    name: str
    phase: NodePhase | None
    """None if there is no such node."""
    location: GeoPoint | None = None
    tolerations: tuple[Toleration, ...] = ()

    @property
    def lost(self) -> bool:
        """Whether nothing runs there."""
        return self.phase in (None, NodePhase.LOST)


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that was read about one device."""

    device: DeviceView
    hints: Hints
    want: PlacementRequest
    now: datetime
    deployment: ShifuDeployment | None = None
    """The one that we composed for this very device."""
    theirs: ShifuDeployment | None = None
    """The one that the user brought."""
    service: ShifuService | None = None
    generated: ShifuConfig | None = None
    config: ShifuConfig | None = None
    """The user's."""
    config_data: Mapping[str, str] = field(default_factory=dict)
    """What is in it, where a program of the user's own depends on it."""
    pods: tuple[ShifuPod, ...] = ()
    stale: tuple[ComposedObject, ...] = ()
    """What belonged to an earlier device of this name."""
    node: SeenNode | None = None
    """Where its Deployment, or the user's pod, is."""
    intent: Intent | None = None
    unplaced: str = ""
    """Why nothing was found for it when its node was lost."""
    lost_nodes: frozenset[str] = frozenset()
    """Of the nodes of its pods, those on which nothing runs any more."""
    held: bool = False
    """Whether evacuations are held back, since most nodes are lost."""

    @property
    def status(self) -> EdgeDeviceStatus:
        """What is said of it."""
        return self.device.status or EdgeDeviceStatus()


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What is left of a device that is no more."""

    objects: tuple[ComposedObject, ...]


async def observe(ctx: KeyContext, topology: Topology) -> Observed | Leftovers:
    """Read everything about one device; all from caches, but for a driver's ConfigMap."""
    key, device = ctx.request, topology.device(ctx.request)
    mine = _managed(topology, key)
    if device is None or device.deleting:
        return Leftovers(mine)
    hints, uid = resolve_hints(device), device.metadata.uid
    deployments = topology.deployments(key)
    ours = own_deployment(device, deployments)
    theirs = user_deployment(deployments)
    config = _config(topology, device, hints)
    link = topology.edgemap.link(key)
    return Observed(
        device,
        hints,
        topology.request(device, hints, memory_request(device, hints)),
        ctx.clock.now(),
        deployment=ours,
        theirs=theirs,
        service=_own(topology, ShifuService, device),
        generated=_own(topology, ShifuConfig, device),
        config=config,
        config_data=await _data(ctx, topology, device, config),
        pods=topology.pods(key),
        stale=tuple(each for each in mine if each.owner != uid),
        node=_node(topology, link, ours),
        intent=topology.intents.get(key),
        unplaced=topology.unplaced.get(key, ""),
        lost_nodes=_lost(topology, topology.pods(key)),
        held=topology.held,
    )


def _managed(topology: Topology, key: Request) -> tuple[ComposedObject, ...]:
    """Everything that we ever composed for a device of this name."""
    found: list[ComposedObject] = [each for each in topology.deployments(key) if each.managed]
    for kind in (ShifuService, ShifuConfig):
        found += topology.store(kind).by_index(DEVICE_INDEX, str(key))
    return tuple(each for each in found if not each.deleting)


def _own(topology: Topology, kind: type[C], device: Device) -> C | None:
    for each in topology.store(kind).by_index(DEVICE_INDEX, str(device.key)):
        if each.owner == device.metadata.uid and not each.deleting:
            return each
    return None


def _config(topology: Topology, device: Device, hints: Hints) -> ShifuConfig | None:
    store = topology.store(ShifuConfig)
    found = [
        each
        for word in sorted(wanted_words(device, hints))
        for each in store.by_index(CONFIG_INDEX, word)
    ]
    return find_config(device, hints, found)


async def _data(
    ctx: KeyContext, topology: Topology, device: Device, config: ShifuConfig | None
) -> Mapping[str, str]:
    shifu = device.spec.device_shifu
    if config is None or not (beside_driver(device) or (shifu is not None and shifu.image)):
        return {}
    found = await ctx.client.find(ConfigMap, *config.key, live=True)
    return found.data if found is not None else {}


def _lost(topology: Topology, pods: tuple[ShifuPod, ...]) -> frozenset[str]:
    found = {pod.node: topology.nodes.find(pod.node) for pod in pods if pod.node}
    return frozenset(
        name for name, record in found.items() if record is None or record.phase is NodePhase.LOST
    )


def _node(
    topology: Topology, link: EdgeLink | None, ours: ShifuDeployment | None
) -> SeenNode | None:
    name = ours.node if ours is not None else link.node if link is not None else ""
    if not name:
        return None
    record: EdgeNodeRecord | None = topology.nodes.find(name)
    if record is None:
        return SeenNode(name, None)
    return SeenNode(name, record.phase, record.location, record.tolerations)
