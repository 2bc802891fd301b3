"""A day in which nodes, agents and controllers are killed at random: at every rest all is well.

A rest is a time in which nothing was broken for long enough that everything was noticed: then every
device has exactly one deviceShifu, on a live node; every replica's edgeMap says where the pods are;
and the operator writes nothing.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from quintant.api.coordination import Lease
from quintant.api.core import Pod
from quintant.core.object import Request
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.testing import kind, writes
from scenarios.soak_size import SHARE
from testbeds.shifu import DEMO, DEVICES, ShifuTestbed, device_of, opened

NODES = {"n0": "48.8,2.3", "n1": "52.5,13.4", "n2": "1.3,103.8", "n3": "", "n4": ""}
PINNED = "pinned"
DAY_SECONDS = 24 * 3600.0
NOTICED_SECONDS = 150.0
"""After which a silent node was noticed, waited for, and emptied, and who has a better place by now
has gone there: a leader looks at five rounds of figures before it moves anybody."""
STILL_SECONDS = 60.0
WINDOWS = 4
"""Of these one is still. A device that was not ready in time on a node may go there again half an
hour later, which may be in any of them."""
LIVE = 2
"""Nodes that are spared: so there is always a place."""
# Half a node's worth more than all devices need is free on any of them.
ROOM = "8Gi"
OPTIONS = replace(DEMO, collect_period=15.0, guard_expires=30.0)
SEEDS, REPLICAS = (3, 2) if SHARE == 1 else (1, 1)
"""A lease and a standby cost as much as all the rest: the short day does without."""


class Day:
    """Breaks things, lets time pass, and looks at what there is."""

    def __init__(self, testbed: ShifuTestbed, seed: int) -> None:
        self.testbed, self.random = testbed, Random(seed)
        self.ill: set[str] = set()
        self.count = 0

    async def begin(self) -> None:
        """The operator, five nodes, and some devices of every kind."""
        self.testbed.used = dict.fromkeys(NODES, 2**30)
        for _ in range(REPLICAS):
            await self.testbed.start(elect=REPLICAS > 1)
        for name, place in NODES.items():
            await self.testbed.node(name, memory=ROOM, at=place)
        await self.testbed.device(PINNED, hints={"edge-node": "n0"})
        for _ in range(9):
            await self.create()

    async def create(self) -> None:
        """Another device: near a node, anywhere, or rather at a node."""
        hints = self.random.choice((
            {}, {"location": "48.86,2.35"}, {"location": "52.4,13.3", "priority": "5"},
            {"edge-node": "n3", "pin-policy": "preferred"},
        ))  # fmt: skip
        self.count += 1
        await self.testbed.device(f"d{self.count:03}", hints=hints)

    async def blow(self) -> None:
        """Break one thing, or make one well."""
        blows = (
            self._node, self._node, self._heal, self._agent, self._controller, self._device,
        )  # fmt: skip
        await self.random.choice(blows)()

    async def _node(self) -> None:
        well = sorted(set(NODES) - self.ill)
        if len(well) > LIVE:
            name = self.random.choice(well)
            self.ill.add(name)
            fault = self.random.choice(("dead", "dead", "partitioned", "not-ready"))
            await self.testbed.fault(name, fault)

    async def _heal(self) -> None:
        if self.ill:
            name = self.random.choice(sorted(self.ill))
            self.ill.discard(name)
            await self.testbed.fault(name, None)

    async def _agent(self) -> None:
        pods = [pod for pod in await self.testbed.pods() if pod.spec.node_name not in self.ill]
        if pods:
            await self.testbed.client.delete(self.random.choice(pods))

    async def _controller(self) -> None:
        await self.testbed.crash(self.random.choice(self.testbed.engines))
        await self.testbed.start(elect=REPLICAS > 1)

    async def _device(self) -> None:
        names = [name for name in await self._devices() if name != PINNED]
        name = self.random.choice(names)
        await self.testbed.client.delete(await self.testbed.get(name))
        await self.create()

    async def _devices(self) -> list[str]:
        found = await self.testbed.client.list(EdgeDevice, DEVICES)
        return sorted(each.metadata.name for each in found)

    async def check(self) -> None:
        """At a rest: one deviceShifu for each device, where edgeMap says, and nothing is done."""
        pods = await self.testbed.pods()
        where = {device_of(pod): pod.spec.node_name for pod in pods if pod.ready}
        count = Counter(device_of(pod) for pod in pods)
        for name in await self._devices():
            if name == PINNED and "n0" in self.ill:
                assert count[name] <= 1
                continue
            assert (name, count[name]) == (name, 1)
            assert name in where, f"{name} is not ready"
            assert where[name] not in self.ill
        await self._no_leftovers(pods)
        self._maps_agree(where)

    async def _no_leftovers(self, pods: list[Pod]) -> None:
        names = set(await self._devices())
        assert {device_of(pod) for pod in pods} <= names
        made = await self.testbed.deployments()
        assert len(made) == len(names)

    def _maps_agree(self, where: dict[str, str]) -> None:
        texts = {each.edgemap.text() for each in self.testbed.topologies.values()}
        assert len(texts) == 1
        for topology in self.testbed.topologies.values():
            for name, node in where.items():
                link = topology.edgemap.link(Request(name, DEVICES))
                assert link is not None
                assert (name, link.node) == (name, node)

    async def rest(self) -> None:
        """Wait until all was noticed and nothing is done any more, and see that all is well."""
        await self.testbed.cluster.advance(NOTICED_SECONDS)
        for _ in range(WINDOWS):
            self.testbed.cluster.faults.calls.clear()
            await self.testbed.cluster.advance(STILL_SECONDS)
            written = self.testbed.cluster.faults.seen(writes & ~kind(Lease))
            if not written:
                break
        assert written == []
        await self.check()


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_soak_of_a_day_of_kills_leaves_one_device_shifu_for_every_device(seed: int) -> None:
    async with opened(OPTIONS, agents=False, started=False) as testbed:
        day, passed = Day(testbed, seed), 0.0
        await day.begin()
        while passed < DAY_SECONDS / SHARE:
            began = testbed.cluster.clock.now()
            for _ in range(day.random.randint(1, 4)):
                await day.blow()
                await testbed.cluster.advance(day.random.uniform(0, 20))
            await day.rest()
            passed += (testbed.cluster.clock.now() - began).total_seconds()
