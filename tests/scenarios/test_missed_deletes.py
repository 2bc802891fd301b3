"""Objects that were deleted while the watch was away live on as ghosts.

Nobody announces them later: they stay in caches and indexes and keep what was started for them
alive. An object that was made anew under its old name must not pass for a change of the old one.
"""

from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, watch
from quintant.testing.faults.match import RequestMatch
from scenarios.metrics_and_probes import restarts
from scenarios.missed_deletions import OBJECTS, MissedDeletions

# The longest pause between two attempts, and a moment for the attempt.
BACKOFF_SECONDS = 31

WATCHES = watch(ConfigMap)
STREAMED = WATCHES & RequestMatch(lambda call: "sendInitialEvents" in call.query)


async def follow(cluster: InProcessCluster, missed: MissedDeletions) -> Engine:
    engine = await cluster.run(missed.manager())
    await cluster.advance(1)
    missed.listen(engine)
    return engine


@pytest.mark.parametrize("paged", [False, True], ids=["streamed", "paged"])
async def test_what_vanished_while_away_is_told_and_forgotten(
    cluster: InProcessCluster, paged: bool
) -> None:
    if paged:
        cluster.faults.answer(400, when=STREAMED)
    missed = MissedDeletions(cluster.client)
    before = await missed.fill()
    engine = await follow(cluster, missed)
    assert missed.started == before

    with cluster.faults.refuse(WATCHES):
        cluster.faults.cut(WATCHES)
        await missed.vanish()
        cluster.server.compact()
        await cluster.advance(1)
        assert not missed.changes
    await cluster.advance(BACKOFF_SECONDS)
    assert restarts(engine, ConfigMap, "410") == 1
    missed.check(engine, before, await missed.truth())


async def test_deletion_that_was_seen_is_told_with_the_last_state(
    cluster: InProcessCluster,
) -> None:
    missed = MissedDeletions(cluster.client)
    only = await cluster.create(missed.config(0))
    await follow(cluster, missed)
    await cluster.client.delete(only)
    await cluster.advance(1)
    assert [(change.new, change.final) for change in missed.changes] == [(None, True)]
    assert not missed.started


async def test_reading_that_broke_off_halfway_leaves_no_ghosts(cluster: InProcessCluster) -> None:
    missed = MissedDeletions(cluster.client)
    await missed.fill()
    engine = await follow(cluster, missed)
    with cluster.faults.refuse(WATCHES):
        cluster.faults.cut(WATCHES)
        await cluster.create(missed.config(OBJECTS))
        cluster.server.compact()
    half = cluster.faults.truncate(STREAMED)
    while not half.spent:
        await cluster.advance(0.1)
    await missed.vanish()
    await cluster.advance(BACKOFF_SECONDS)
    after = await missed.truth()
    assert {
        obj.key: obj.metadata.uid for obj in engine.caches.informer_for(ConfigMap).store
    } == after
    assert missed.started == after


async def test_what_vanished_before_a_restart_is_not_there_after_it(
    cluster: InProcessCluster,
) -> None:
    first, second = MissedDeletions(cluster.client), MissedDeletions(cluster.client)
    await first.fill()
    await cluster.crash(await follow(cluster, first))
    await first.vanish()
    await follow(cluster, second)
    assert second.started == await second.truth()
