"""Lets the topology follow the caches, and time: on leader and standby alike.

Every change of a device, a node or one of their objects reaches the map in the same step in which
it reaches the cache. The phase of a node that is unwell also changes by itself, so such a one is
looked at every second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.observed.device_view import DeviceView
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.observed.views import ShifuDeployment, ShifuPod
from quintant.operators.shifu.plan.node_phase import due_at
from quintant.operators.shifu.plan.placement import NodeOffer
from quintant.operators.shifu.topology.nodes import node_name
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.informer import ObjectChange
from quintant.runtime.source.channel import Channel

TICK_SECONDS = 1.0
"""How late a change of phase may be seen."""


class TopologyFollower:
    """Keeps the topology true, and wakes whom a change concerns."""

    def __init__(self, topology: Topology, devices: Channel, nodes: Sequence[Channel]) -> None:
        self._topology, self._devices, self._nodes = topology, devices, nodes
        self._offers: dict[str, NodeOffer] = {}
        """What each node had to offer when it was last looked at."""

    async def __call__(self, client: Client) -> None:
        """Follow for as long as the manager runs; a runnable."""
        caches, topology = client.caches, self._topology
        assert caches is not None, "a manager's client has caches"
        topology.attach(client)
        caches.informer_for(ShifuNode).subscribe(self._on_node)
        caches.informer_for(EdgeNode).subscribe(self._on_edge_node)
        caches.informer_for(topology.kind).subscribe(self._on_device)
        caches.informer_for(ShifuDeployment).subscribe(self._on_child)
        caches.informer_for(ShifuPod).subscribe(self._on_child)
        while True:
            await topology.nodes.trouble()
            await asyncio.sleep(TICK_SECONDS)
            for name in topology.nodes.unwell:
                self._look_if_due(name)

    def _look_if_due(self, name: str) -> None:
        record, times = self._topology.nodes.find(name), self._topology.options.phase_times
        if record is None or record.state is None or due_at(record.state, times) is not None:
            self._look(name)

    def _on_device(self, change: ObjectChange[DeviceView]) -> None:
        device = change.new or change.old
        if device is not None:
            self._topology.refresh(device.key)

    def _on_child(self, change: ObjectChange[ShifuDeployment] | ObjectChange[ShifuPod]) -> None:
        keys = {side.device for side in (change.old, change.new) if side is not None}
        for key in keys:
            if key is not None:
                self._topology.refresh(key)

    def _on_node(self, change: ObjectChange[ShifuNode]) -> None:
        node = change.new or change.old
        if node is not None:
            name = node.metadata.name
            self._topology.nodes.set_node(name, change.new)
            self._look(name)
            if change.old is None or change.new is None:
                # A control plane is an edge node as long as it is the only node.
                for other in self._topology.nodes.control_planes():
                    self._look(other)

    def _on_edge_node(self, change: ObjectChange[EdgeNode]) -> None:
        old, new, nodes = change.old, change.new, self._topology.nodes
        if old is not None and (new is None or node_name(new) != node_name(old)):
            self._look(nodes.set_edge(old, gone=True))
        if new is not None:
            self._look(nodes.set_edge(new))

    def _look(self, name: str) -> None:
        """See how a node is now, and what follows from that."""
        topology, before = self._topology, self._offers.pop(name, None)
        record = topology.nodes.find(name)
        if record is not None:
            record.advance(monotonic(), topology.clock.now(), topology.options.phase_times)
            self._offers[name] = record.offer()
        topology.nodes.note_phase(name)
        after = self._offers.get(name)
        if before == after:
            return
        topology.nodes_changed()
        if record is None:
            self._devices.add_all(topology.edgemap.remove_node(name))
        elif before is None:
            topology.add_node(name, record.created)
        for source in self._nodes:
            source.add(Request(name))
        self._concerned(name, before, after)

    def _concerned(self, name: str, before: NodeOffer | None, after: NodeOffer | None) -> None:
        """Wake those for which a node may be feasible now, and those whose node has changed."""
        if not self._devices.open:
            return
        if after is not None and not after.refusal:
            self._devices.add_all(self._topology.edgemap.unbound())
        if _refusal(before) != _refusal(after):
            self._devices.add_all(self._topology.edgemap.devices_of(name))
            self._devices.add_all(self._topology.devices_with_pods_on(name))


def _refusal(offer: NodeOffer | None) -> str:
    return "Gone" if offer is None else offer.refusal
