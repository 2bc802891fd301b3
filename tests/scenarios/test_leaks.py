"""The process grows: every status written, every watch reopened, every token renewed leaves a bit.

Answers that are never released, clients made per call, tasks nobody awaits: after days the pod is
killed for its memory.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from quintant import (
    Client,
    Config,
    Context,
    Custom,
    Environment,
    Manager,
    Model,
    Result,
    resource,
    when,
)
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.runtime.manager.install_crds import install_crds
from quintant.testing import InProcessCluster, named, watch
from scenarios.metrics_and_probes import restarts
from scenarios.server import served
from scenarios.soak_size import sized
from scenarios.usage import MEGABYTE, Usage

RECONCILES, RECONNECTS = sized(200_000), sized(2_000)
# Over the network, where a reconcile costs more, with a new token and a new connection each time.
ROTATIONS, BETWEEN = sized(2_000), 10
# A few objects, often: histories that servers keep for 75 s stay small and reach their size soon.
OBJECTS = 20
PERIOD_SECONDS = 1.0
WARM_SECONDS, WARM_ROTATIONS = 120, 100

MANY_OBJECTS = 600_000
MOST_GROWTH_BYTES = 3 * MEGABYTE
MOST_NEW_OBJECTS = 0.01


class CounterStatus(Model):
    count: int | None = None


@resource(group="test.quintant.dev", version="v1", status=True)
class Counter(Custom[Model, CounterStatus]):
    """Counts in its status."""


def counters() -> list[Counter]:
    return [Counter(metadata=named(f"c{number}"), spec=Model()) for number in range(OBJECTS)]


@dataclass
class Tally:
    """A controller that writes a new status each time, and does so again soon."""

    period: float = PERIOD_SECONDS
    calls: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    goal: float = math.inf
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def reconcile(self, obj: Counter, ctx: Context[Counter]) -> Result:
        name = obj.metadata.name
        self.counts[name] = self.counts.get(name, 0) + 1
        await ctx.set_status(CounterStatus(count=self.counts[name]))
        self.calls += 1
        if self.calls >= self.goal:
            self.reached.set()
        return Result(after=self.period)

    async def more(self, calls: int) -> None:
        """Wait for so many reconciles."""
        self.goal = self.calls + calls
        self.reached.clear()
        await self.reached.wait()

    def manager(self) -> Manager:
        manager = Manager("counter")
        declared = manager.controls(Counter, when=when.generation).workers(1)
        declared.reconcile(self.reconcile)
        return manager


def check_growth(before: Usage, after: Usage) -> None:
    assert after.files == before.files
    assert after.objects <= before.objects * (1 + MOST_NEW_OBJECTS)
    assert after.memory - before.memory < MOST_GROWTH_BYTES


def test_to_measure_a_process_with_many_objects_does_not_grow_it() -> None:
    held = [[number] for number in range(MANY_OBJECTS)]  # as after thousands of tests
    before = Usage.now()
    check_growth(before, Usage.now())
    assert before.objects > len(held)


async def test_soak_reconciles_and_reconnects_leave_nothing_behind(
    cluster: InProcessCluster,
) -> None:
    tally = Tally()
    engine = await cluster.run(tally.manager())
    for counter in counters():
        await cluster.create(counter)

    async def work(seconds: float, reconnects: int) -> Usage:
        for turn in range(reconnects):
            await cluster.advance(seconds / reconnects)
            cluster.faults.cut(watch(Counter), clean=turn % 30 > 0)
            cluster.faults.calls.clear()  # the kit's own logs have limits far above these
            cluster.server.audit.clear()
        cluster.server.compact()  # its history is as long as the last 75 s were busy
        return Usage.now()

    before = await work(WARM_SECONDS, 20)
    calls = tally.calls
    after = await work(RECONCILES / OBJECTS * PERIOD_SECONDS, RECONNECTS)
    assert tally.calls - calls >= RECONCILES * 0.99
    assert restarts(engine, Counter, "timeout") >= RECONNECTS * 0.9
    check_growth(before, after)


@pytest.mark.realtime
async def test_soak_rotated_tokens_and_closed_connections_leave_nothing_behind(
    tmp_path: Path,
) -> None:
    tally = Tally(period=0.02)
    with served(tmp_path) as server:
        transport = HttpTransport(Config.load(server.kubeconfig))
        await install_crds(transport, [Counter])
        for counter in counters():
            await Client(Rest(transport)).create(counter)

        async def work(rotations: int) -> Usage:
            for _ in range(rotations):
                server.renew()  # and every watch ends, and comes back with the new token
                await tally.more(BETWEEN)
            return Usage.now()

        async with tally.manager().running(Environment(transport)):
            before = await work(WARM_ROTATIONS)
            after = await work(ROTATIONS)
        await transport.close()
    check_growth(before, after)
