"""After an outage everything waits on, though the server is back: failures made it patient.

Nobody listens while a server restarts, so a further try costs nobody anything; and a server that
answers, be it with 410, is alive.
"""

from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap
from quintant.testing import InProcessCluster, watch
from scenarios.changing_objects import ChangingObjects, cached

OBJECTS = 20
OUTAGES = (5, 30, 120)
RECOVERED_SECONDS = 2


@pytest.mark.parametrize("seconds", OUTAGES)
@pytest.mark.parametrize("compacted", [False, True], ids=["history kept", "history lost"])
@pytest.mark.parametrize("seed", range(5))
async def test_two_seconds_after_an_outage_caches_are_true_again(
    seconds: int, compacted: bool, seed: int
) -> None:
    cluster = InProcessCluster(seed=seed)
    objects = ChangingObjects(cluster.client, OBJECTS)
    await objects.fill()
    engine = await cluster.run(objects.manager())

    with cluster.faults.refuse():
        cluster.faults.cut(watch(ConfigMap))
        await cluster.advance(seconds)
        await objects.turn(OBJECTS)
        if compacted:
            cluster.server.compact()
    await cluster.advance(RECOVERED_SECONDS)

    assert cached(engine) == await objects.truth()
    await cluster.close()


async def test_a_server_that_lost_history_and_versions_is_read_anew_at_once(
    cluster: InProcessCluster,
) -> None:
    objects = ChangingObjects(cluster.client, OBJECTS)
    await objects.fill()
    engine = await cluster.run(objects.manager())
    past = cluster.server.snapshot()
    await objects.turn(OBJECTS)

    with cluster.faults.refuse():
        cluster.faults.cut(watch(ConfigMap))
        cluster.server.restore(past)
        await cluster.advance(30)
    await cluster.advance(RECOVERED_SECONDS)

    assert cached(engine) == await objects.truth()
