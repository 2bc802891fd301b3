"""Watches through a bad network, on a real kube-apiserver: silence, lost history, missed deletes.

The same complaints as in tests/scenarios, with a proxy that mistreats real connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from envtest import RealCluster
from quintant import Client, Config, Timers
from quintant.api.core import ConfigMap, Namespace
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.object import ObjectMeta
from quintant.runtime.manager.install_crds import install_crds
from quintant.testing.faults.match import RequestMatch, kind, verb, watch
from real.faulty_proxy import FaultyProxy, compact, faulty_proxy
from scenarios.changing_objects import ChangingObjects, busiest, cached
from scenarios.greeter import Greeter, greeter, greeter_manager
from scenarios.metrics_and_probes import restarts, unready
from scenarios.missed_deletions import MissedDeletions

pytestmark = pytest.mark.realtime

HASTY = Timers(life=(20, 30), silence=2.0)
# Two of the longest pauses between attempts, to learn that the version is lost and to read anew.
SOON_SECONDS = 90.0
POLL_SECONDS = 0.05
OBJECTS, CHANGES = 200, 20
TURNS, TURN_SECONDS = 5, 1.0

STREAMED = RequestMatch(lambda call: "sendInitialEvents" in call.query)
LISTED = verb("list") & kind(ConfigMap) & RequestMatch(lambda call: "continue" not in call.query)


def readings(faulty: FaultyProxy) -> int:
    """How often the whole state was read: by a stream, or, where 1.33 refuses it, by lists."""
    return len(faulty.faults.seen(LISTED)) or len(faulty.faults.seen(STREAMED))


async def soon(holds: Callable[[], bool]) -> None:
    """Wait until something holds of the controller, which runs on by itself."""
    async with asyncio.timeout(SOON_SECONDS):
        while not holds():  # noqa: ASYNC110  nothing announces what a cache has become
            await asyncio.sleep(POLL_SECONDS)


async def made(client: Client, namespace: str) -> str:
    await client.apply(Namespace(metadata=ObjectMeta(name=namespace)))
    return namespace


@pytest_asyncio.fixture
async def forgetful(forgetful_cluster: RealCluster) -> AsyncIterator[Client]:
    """A client of the forgetful cluster, with nothing in between."""
    transport = HttpTransport(Config.load(forgetful_cluster.kubeconfig))
    yield Client(Rest(transport), manager="tests")
    await transport.close()


async def test_silent_connections_are_replaced_and_what_was_missed_is_reconciled(
    real_cluster: RealCluster, transport: HttpTransport, client: Client
) -> None:
    await install_crds(transport, [Greeter])
    async with (
        faulty_proxy(real_cluster) as faulty,
        greeter_manager(watch=HASTY).running(faulty.environment) as engine,
    ):
        parent = await client.create(greeter("silent", "before"))
        await said(client, "before")
        before, read = restarts(engine, Greeter, "idle"), len(faulty.faults.seen(STREAMED))

        assert faulty.proxy.silence() >= 3  # two watches, and the connection of the writes
        await client.apply(greeter("silent", "after"))
        child = await said(client, "after")
        assert restarts(engine, Greeter, "idle") > before
        assert len(faulty.faults.seen(STREAMED)) == read
        assert not await unready(engine)
    await client.delete(parent)
    await client.delete(child)


async def said(client: Client, text: str) -> ConfigMap:
    """Wait for the greeter's child to say something."""
    found = await client.wait_for(
        ConfigMap,
        "silent",
        "default",
        until=lambda child: child is not None and child.data.get("text") == text,
        timeout=SOON_SECONDS,
    )
    assert found is not None
    return found


async def test_lost_history_is_read_anew_without_haste(
    forgetful_cluster: RealCluster, forgetful: Client
) -> None:
    objects = ChangingObjects(forgetful, OBJECTS, await made(forgetful, "changing"))
    await objects.fill()
    async with (
        faulty_proxy(forgetful_cluster) as faulty,
        objects.manager(HASTY).running(faulty.environment) as engine,
    ):
        for _ in range(TURNS):
            faulty.proxy.refuse()
            faulty.proxy.cut()
            await objects.turn(CHANGES)
            await compact(forgetful_cluster.store)
            faulty.proxy.resume()
            await asyncio.sleep(TURN_SECONDS)
        truth = await objects.truth()
        await soon(lambda: cached(engine) == truth)

        assert restarts(engine, ConfigMap, "410") >= 1
        # A cut may also meet a stream that is still reading the state, which is then begun again.
        broken = sum(restarts(engine, ConfigMap, reason) for reason in ("410", "error", "eof"))
        assert readings(faulty) <= broken + 1
        assert busiest(faulty.faults.seen(watch(ConfigMap))) < 5
        assert not await unready(engine)


async def test_what_vanished_while_away_is_told_and_forgotten(
    forgetful_cluster: RealCluster, forgetful: Client
) -> None:
    missed = MissedDeletions(forgetful, await made(forgetful, "missed"))
    before = await missed.fill()
    async with (
        faulty_proxy(forgetful_cluster) as faulty,
        missed.manager().running(faulty.environment) as engine,
    ):
        await soon(lambda: missed.started == before)
        missed.listen(engine)

        faulty.proxy.refuse()
        faulty.proxy.cut()
        await missed.vanish()
        await compact(forgetful_cluster.store)
        assert not missed.changes
        faulty.proxy.resume()
        after = await missed.truth()
        await soon(lambda: missed.started == after)

        assert restarts(engine, ConfigMap, "410") == 1
        assert readings(faulty) == 2
        missed.check(engine, before, after)
