"""Tunnels that lie by seed for ten minutes: nothing breaks, nothing loops, and the truth wins.

Each PortalExpose has a liar of its own, so that one life holds many seeds. QUINTANT_SOAK=1 tries
5,000 of them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import pytest

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Pod, Secret
from quintant.core.object import ObjectMeta
from quintant.operators.portal.api import PortalExpose
from quintant.operators.portal.builders import EXPOSE_LABEL
from quintant.testing import kind, writes
from testbeds.liars import Manner, lie
from testbeds.portal import PortalTestbed, opened

SEEDS = 5_000 if os.environ.get("QUINTANT_SOAK") else 200
TOGETHER = 20
LIFE_SECONDS, TRUE_SECONDS = 600, 60
PAUSE_SECONDS = 5.0
MOST_WRITES = LIFE_SECONDS / PAUSE_SECONDS
"""Statuses that one may cost: as many as its liar speaks words."""
TEXT_LENGTH = 2_000
"""Of a field of a status, whatever was reported."""


class LyingTunnels:
    """What tunnels report while they lie: each by the seed of its PortalExpose."""

    def __init__(self, first: int) -> None:
        self._over, self._first, self._count = asyncio.Event(), first, 0

    def end(self) -> None:
        """Have every tunnel start again, honest."""
        self._over.set()

    async def report(self, pod: Pod, truth: bytes) -> AsyncGenerator[bytes, None]:
        """The lies about one PortalExpose, until its connection breaks or lies are over."""
        name = pod.metadata.labels[EXPOSE_LABEL]
        seed = self._first + int(name.removeprefix("shop"))
        chance = Random(seed)
        while not self._over.is_set():
            self._count += 1
            answer = lie(
                seed + 19 * self._count * chance.randrange(50), self._twisted(truth, chance)
            )
            if answer.manner is Manner.SILENT:
                await self._pause(120)
                break
            if answer.manner in (Manner.RESET, Manner.HALF_CLOSED):
                yield answer.body[: len(answer.body) // 2]
                raise ConnectionResetError
            await self._pause(PAUSE_SECONDS if answer.manner is Manner.WHOLE else 60)
            for line in answer.body.split(b"\n"):
                yield line
        raise ConnectionResetError

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()

    def _twisted(self, truth: bytes, chance: Random) -> bytes:
        """The truth, or a document that is well formed and false."""
        told: dict[str, Any] = msgspec.json.decode(truth)
        told["seq"] = chance.choice((1, self._count, 2**62))
        relay = told["relays"][0] if told["relays"] else {}
        match chance.randrange(8):
            case 0:
                told["pod"] = "another"
            case 1:
                relay["since"] = chance.choice(("yesterday", "9999-99-99", "\x00", "2026-01-01"))
            case 2:
                told["observedAt"] = chance.choice(("now", "0001-01-01T00:00:00Z", "2026-01-01"))
            case 3:
                relay["publicURL"] = "https://bank.example.com/" + "x" * 300_000
            case 4:
                told["relays"] *= 3_000
            case 5:
                relay |= {"state": "Backoff", "lastError": "\x1b[2J\n" * 5_000, "closeCode": 4409}
            case 6:
                told["service"] = {"reachable": False, "error": "x" * 300_000}
        return msgspec.json.encode(told)


async def foreign_objects(testbed: PortalTestbed) -> list[tuple[str, str]]:
    """Things of others; their kinds and versions."""
    client = testbed.cluster.client
    found = [
        *await client.list(ConfigMap, "default"),
        *[each for each in await client.list(Secret, "default") if each.metadata.name == "own"],
        *[each for each in await client.list(Deployment) if each.metadata.name == "own"],
    ]
    return [(each.metadata.uid, each.metadata.resource_version) for each in found]


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
async def test_portal_outlives_tunnels_that_lie(first: int) -> None:
    async with opened() as testbed:
        await testbed.cluster.create(ConfigMap(metadata=ObjectMeta(name="own"), data={"a": "b"}))
        await testbed.serve()
        await testbed.classed()
        names = [f"shop{at}" for at in range(TOGETHER)]
        for name in names:
            await testbed.expose(name)
        for name in names:
            await testbed.phase("Ready", name)
        own = await foreign_objects(testbed)
        liars = LyingTunnels(first)
        testbed.liar = liars.report
        testbed.step = 5.0
        before = len(testbed.cluster.faults.seen(kind(PortalExpose) & writes))
        await testbed.cluster.advance(LIFE_SECONDS)
        written = len(testbed.cluster.faults.seen(kind(PortalExpose) & writes)) - before
        assert written <= MOST_WRITES * TOGETHER
        await assert_bounded(testbed, names)
        testbed.liar, testbed.step = None, 0.1
        liars.end()
        await testbed.cluster.advance(TRUE_SECONDS)
        for name in names:
            found = await testbed.phase("Ready", name, within=0.1)
            assert found.status is not None
            assert found.status.public_url == f"https://{name}.r0.example.com"
        assert await foreign_objects(testbed) == own
        deployments = await testbed.cluster.client.list(Deployment)
        assert {each.metadata.name for each in deployments} == {f"{name}-tunnel" for name in names}


async def assert_bounded(testbed: PortalTestbed, names: list[str]) -> None:
    """Nothing that was reported takes more of a status than a line."""
    for name in names:
        found = await testbed.cluster.get(PortalExpose, name)
        assert found.status is not None
        assert len(msgspec.json.encode(found.status)) < 10 * TEXT_LENGTH
