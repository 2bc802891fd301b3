"""Fifty modelled peers, a hundred blows under virtual time, and one whole network at the end."""

from __future__ import annotations

import os
from random import Random

import pytest

from quintant.api.core import Pod
from testbeds.klight import KlightTestbed, Mood

PODS, BLOWS = 50, 100
SEEDS = 20 if os.environ.get("QUINTANT_SOAK") else 1


class Storm:
    """Strikes pods, peers and the controller, and replaces what it broke."""

    def __init__(self, testbed: KlightTestbed, seed: int) -> None:
        self.testbed, self.random = testbed, Random(seed)
        self.names = [f"p{number:03}" for number in range(PODS)]
        self.lives = dict.fromkeys(self.names, 1)
        self.written: list[str] = []
        self.count = 0

    async def blow(self) -> None:
        """Break one thing."""
        match self.random.choice(("pod", "process", "process", "controller", "pause")):
            case "pod":
                await self._replace(self.random.choice(self.names))
            case "process":
                await self._restart(self.random.choice(self.names))
            case "controller":
                await self.testbed.restart()
            case "pause":
                model = self.testbed.peers.models[await self._address()]
                model.mood = Mood.SILENT
                await self.testbed.cluster.advance(self.random.uniform(0, 3))
                model.mood = Mood.SERVING

    def write(self) -> None:
        """Write through a peer."""
        self.count += 1
        model = self.random.choice(self.testbed.alive())
        if self.testbed.peers.persist(model.address, f"w{self.count}"):
            self.written.append(f"w{self.count}")

    async def _address(self) -> str:
        return await self.testbed.address(self.random.choice(self.names))

    async def _replace(self, name: str) -> None:
        await self.testbed.delete(name)
        fresh = f"q{len(self.lives):03}"
        self.names[self.names.index(name)] = fresh
        self.lives[fresh] = 1
        await self.testbed.pod(fresh, peer={"join_seconds": 0.02})

    async def _restart(self, name: str) -> None:
        pod, address = await self.testbed.cluster.get(Pod, name), await self.testbed.address(name)
        kept = list(self.testbed.peers.models[address].contents)
        self.testbed.peers.kill(address)
        await self.testbed.cluster.advance(self.random.uniform(0, 2))
        self.testbed.peers.add(address, contents=kept, join_seconds=0.02)
        self.lives[name] += 1
        await self.testbed.run(name, pod.status.pod_ip, life=self.lives[name])


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_soak_of_blows_ends_in_one_network_with_everything_written(
    testbed: KlightTestbed, seed: int
) -> None:
    storm = Storm(testbed, seed)
    await testbed.start()
    for name in storm.names:
        await testbed.pod(name, peer={"join_seconds": 0.02})
    await testbed.cluster.advance(20)
    for _ in range(BLOWS):
        storm.write()
        await storm.blow()
        await testbed.cluster.advance(storm.random.uniform(0, 2))
    await testbed.cluster.advance(120)
    assert sorted(await testbed.stack()) == sorted(storm.names)
    members = [testbed.peers.models[await testbed.address(name)] for name in storm.names]
    assert all(sorted(each.view) == sorted(m.address for m in members) for each in members)
    assert testbed.peers.overlaps == 0
    assert all(set(storm.written) <= set(each.contents) for each in members)
