"""Looks for better places, round by round, and begins the moves that are worth it.

Runs where the lease is held. A round in which anything is being evacuated moves nothing else, and a
new leader looks on for a while first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta

from quintant.core.clock import parse_timestamp
from quintant.core.object import Request
from quintant.operators.shifu.builders.resources import memory_request
from quintant.operators.shifu.observe.topology import Topology, own_deployment
from quintant.operators.shifu.observe.wakes import WakeSource
from quintant.operators.shifu.plan.device import RESCHEDULED
from quintant.operators.shifu.plan.node_phase import NodePhase
from quintant.operators.shifu.plan.rescheduling import Resident, plan_moves
from quintant.operators.shifu.rules.hints import resolve_hints
from quintant.runtime.cache.client import Client

FIRST_ROUNDS = 2
"""Rounds in which a new leader only looks on."""


class Rebalancer:
    """Moves deviceShifus to better places; a runnable of the leader."""

    def __init__(self, topology: Topology, devices: WakeSource) -> None:
        self._topology, self._devices = topology, devices
        self._streaks: dict[Request, int] = {}
        self._rounds = 0

    async def __call__(self, client: Client) -> None:
        await client.list(self._topology.kind)  # which waits until the cache is complete
        while True:
            await asyncio.sleep(self._topology.options.collect_period)
            self.look(client.clock.now())

    def look(self, now: datetime) -> None:
        """One round."""
        topology = self._topology
        self._rounds += 1
        if topology.options.reschedule != "on" or self._rounds <= FIRST_ROUNDS:
            return
        if self._evacuating():
            self._streaks = {}
            return
        moves, self._streaks = plan_moves(
            topology.fresh_table(), self._residents(now), self._streaks,
            topology.options.move_limits,
        )  # fmt: skip
        for move in moves:
            topology.intend(move.key, move.decision, RESCHEDULED)
        self._devices.wake_all(move.key for move in moves)

    def _evacuating(self) -> bool:
        return bool(self._topology.intents) or any(
            record.phase in (NodePhase.LOST, NodePhase.SUSPECT)
            and self._topology.edgemap.devices_of(record.name)
            for record in self._topology.nodes
        )

    def _residents(self, now: datetime) -> Iterator[Resident]:
        """Those that may move."""
        topology = self._topology
        lately = now - timedelta(seconds=topology.options.cooldown)
        for key, bound in topology.bound.items():
            device = topology.device(key)
            ours = own_deployment(device, topology.deployments(key)) if device else None
            if device is None or ours is None or not (bound.ready and ours.available):
                continue
            hints = resolve_hints(device)
            stays = hints.node or hints.reschedule != "auto"
            busy = device.status is not None and device.status.busy
            if stays or busy or not ours.placed_at or parse_timestamp(ours.placed_at) > lately:
                continue
            want = topology.request(device, hints, memory_request(device, hints))
            yield Resident(key, bound.node, want, nearby=ours.kind == "Proximity")
