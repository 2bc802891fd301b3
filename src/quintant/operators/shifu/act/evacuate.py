"""Carries out the plan for lost nodes, every second while a node is unwell: binds each move, and
wakes its device.

A move is written by the reconcile of its device, before all other work. Runs where the lease is
held.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.shifu.observe.moves import evacuation_view
from quintant.operators.shifu.plan.device import EVACUATED
from quintant.operators.shifu.plan.evacuation import Evacuation, EvacuationMemory, plan_evacuation
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.cache.client import Client
from quintant.runtime.source.channel import Channel

TICK_SECONDS = 1.0
URGENT = 100
"""The priority of an evacuation: before everything else."""


class Evacuator:
    """Empties lost nodes; a runnable of the leader."""

    def __init__(self, topology: Topology, devices: Channel, nodes: Channel) -> None:
        self._topology, self._devices, self._nodes = topology, devices, nodes
        self._memory = EvacuationMemory()

    async def __call__(self, client: Client) -> None:
        await client.list(self._topology.kind)  # which waits until the cache is complete
        while True:
            self.look(monotonic())
            await asyncio.sleep(TICK_SECONDS)
            if not self._topology.nodes.unwell:
                self.look(monotonic())  # what was held back no longer is
                await self._topology.nodes.trouble()

    def look(self, now: float) -> None:
        """Have all leave that are to leave by now."""
        topology = self._topology
        if topology.options.reschedule == "off":
            return
        evacuation = plan_evacuation(
            evacuation_view(topology, now), self._memory, topology.fresh_table,
            expires=topology.options.guard_expires,
        )  # fmt: skip
        self._memory = evacuation.memory
        self._hold(evacuation.held)
        if evacuation.due:
            self._begin(evacuation)

    def _hold(self, held: bool) -> None:
        """Let the nodes say whether evacuations are held back."""
        if held != self._topology.held:
            self._topology.held = held
            self._nodes.add_all(Request(each.name) for each in self._topology.nodes)

    def _begin(self, evacuation: Evacuation) -> None:
        topology = self._topology
        for move in evacuation.moves:
            topology.intend(move.key, move.decision, EVACUATED)
        topology.unplaced.update(evacuation.unplaced)
        self._memory = replace(self._memory, capacity=topology.capacity_version)
        self._devices.add_all(evacuation.due, priority=URGENT)
