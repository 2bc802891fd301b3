"""A version that the server no longer remembers (410) kills the watch, or makes it spin.

Asking again from the same version can never succeed; asking for everything at once, again and
again, is what brings a struggling server down.
"""

from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, kind, verb, watch
from quintant.testing.faults.match import RequestMatch
from scenarios.changing_objects import ChangingObjects, busiest, cached
from scenarios.metrics_and_probes import restarts, unready

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
STREAMED = WATCHES & RequestMatch(lambda call: "sendInitialEvents" in call.query)
FIRST_PAGES = verb("list") & ABOUT & RequestMatch(lambda call: "continue" not in call.query)


async def follow(cluster: InProcessCluster, objects: ChangingObjects) -> Engine:
    await objects.fill()
    return await cluster.run(objects.manager())


async def forget(cluster: InProcessCluster, objects: ChangingObjects) -> None:
    """For a minute, streams end each second and what happened meanwhile is forgotten."""
    with cluster.faults.delay(LATENCY_SECONDS, ABOUT):
        for _ in range(CHURN_SECONDS):
            cluster.faults.cut(WATCHES, clean=True)
            await objects.turn(CHANGES_PER_SECOND)
            cluster.server.compact()
            await cluster.advance(1)


def check_calm(cluster: InProcessCluster, engine: Engine, relist: RequestMatch) -> None:
    """Check how often the server was asked, and how often for everything, in that minute."""
    asked = [one for one in cluster.faults.seen(ABOUT) if one.at > 0]
    relists = [one for one in asked if relist(one.call)]
    assert 2 <= len(relists) <= MOST_RELISTS
    assert restarts(engine, ConfigMap, "410") >= len(relists)
    assert busiest(asked) < 5


async def test_lost_history_is_read_anew_without_haste(cluster: InProcessCluster) -> None:
    objects = ChangingObjects(cluster.client, OBJECTS)
    engine = await follow(cluster, objects)
    await forget(cluster, objects)
    check_calm(cluster, engine, STREAMED)
    assert not cluster.faults.seen(verb("list") & ABOUT)

    await cluster.advance(BACKOFF_SECONDS)
    assert cached(engine) == await objects.truth()
    assert not await unready(engine)


async def test_history_lost_between_two_pages_is_read_anew_without_haste(
    cluster: InProcessCluster,
) -> None:
    cluster.faults.answer(400, when=STREAMED)
    objects = ChangingObjects(cluster.client, OBJECTS)
    engine = await follow(cluster, objects)
    await forget(cluster, objects)
    check_calm(cluster, engine, FIRST_PAGES)
    assert len(cluster.faults.seen(STREAMED)) == 1  # refused once, and never asked for again

    await cluster.advance(BACKOFF_SECONDS)
    assert cached(engine) == await objects.truth()
    assert not await unready(engine)


@pytest.mark.parametrize("spoken", [False, True], ids=["answer", "event"])
async def test_expired_version_is_never_asked_for_twice(
    cluster: InProcessCluster, spoken: bool
) -> None:
    objects = ChangingObjects(cluster.client, OBJECTS)
    engine = await follow(cluster, objects)
    opened = len(cluster.faults.seen(WATCHES))
    if spoken:
        cluster.faults.fail(410, WATCHES)
    else:
        cluster.faults.answer(410, when=WATCHES, times=1)
        cluster.faults.cut(WATCHES, clean=True)
    await objects.turn(CHANGES_PER_SECOND)
    await cluster.advance(BACKOFF_SECONDS)

    asked = [one.call.query for one in cluster.faults.seen(WATCHES)[opened:]]
    resumed = [query["resourceVersion"] for query in asked if "sendInitialEvents" not in query]
    assert len(resumed) == len(set(resumed)) <= 1
    assert restarts(engine, ConfigMap, "410") == 1
    assert cached(engine) == await objects.truth()


async def test_server_that_lost_its_newest_versions_is_read_anew(cluster: InProcessCluster) -> None:
    objects = ChangingObjects(cluster.client, OBJECTS)
    engine = await follow(cluster, objects)
    past = cluster.server.snapshot()
    for number in range(10):
        await cluster.create(objects.config(OBJECTS + number))
    await cluster.advance(1)
    assert len(cached(engine)) == OBJECTS + 10

    cluster.server.restore(past)
    await cluster.advance(BACKOFF_SECONDS)
    assert cached(engine) == await objects.truth()
    assert len(cached(engine)) == OBJECTS
