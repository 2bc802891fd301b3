"""Readings that wait for a collector that is away."""

from __future__ import annotations

import asyncio
from random import Random

from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.telemetry.deliver import Sender
from quintant.agents.deviceshifu.telemetry.push import MOST_WAITING, PushQueue
from quintant.agents.dns.host_resolver import HostResolver
from quintant.testing.loop import advance
from testbeds.devices import ModelledCluster, edge_device


async def test_h12_a_collector_that_is_away_costs_readings_and_nothing_else() -> None:
    cluster = ModelledCluster(edge_device("HTTP", "h:1"))
    queue = PushQueue(cluster, Sender("d", DeviceDialer(HostResolver({}))), Random(1))
    work = asyncio.ensure_future(queue.run())
    for at in range(5 * MOST_WAITING):
        queue.add("gone", b"%d" % at)
    assert len(queue) == MOST_WAITING
    await advance(60)
    assert len(queue) < MOST_WAITING
    assert queue.sent == 0
    assert queue.dropped > 4 * MOST_WAITING
    assert not work.done()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
