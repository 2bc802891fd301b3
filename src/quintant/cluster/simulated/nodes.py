"""KWOK NodeController, NodeLeaseController: status and leases of simulated nodes.

A node is simulated if it has the label, whoever made it. One whose fault is that nothing is heard
of it is left alone: no status, no lease.
"""

from __future__ import annotations

import asyncio

from quintant.cluster.common.labels import is_simulated
from quintant.cluster.common.node_conditions import seconds_until_report
from quintant.cluster.common.node_faults import fault_of
from quintant.cluster.common.node_heartbeat import HeartbeatTimes, renew_lease
from quintant.cluster.simulated.fleet import Fleet, status_of
from quintant.cluster.simulated.views import SimNode
from quintant.core.clock import Clock, micro_timestamp, monotonic
from quintant.core.errors import AlreadyExists
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

BEAT_SECONDS = 1.0
"""How often it is looked whose turn it is, where leases are renewed as in a real cluster."""
BEATS = 10
"""How often at least between two renewals of a lease: not all nodes have their turn at once."""


class NodeReconciler:
    """Has nodes say how they are."""

    def __init__(self, times: HeartbeatTimes = HeartbeatTimes()) -> None:
        self._times = times

    async def __call__(self, node: SimNode, ctx: Context[SimNode]) -> Result | None:
        fault, now = fault_of(node), ctx.clock.now()
        if fault.silent or not is_simulated(node.metadata.labels):
            return None
        wanted = status_of(node, fault, now)
        left = seconds_until_report(node.status, wanted, now, self._times.report)
        if left > 0:
            return Result(after=left)
        await ctx.client.set_status(node, wanted)
        return Result(after=self._times.report)


class NodeLeaseController:
    """The task that makes the nodes of a fleet, and keeps all simulated nodes alive."""

    def __init__(
        self, fleet: Fleet, clock: Clock, times: HeartbeatTimes = HeartbeatTimes()
    ) -> None:
        self._fleet, self._clock, self._times = fleet, clock, times
        self._due: dict[str, float] = {}
        """When the lease of each node is to be renewed, by the node's uid."""

    async def __call__(self, client: Client) -> None:
        """Beat for ever. In each beat those nodes have their turn that are due, not all at once."""
        beat = max(BEAT_SECONDS, self._times.renew / BEATS)
        turns = max(1, int(self._times.renew / beat))
        await self._create_nodes(client)
        while True:
            began = monotonic()
            nodes = [
                node for node in await client.list(SimNode) if is_simulated(node.metadata.labels)
            ]
            for at, node in enumerate(nodes):
                await self._renew_if_due(client, node, at % turns * beat)
            known = {node.metadata.uid for node in nodes}
            self._due = {uid: due for uid, due in self._due.items() if uid in known}
            # What a beat takes is not added to the time until the next one.
            await asyncio.sleep(max(0.0, began + beat - monotonic()))

    async def _create_nodes(self, client: Client) -> None:
        for node in self._fleet.members(self._clock.now()):
            try:
                await client.create(node)
            except AlreadyExists:
                continue

    async def _renew_if_due(self, client: Client, node: SimNode, turn: float) -> None:
        """Renew a node's lease if it is time; a new node's at once, and then in its turn.

        `turn` is how many seconds of a period have passed when it has its turn.
        """
        uid, now = node.metadata.uid, monotonic()
        due = self._due.get(uid, now - turn)
        if due > now or fault_of(node).silent:
            return
        period = self._times.renew
        self._due[uid] = due + period if due + period > now else now + period
        await renew_lease(client, node, micro_timestamp(self._clock.now()), self._times)
