"""Everything that is known about one device, read into a value that decisions are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from quintant.api.core import ConfigMap
from quintant.core.object import Request
from quintant.operators.shifu.builders.config import driver_image
from quintant.operators.shifu.observed.config import find_config
from quintant.operators.shifu.observed.device import Leftovers, Observed, SeenNode
from quintant.operators.shifu.observed.links import (
    EdgeLink,
    is_composed,
    own_deployment,
    user_deployment,
)
from quintant.operators.shifu.observed.placement import placement_request
from quintant.operators.shifu.observed.secret import DeviceSecret, SecretUse
from quintant.operators.shifu.observed.views import (
    ComposedObject,
    ShifuConfig,
    ShifuDeployment,
    ShifuPod,
    ShifuService,
)
from quintant.operators.shifu.rules.config_names import wanted_words
from quintant.operators.shifu.rules.hints import Device, Hints, resolve_hints
from quintant.operators.shifu.rules.images import is_allowed
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.rules.secrets import device_consumer, wanted_secret
from quintant.operators.shifu.rules.serving import beside_driver
from quintant.operators.shifu.topology.node_record import EdgeNodeRecord
from quintant.operators.shifu.topology.topology import DEVICE_INDEX, Topology
from quintant.runtime.reconcile.context import KeyContext

C = TypeVar("C", bound=ComposedObject)

CONFIG_INDEX = "config"
"""The index of ConfigMaps by the short names of devices that they may be for."""


async def observe(ctx: KeyContext, topology: Topology) -> Observed | Leftovers:
    """Read everything about one device; from caches, but for a driver's ConfigMap and a Secret."""
    key, device = ctx.request, topology.device(ctx.request)
    mine = _managed(topology, key)
    if device is None or device.deleting:
        return Leftovers(mine)
    hints, uid = resolve_hints(device), device.metadata.uid
    deployments = topology.deployments(key)
    ours = own_deployment(device, deployments)
    theirs = user_deployment(deployments)
    config = _config(topology, device, hints)
    data = await _data(ctx, topology, device, config)
    link = topology.edgemap.link(key)
    return Observed(
        device,
        hints,
        placement_request(device, hints, topology.avoided(key)),
        ctx.clock.now(),
        deployment=ours,
        theirs=theirs,
        service=_own(topology, ShifuService, device),
        generated=_own(topology, ShifuConfig, device),
        config=config,
        config_data=data,
        secret=await _secret(ctx, topology, device, hints),
        strange_image=_strange_image(topology, device, data),
        pods=topology.pods(key),
        stale=tuple(each for each in mine if each.owner != uid),
        node=_node(topology, link, ours),
        intent=topology.intents.get(key),
        unplaced=topology.unplaced.get(key, ""),
        lost_nodes=_lost(topology, topology.pods(key)),
        held=topology.held,
    )


def _managed(topology: Topology, key: Request) -> tuple[ComposedObject, ...]:
    """Everything that we ever composed for a device of this name: a copy of it is its maker's."""
    composed: list[ComposedObject] = [each for each in topology.deployments(key) if each.managed]
    for kind in (ShifuService, ShifuConfig):
        composed += topology.store(kind).by_index(DEVICE_INDEX, str(key))
    return tuple(each for each in composed if is_composed(each, key) and not each.deleting)


def _own(topology: Topology, kind: type[C], device: Device) -> C | None:
    for each in topology.store(kind).by_index(DEVICE_INDEX, str(device.key)):
        mine = is_composed(each, device.key) and each.owner == device.metadata.uid
        if mine and not each.deleting:
            return each
    return None


def _config(topology: Topology, device: Device, hints: Hints) -> ShifuConfig | None:
    store = topology.store(ShifuConfig)
    configs = [
        each
        for word in sorted(wanted_words(device, hints))
        for each in store.by_index(CONFIG_INDEX, word)
    ]
    return find_config(device, hints, configs)


async def _data(
    ctx: KeyContext, topology: Topology, device: Device, config: ShifuConfig | None
) -> Mapping[str, str]:
    shifu = device.spec.device_shifu
    if config is None or not (beside_driver(device) or (shifu is not None and shifu.image)):
        return {}
    whole = await ctx.client.find(ConfigMap, *config.key, live=True)
    return whole.data if whole is not None else {}


async def _secret(
    ctx: KeyContext, topology: Topology, device: Device, hints: Hints
) -> SecretUse | None:
    """Looked up by name: the operator may list no Secrets."""
    name, namespace = wanted_secret(device, hints), topology.options.shifu_namespace
    if not name:
        return None
    found = await ctx.client.find(DeviceSecret, name, namespace, live=True)
    return SecretUse(device_consumer(device), found)


def _strange_image(topology: Topology, device: Device, data: Mapping[str, str]) -> str:
    shifu, options = device.spec.device_shifu, topology.options
    named = (
        shifu.image if shifu is not None else "",
        driver_image(data) if beside_driver(device) else "",
    )
    allowed = (options.agent_image, *options.allowed_images)
    return next((each for each in named if each and not is_allowed(each, allowed)), "")


def _lost(topology: Topology, pods: tuple[ShifuPod, ...]) -> frozenset[str]:
    records = {pod.node: topology.nodes.find(pod.node) for pod in pods if pod.node}
    return frozenset(
        name for name, record in records.items() if record is None or record.phase is NodePhase.LOST
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
