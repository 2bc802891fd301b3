"""Carries out the moves to better nodes, round by round: binds each, and wakes its device.

Runs where the lease is held. A new leader only looks on for a while first.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

from quintant.core.object import Request
from quintant.operators.shifu.observe.moves import rescheduling_view
from quintant.operators.shifu.plan.device import RESCHEDULED
from quintant.operators.shifu.plan.rescheduling import plan_round
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.cache.client import Client
from quintant.runtime.source.channel import Channel

FIRST_ROUNDS = 2
"""Rounds in which a new leader only looks on."""


class Rebalancer:
    """Moves deviceShifus to better nodes; a runnable of the leader."""

    def __init__(self, topology: Topology, devices: Channel) -> None:
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
        topology, options = self._topology, self._topology.options
        self._rounds += 1
        if options.reschedule != "on" or self._rounds <= FIRST_ROUNDS:
            return
        moves, self._streaks = plan_round(
            rescheduling_view(topology, now), topology.fresh_table, self._streaks,
            options.move_limits, cooldown=options.cooldown,
        )  # fmt: skip
        for move in moves:
            topology.intend(move.key, move.decision, RESCHEDULED)
        self._devices.add_all(move.key for move in moves)
