"""Agents, nodes and metrics that lie by seed for ten minutes: nothing breaks, and the truth wins.

Each device has a liar of its own, so that one life holds many seeds. QUINTANT_SOAK=1 tries 5,000 of
them. Devices that lie to their agents are in test_lying_devices.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager, suppress
from random import Random
from typing import Any

import msgspec
import pytest

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Secret
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.clock import Clock, SystemClock, timestamp
from quintant.core.errors import ApiError, TransportError
from quintant.core.object import Object, ObjectMeta
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.remote import metrics_api
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.runtime.cache.client import Client
from quintant.testing import kind, verb
from testbeds.liars import Manner, lie
from testbeds.shifu import ANSWERS, DEVICES, SHIFUS, ShifuTestbed, opened

SEEDS = 5_000 if os.environ.get("QUINTANT_SOAK") else 200
TOGETHER = 50
LIFE_SECONDS, TRUE_SECONDS = 600, 60
PAUSE_SECONDS = 30.0
OPTIONS = Options(
    settle_delay=0.5, edgemap_addr="off", write_qps=1000, collect_period=15.0, cooldown=60.0
)
MOST_STATUSES = 2 * LIFE_SECONDS / PAUSE_SECONDS
"""Of one device: as many as its liar speaks words, and one more for each."""
MOST_MOVES = 60
"""Of all devices: figures that lie may move some, never many."""
NODES = ("n1", "n2", "n3")
AT = "2026-01-01T00:00:00Z"
MOMENTS = ("", "", "9998-12-31T23:59:59Z", "2026-01-01", "0001-01-01T00:00:00Z", "now")
STRANGE: tuple[Any, ...] = (
    "", "Gone", "x" * 5_000, "\x00\x1b[2J", "Unknown", "Pending", "Failed", "Running",
    "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", 2**62, -1, [], {}, None, True,
)  # fmt: skip


class LyingMetrics:
    """A metrics API that answers whatever its seed makes of the truth; a transport."""

    def __init__(self, seed: int) -> None:
        self.seed: int | None = seed
        self.clock: Clock = SystemClock()

    async def figures(self, client: Client) -> Any:
        """What is read of it, as the operator reads it."""
        self.clock = client.clock
        return await metrics_api(Client(Rest(self)))

    async def request(self, call: ApiRequest) -> ApiResponse:
        at = timestamp(self.clock.now())
        truth = msgspec.json.encode(
            {"metadata": {}, "items": [_figure(each, at) for each in NODES]}
        )
        if self.seed is None:
            return ApiResponse(200, truth)
        self.seed += 1
        odd = Random(self.seed).choice(MOMENTS)
        told = lie(self.seed, truth.replace(at.encode(), odd.encode()) if odd else truth)
        if told.manner is not Manner.WHOLE:
            await asyncio.sleep(5)
            raise TransportError(f"{call} broke off")
        return ApiResponse(told.status, told.body, dict(told.fields))

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise TransportError("nothing is watched")

    async def close(self) -> None: ...


def _figure(name: str, at: str) -> dict[str, Any]:
    usage = {"memory": "100Mi", "cpu": "1m"}
    return {"metadata": {"name": name}, "timestamp": at, "window": "1s", "usage": usage}


async def lie_of(testbed: ShifuTestbed, name: str, chance: Random) -> None:
    """Say something of a device as its agent may, and as no agent would."""
    reachable = {**ANSWERS, "reason": "x"}
    said: dict[str, Any] = {
        "edgedevicephase": "Running", "busy": True, "conditions": [reachable],
        "telemetry": {"lastSuccess": AT, "lastError": ""},
    }  # fmt: skip
    twisted = chance.choice((said, reachable, said["telemetry"]))
    twisted[chance.choice(list(twisted))] = chance.choice(STRANGE)
    body = lie(chance.randrange(10_000), msgspec.json.encode(said)).body
    with suppress(ApiError, ValueError, TypeError, RecursionError):
        await testbed.report(name, **msgspec.json.decode(body))


async def lie_for(testbed: ShifuTestbed, names: list[str], first: int) -> None:
    """Ten minutes of it; nodes say strange things of themselves, too."""
    chances = {name: Random(first + at) for at, name in enumerate(names)}
    for each in range(int(LIFE_SECONDS / PAUSE_SECONDS)):
        for name in names:
            await lie_of(testbed, name, chances[name])
        chance = Random(first + each)
        words = ("", "91,0", "nan,nan", "inf", "1,2", "x" * 9_000, "1e999,0", "\u0661,2")
        note = {"shifu.edgenesis.io/location": chance.choice(words)}
        node = f"/api/v1/nodes/{chance.choice(NODES)}"
        await testbed.merge(node, {"metadata": {"annotations": note}})
        await testbed.cluster.advance(PAUSE_SECONDS)


async def versions(testbed: ShifuTestbed, kinds: tuple[type[Object], ...]) -> list[str]:
    """Things of others, as they are."""
    found = [await testbed.client.get(each, "own", SHIFUS) for each in kinds]
    return [each.metadata.resource_version for each in found]


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
async def test_shifu_outlives_liars(first: int) -> None:
    metrics, kinds = LyingMetrics(first), (ConfigMap, Secret)
    async with opened(OPTIONS, agents=False, figures=metrics.figures) as testbed:
        await testbed.nodes(*NODES)
        for each in kinds:
            await testbed.client.create(each(metadata=ObjectMeta(name="own", namespace=SHIFUS)))
        names = [f"d{at}" for at in range(TOGETHER)]
        for name in names:
            await testbed.device(name)
        for name in names:
            await testbed.placed(name)
        own, seen = await versions(testbed, kinds), testbed.cluster.faults.seen
        counts = [len(seen(verb("patch") & kind(each))) for each in (EdgeDevice, Deployment)]
        deleted = len(seen(verb("delete")))
        await lie_for(testbed, names, first)
        written = len(seen(verb("patch") & kind(EdgeDevice))) - counts[0]
        assert written <= MOST_STATUSES * TOGETHER
        assert len(seen(verb("patch") & kind(Deployment))) - counts[1] <= MOST_MOVES
        assert len(seen(verb("delete"))) == deleted

        metrics.seed = None
        for name in NODES:
            note = {"shifu.edgenesis.io/location": None}
            await testbed.merge(f"/api/v1/nodes/{name}", {"metadata": {"annotations": note}})
        for name in names:
            await testbed.report(name, edgedevicephase="Running", conditions=[ANSWERS])
        await testbed.cluster.advance(TRUE_SECONDS)
        for name in names:
            found = await testbed.placed(name, within=0.1)
            assert found.status is not None
            assert found.status.phase == "Running"
            assert len(msgspec.json.encode(found.status)) < 5_000
        assert set((await testbed.where()).values()) <= set(NODES)
        assert len(await testbed.where()) == TOGETHER
        assert await versions(testbed, kinds) == own
        assert len(await testbed.client.list(EdgeDevice, DEVICES)) == TOGETHER
        await assert_figures(testbed)


async def assert_figures(testbed: ShifuTestbed) -> None:
    """What nodes use is known again."""
    assert testbed.topology is not None
    nodes = list(testbed.topology.nodes)
    assert {each.name for each in nodes} == set(NODES)
    for each in nodes:
        assert each.fresh
        assert each.figures is not None
        assert each.figures.memory == 100 * MEBIBYTE
