"""Reads the topology for the plans that move many devices: off lost nodes, or to better ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from quintant.operators.shifu.observed.links import own_deployment
from quintant.operators.shifu.observed.moves import (
    EvacuationView,
    HostedDevice,
    LostNode,
    ReschedulingView,
    StrandedDevice,
)
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.topology.node_record import EdgeNodeRecord
from quintant.operators.shifu.topology.topology import Topology

_AWAY = (NodePhase.SUSPECT, NodePhase.LOST)


def evacuation_view(topology: Topology, now: float) -> EvacuationView:
    """Which nodes are lost at a moment of the loop's time, and what we placed on them."""
    records = list(topology.nodes)
    lost = {each.name: _lost(each, now) for each in records if each.phase is NodePhase.LOST}
    return EvacuationView(
        now,
        known=len(records),
        away=sum(each.phase in _AWAY for each in records),
        capacity=topology.capacity_version,
        lost=lost,
        devices=_stranded(topology, lost),
    )


def rescheduling_view(topology: Topology, now: datetime) -> ReschedulingView:
    """Which deviceShifus of ours run where, and whether any has to leave."""
    evacuating = bool(topology.intents) or any(
        record.phase in _AWAY and topology.edgemap.devices_of(record.name)
        for record in topology.nodes
    )
    return ReschedulingView(now, evacuating, _hosted(topology))


def _lost(record: EdgeNodeRecord, now: float) -> LostNode:
    state = record.state
    if state is None:
        return LostNode(now, crashed=True)
    since = now if state.unready_since is None else state.unready_since
    return LostNode(since, state.crashed, record.autonomy)


def _stranded(topology: Topology, nodes: Iterable[str]) -> Iterator[StrandedDevice]:
    for node in nodes:
        for key in topology.edgemap.devices_of(node):
            link, device = topology.edgemap.link(key), topology.device(key)
            if device is not None and link is not None and link.kind != "adopted":
                yield StrandedDevice(key, device, node, topology.avoided(key))


def _hosted(topology: Topology) -> Iterator[HostedDevice]:
    for key, bound in topology.bound.items():
        device = topology.device(key) if bound.ready else None
        ours = own_deployment(device, topology.deployments(key)) if device is not None else None
        if device is not None and ours is not None:
            yield HostedDevice(key, device, bound.node, ours, topology.avoided(key))
