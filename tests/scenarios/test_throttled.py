"""The API server asks for patience (429), and the operator dies, or asks again at once.

A server that says Retry-After is overloaded: whoever comes earlier than told makes it worse.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from itertools import pairwise

import pytest
from structlog.testing import capture_logs

from quintant import Context, Manager
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap
from quintant.api.events import Event
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, anything, kind, watch, writes
from quintant.testing.faults.match import RequestMatch
from scenarios.greeter import Greeter, greeter, greeter_manager, reconcile

TROUBLE_SECONDS = 60
# The longest pause of a watch that failed again and again.
BACKOFF_SECONDS = 30
# What two additions of floats may differ by.
ROUNDING = 1e-6
NAMES = [f"g{number}" for number in range(5)]
LOUD = {"error", "critical"}


def talking_manager(*, leading: bool) -> Manager:
    """The greeter, with an event for every greeting."""
    manager = Manager("greeter", leader_elect=leading)

    async def greet(obj: Greeter, ctx: Context[Greeter]) -> None:
        await reconcile(obj, ctx)
        ctx.event("Greeted", obj.spec.message)

    manager.controls(Greeter).owns(ConfigMap).reconcile(greet)
    return manager


async def throttled(
    cluster: InProcessCluster, when: RequestMatch, *, seconds: int, cut: bool
) -> list[str]:
    """Edit greeters for a minute while matching requests are throttled; the levels of the logs."""
    with capture_logs() as lines:
        with cluster.faults.answer(429, retry_after=seconds, when=when):
            if cut:
                cluster.faults.cut()
            for second in range(TROUBLE_SECONDS):
                name = NAMES[second % len(NAMES)]
                await cluster.client.apply(greeter(name, f"at {second}"))
                await cluster.advance(1)
        await cluster.advance(seconds * 1.1 + BACKOFF_SECONDS)
    return [line["log_level"] for line in lines]


def check_patience(cluster: InProcessCluster, seconds: float) -> None:
    """Nobody who was told to wait came back early."""
    times: dict[tuple[str, str, bool], list[tuple[float, object]]] = defaultdict(list)
    for sent in cluster.faults.calls:
        times[sent.call.method, sent.call.path, sent.verb == "watch"].append(
            (sent.at, sent.outcome)
        )
    for target, visits in times.items():
        for (before, answer), (after, _) in pairwise(visits):
            assert answer != 429 or after - before > seconds - ROUNDING, (target, before, after)


async def check_recovery(cluster: InProcessCluster, engine: Engine) -> None:
    """Every greeting is the last one."""
    assert engine.idle
    for obj in await cluster.client.list(Greeter):
        child = await cluster.get(ConfigMap, obj.metadata.name)
        assert child.data["text"] == obj.spec.message


@pytest.mark.parametrize("seconds", [3, 10])
@pytest.mark.parametrize("leading", [False, True], ids=["alone", "leading"])
@pytest.mark.parametrize("what", ["everything", "writes"])
async def test_nobody_comes_back_earlier_than_told_and_everything_recovers(
    cluster: InProcessCluster, what: str, leading: bool, seconds: int
) -> None:
    engine = await cluster.run(talking_manager(leading=leading))
    for name in NAMES:
        await cluster.create(greeter(name))
    await cluster.advance(5)
    when = ~kind(Lease) & (anything if what == "everything" else writes)
    levels = await throttled(cluster, when, seconds=seconds, cut=what == "everything")

    assert cluster.faults.seen(writes & kind(Event))
    check_patience(cluster, seconds)
    await check_recovery(cluster, engine)
    assert not LOUD & set(levels)


async def test_leader_that_is_throttled_for_a_moment_keeps_its_lease(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(greeter_manager(leader_elect=True))
    await cluster.advance(5)
    with cluster.faults.answer(429, retry_after=3, when=kind(Lease)):
        await cluster.advance(6)
    await cluster.advance(30)

    assert engine.elector is not None
    engine.elector.fence()
    check_patience(cluster, 3)
    assert (await cluster.client.get(Lease, "greeter", "default")).spec.lease_transitions == 0


async def test_start_waits_for_a_throttling_server(cluster: InProcessCluster) -> None:
    await cluster.create(greeter("a"))
    fault = cluster.faults.answer(429, retry_after=3)
    engine = await cluster.run(greeter_manager(), started=False)
    await cluster.advance(TROUBLE_SECONDS)
    assert not engine.started.is_set()
    fault.lift()
    async with asyncio.timeout(BACKOFF_SECONDS + 3.3):
        await engine.started.wait()
    await cluster.eventually(ConfigMap, "a", within=1)

    assert len(cluster.faults.seen(watch(Greeter))) > 3
    check_patience(cluster, 3)
