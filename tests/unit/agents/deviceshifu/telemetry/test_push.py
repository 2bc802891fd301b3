"""Readings that wait for a collector that is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.telemetry.deliver import PushFailed, PushRefused, Sender
from quintant.agents.deviceshifu.telemetry.push import MOST_BYTES, MOST_WAITING, PushQueue
from quintant.agents.dns.host_resolver import HostResolver
from quintant.testing.loop import advance
from testbeds.devices import ModelledCluster, edge_device


class Collector(Sender):
    """A TelemetryService that can be away, or refuse what it gets."""

    def __init__(self) -> None:
        super().__init__("d", DeviceDialer(HostResolver({})))
        self.got: list[bytes] = []
        self.away: set[str] = set()
        self.refuses: set[bytes] = set()

    async def send(self, spec: Mapping[str, Any], value: bytes) -> None:
        if spec["telemetryServiceEndpoint"] in self.away:
            raise PushFailed("away")
        if value in self.refuses:
            raise PushRefused("answered 400")
        self.got.append(value)


@asynccontextmanager
async def pushing(collector: Collector) -> AsyncIterator[PushQueue]:
    services: dict[str, Mapping[str, Any]]
    services = {each: {"spec": {"telemetryServiceEndpoint": each}} for each in ("one", "two")}
    cluster = ModelledCluster(edge_device("HTTP", "h:1"), services)
    queue = PushQueue(cluster, collector, Random(1))
    work = asyncio.ensure_future(queue.run())
    try:
        yield queue
        assert not work.done()
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def test_h12_readings_wait_for_a_collector_that_is_away_the_oldest_go_first() -> None:
    collector = Collector()
    collector.away.add("one")
    async with pushing(collector) as queue:
        for at in range(5 * MOST_WAITING):
            queue.add("one", b"%d" % at)
        await advance(3600)
        assert (len(queue), queue.sent) == (MOST_WAITING, 0)
        assert queue.dropped == 4 * MOST_WAITING
        collector.away.clear()
        await advance(60)
        assert collector.got == [b"%d" % at for at in range(4 * MOST_WAITING, 5 * MOST_WAITING)]
        assert len(queue) == 0


async def test_a_collector_that_is_away_delays_no_other() -> None:
    collector = Collector()
    collector.away.add("one")
    async with pushing(collector) as queue:
        for at in range(10):
            queue.add("one", b"first")
            queue.add("two", b"%d" % at)
            await advance(1)
        assert collector.got == [b"%d" % at for at in range(10)]


async def test_a_reading_that_a_collector_does_not_take_stops_no_other() -> None:
    collector = Collector()
    collector.refuses.add(b"bad")
    async with pushing(collector) as queue:
        for each in (b"bad", b"good", b"bad"):
            queue.add("one", each)
        await advance(120)
        assert (collector.got, queue.dropped, len(queue)) == ([b"good"], 2, 0)


async def test_large_readings_that_wait_take_so_many_bytes() -> None:
    collector = Collector()
    collector.away.update(("one", "two"))
    async with pushing(collector) as queue:
        for _ in range(500):
            queue.add("one", bytes(64 * 1024))
            queue.add("two", bytes(1024))
        assert len(queue) * 1024 < MOST_BYTES
        collector.away.clear()
        await advance(120)
        assert sum(map(len, collector.got)) <= MOST_BYTES
        assert len([each for each in collector.got if len(each) == 1024]) > 200
