"""The watch goes silent for hours, and only a restart helps.

A firewall or a machine in between forgets the connection without closing it: nothing comes any
more, and nothing says so.
"""

from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap
from quintant.testing import InProcessCluster, kind, verb, watch
from scenarios.greeter import Greeter, greeter, greeter_manager
from scenarios.metrics_and_probes import restarts, unready

# Silence is noticed 90 s after the last byte; the rest is for what follows.
NOTICED_SECONDS = 120


@pytest.mark.parametrize("lived", [1, 65, 3000], ids=["young", "bookmarked", "resumed"])
async def test_silent_watch_is_replaced_and_what_it_missed_is_reconciled(
    cluster: InProcessCluster, lived: int
) -> None:
    engine = await cluster.run(greeter_manager())
    await cluster.create(greeter("a", "before"))
    await cluster.create(greeter("b"))
    await cluster.eventually(ConfigMap, "b")
    await cluster.advance(lived)
    opened = len(cluster.faults.seen(watch(Greeter)))

    assert cluster.faults.silence(watch(Greeter)) == 1
    await cluster.client.apply(greeter("a", "after"))
    await cluster.client.delete(await cluster.get(Greeter, "b"))
    await cluster.create(greeter("c"))
    await cluster.advance(NOTICED_SECONDS)

    assert (await cluster.get(ConfigMap, "a")).data == {"text": "after"}
    assert (await cluster.get(ConfigMap, "c")).data == {"text": "hi"}
    assert {key.name for key in engine.caches.informer_for(Greeter).store.list_keys()} == {"a", "c"}
    assert restarts(engine, Greeter, "idle") == 1
    assert not await unready(engine)
    reopened = [sent.call.query for sent in cluster.faults.seen(watch(Greeter))[opened:]]
    assert len(reopened) == 1
    assert "sendInitialEvents" not in reopened[0]
    assert not cluster.faults.seen(verb("list") & kind(Greeter))


async def test_quiet_watch_is_not_taken_for_a_dead_one(cluster: InProcessCluster) -> None:
    engine = await cluster.run(greeter_manager())
    await cluster.advance(24 * 3600)
    assert restarts(engine, Greeter, "idle") == 0
    assert restarts(engine, ConfigMap, "idle") == 0


async def test_watch_that_falls_silent_again_and_again_is_replaced_each_time(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(greeter_manager())
    for turn in range(20):
        cluster.faults.silence(watch(Greeter))
        await cluster.create(greeter(f"g{turn}"))
        await cluster.eventually(ConfigMap, f"g{turn}", within=NOTICED_SECONDS)
    assert restarts(engine, Greeter, "idle") == 20
    assert not await unready(engine)
