"""A version that the server no longer remembers (410) kills the watch, or makes it spin.

Asking again from the same version can never succeed; asking for everything at once, again and
again, is what brings a struggling server down.
"""

from __future__ import annotations

from random import Random

import pytest

from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.runtime.client.faults import Sent
from quintant.runtime.client.match import Match
from quintant.runtime.engine import Engine
from quintant.testing import InProcessCluster, kind, named, verb, watch
from scenarios.observe import restarts, unready

OBJECTS = 1000
CHURN_SECONDS = 60
CHANGES_PER_SECOND = 30
# The longest pause between two attempts, and a moment for the attempt.
BACKOFF_SECONDS = 31
# Pauses of 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 15 and 15 s on average leave room for nine attempts in
# the minute; they are random, so there may be somewhat more. Without pauses there would be sixty.
MOST_RELISTS = 18
# Streams are opened and pages are read while the world goes on: two pages take more than a second.
LATENCY_SECONDS = 0.6

ABOUT = kind(ConfigMap)
WATCHES = watch(ConfigMap)
STREAMED = WATCHES & Match(lambda call: "sendInitialEvents" in call.query)
FIRST_PAGES = verb("list") & ABOUT & Match(lambda call: "continue" not in call.query)


def config(number: int, text: str = "") -> ConfigMap:
    return ConfigMap(metadata=named(f"c{number}"), data={"text": text})


async def reconcile(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
    """Needs nothing but the cache."""


async def followed(cluster: InProcessCluster) -> Engine:
    for number in range(OBJECTS):
        await cluster.create(config(number))
    manager = Manager("configs")
    manager.controls(ConfigMap).reconcile(reconcile)
    return await cluster.run(manager)


async def churn(cluster: InProcessCluster, chance: Random) -> None:
    """Change, delete and create some objects."""
    for number in chance.sample(range(OBJECTS), CHANGES_PER_SECOND):
        found = await cluster.client.find(ConfigMap, f"c{number}", "default")
        if found is not None and chance.random() < 0.3:
            await cluster.client.delete(found)
        else:
            await cluster.client.apply(config(number, str(chance.random())))


async def forget(cluster: InProcessCluster) -> None:
    """For a minute, streams end each second and what happened meanwhile is forgotten."""
    chance = Random(3)
    with cluster.faults.delay(LATENCY_SECONDS, ABOUT):
        for _ in range(CHURN_SECONDS):
            cluster.faults.cut(WATCHES, clean=True)
            await churn(cluster, chance)
            cluster.server.compact()
            await cluster.advance(1)


async def truth(cluster: InProcessCluster) -> dict[str, str]:
    found = await cluster.client.list(ConfigMap, "default")
    return {obj.metadata.name: obj.metadata.resource_version for obj in found}


def cached(engine: Engine) -> dict[str, str]:
    store = engine.caches.of(ConfigMap).store
    return {obj.metadata.name: obj.metadata.resource_version for obj in store}


def busiest(sent: list[Sent]) -> int:
    """The most requests within one second."""
    times = [one.at for one in sent]
    return max(sum(at <= other < at + 1 for other in times) for at in times)


def check_calm(cluster: InProcessCluster, engine: Engine, relist: Match) -> None:
    """Check how often the server was asked, and how often for everything, in that minute."""
    asked = [one for one in cluster.faults.seen(ABOUT) if one.at > 0]
    relists = [one for one in asked if relist(one.call)]
    assert 2 <= len(relists) <= MOST_RELISTS
    assert restarts(engine, ConfigMap, "410") >= len(relists)
    assert busiest(asked) < 5


async def test_lost_history_is_read_anew_without_haste(cluster: InProcessCluster) -> None:
    engine = await followed(cluster)
    await forget(cluster)
    check_calm(cluster, engine, STREAMED)
    assert not cluster.faults.seen(verb("list") & ABOUT)

    await cluster.advance(BACKOFF_SECONDS)
    assert cached(engine) == await truth(cluster)
    assert not await unready(engine)


async def test_history_lost_between_two_pages_is_read_anew_without_haste(
    cluster: InProcessCluster,
) -> None:
    cluster.faults.answer(400, when=STREAMED)
    engine = await followed(cluster)
    await forget(cluster)
    check_calm(cluster, engine, FIRST_PAGES)
    assert len(cluster.faults.seen(STREAMED)) == 1  # refused once, and never asked for again

    await cluster.advance(BACKOFF_SECONDS)
    assert cached(engine) == await truth(cluster)
    assert not await unready(engine)


@pytest.mark.parametrize("spoken", [False, True], ids=["answer", "event"])
async def test_expired_version_is_never_asked_for_twice(
    cluster: InProcessCluster, spoken: bool
) -> None:
    engine = await followed(cluster)
    opened = len(cluster.faults.seen(WATCHES))
    if spoken:
        cluster.faults.fail(410, WATCHES)
    else:
        cluster.faults.answer(410, when=WATCHES, times=1)
        cluster.faults.cut(WATCHES, clean=True)
    await cluster.create(config(OBJECTS))
    await cluster.advance(BACKOFF_SECONDS)

    asked = [one.call.query for one in cluster.faults.seen(WATCHES)[opened:]]
    resumed = [query["resourceVersion"] for query in asked if "sendInitialEvents" not in query]
    assert len(resumed) == len(set(resumed)) <= 1
    assert restarts(engine, ConfigMap, "410") == 1
    assert cached(engine) == await truth(cluster)


async def test_server_that_lost_its_newest_versions_is_read_anew(cluster: InProcessCluster) -> None:
    engine = await followed(cluster)
    past = cluster.server.snapshot()
    for number in range(10):
        await cluster.create(config(OBJECTS + number))
    await cluster.advance(1)
    assert len(cached(engine)) == OBJECTS + 10

    cluster.server.restore(past)
    await cluster.advance(BACKOFF_SECONDS)
    assert cached(engine) == await truth(cluster)
    assert len(cached(engine)) == OBJECTS
