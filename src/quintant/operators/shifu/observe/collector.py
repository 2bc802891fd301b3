"""Collects what nodes use, period by period: for edgeMap, and for every decision about memory.

Leader and standby alike; it only reads. Where the metrics API does not answer, or its figures are
old, what our own deviceShifus ask for is all that counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from quintant.api.metrics import NodeMetrics
from quintant.core.clock import find_timestamp
from quintant.core.errors import QuintantError
from quintant.core.object import Request
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.plan.reading import SmoothedReading
from quintant.operators.shifu.remote import NodeFiguresSource
from quintant.operators.shifu.rules.amounts import milli_amount, whole_amount
from quintant.operators.shifu.topology.node_record import EdgeNodeRecord, NodeFigures
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.source.channel import Channel

log: Final = get_logger()

STALE_PERIODS = 3
"""Figures that are older count as none."""
JITTER = 0.1


class FiguresCollector:
    """Reads figures and gives them to the topology; a runnable."""

    def __init__(self, topology: Topology, source: NodeFiguresSource, nodes: Channel) -> None:
        self._topology, self._source, self._nodes = topology, source, nodes
        self._failed = False

    async def __call__(self, client: Client) -> None:
        await client.list(ShifuNode)  # which waits until the cache is complete
        while True:
            await self.collect(client)
            await asyncio.sleep(client.random.jitter(self._period, JITTER))

    async def collect(self, client: Client) -> None:
        """One round."""
        figures, now = await self._read(client), client.clock.now()
        self.take(figures, now)

    def take(self, figures: Sequence[NodeMetrics], now: datetime) -> None:
        """Let nodes know what was measured."""
        by_node = {each.metadata.name: each for each in figures}
        for record in self._topology.nodes:
            self._measure(record, by_node.get(record.name), now)
        self._topology.measured(by_node)
        self._nodes.add_all(Request(record.name) for record in self._topology.nodes)

    def _measure(self, record: EdgeNodeRecord, metrics: NodeMetrics | None, now: datetime) -> None:
        newest = _figures(metrics, now) if metrics is not None else None
        if newest is not None and (record.figures is None or newest.at > record.figures.at):
            record.figures = newest
            free = max(0, record.allocatable - newest.memory - record.reserved)
            before = record.reading
            record.reading = SmoothedReading(free) if before is None else before.after(free)
        last = record.figures
        record.fresh = last is not None and (now - last.at).total_seconds() <= self._stale

    async def _read(self, client: Client) -> Sequence[NodeMetrics]:
        try:
            figures = await self._source(client)
        except QuintantError as error:
            if not self._failed:
                log.warning("cannot read the figures of nodes", why=str(error).partition("\n")[0])
            self._failed = True
            return ()
        self._failed = False
        return figures

    @property
    def _period(self) -> float:
        return self._topology.options.collect_period

    @property
    def _stale(self) -> float:
        return STALE_PERIODS * self._period


def raw_free(record: EdgeNodeRecord) -> int | None:
    """What was last seen to be free, as it was; None without figures."""
    if record.figures is None:
        return None
    return max(0, record.allocatable - record.figures.memory - record.reserved)


def _figures(metrics: NodeMetrics, now: datetime) -> NodeFigures | None:
    if "memory" not in metrics.usage:
        return None
    measured = find_timestamp(metrics.timestamp or "") or now
    # Ahead of us, it would outlast everything that is measured from now on.
    at = min(measured, now)
    memory, cpu = metrics.usage.get("memory"), metrics.usage.get("cpu")
    return NodeFigures(whole_amount(memory), milli_amount(cpu), at)
