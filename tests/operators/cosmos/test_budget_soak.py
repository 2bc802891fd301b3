"""Everything at once, and an operator that dies at random: the budget holds, and no volume goes.

What is held against it is the API server's history: nothing happens between two looks.
"""

from __future__ import annotations

import random

from quintant.api.pod import Pod
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from scenarios.soak_size import SHARE, sized
from testbeds.cosmos import NAMESPACE, CosmosTestbed
from testbeds.real_cluster import GONE
from testbeds.watched_history import WatchedHistory, watched_history

NODES, DEATHS = 20 if SHARE == 1 else 8, max(20, sized(200))  # a copy is made once a minute


def schedule(deadline: str) -> dict[str, object]:
    return {
        "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "ScheduledVolumeSnapshot",
        "metadata": {"name": "nightly", "namespace": NAMESPACE},
        "spec": {"fullNodeRef": {"name": "hub"}, "schedule": deadline, "deletePod": True,
                 "volumeSnapshotClassName": "standard"},
    }  # fmt: skip


async def test_rollout_snapshot_and_healing_share_one_budget(testbed: CosmosTestbed) -> None:
    client, most = testbed.cluster.client, NODES // 4
    heal = {"heightDriftMitigation": {"threshold": 10}}
    await testbed.run(replicas=NODES, strategy={"maxUnavailable": "25%"}, selfHeal=heal)
    await testbed.cluster.advance(130)
    async with (
        watched_history(client, Pod, NAMESPACE) as pods,
        watched_history(client, PersistentVolumeClaim, NAMESPACE) as claims,
        watched_history(client, VolumeSnapshot, NAMESPACE) as copies,
    ):
        await disturb(testbed)
        await testbed.settled(within=3000)
        await testbed.cluster.advance(1)
        for history in (pods, claims, copies):
            assert await history.is_whole(client)
    assert fewest_available(pods) == NODES - most  # the whole budget is spent, and no more
    assert [each.key for what, each in claims.events if what == GONE or each.deleting] == []
    assert {each.key for _, each in copies.events}  # while pods were away for them


async def disturb(testbed: CosmosTestbed) -> None:
    """Roll again and again, copy every minute, let a node lag, and kill the operator at random."""
    chance = random.Random(7)
    await testbed.apply(schedule("* * * * *"))
    testbed.node(f"hub-{NODES - 1}").lag = 30
    for turn in range(DEATHS):
        if turn % 10 == 0:
            await testbed.change({"podTemplate": {"image": f"gaia:v{turn}"}})
        await testbed.cluster.advance(chance.uniform(0.2, 8.0))
        await testbed.crash()
        await testbed.start()
    testbed.node(f"hub-{NODES - 1}").lag = 0
    await testbed.apply(schedule("0 0 1 1 *"))


def fewest_available(history: WatchedHistory[Pod]) -> int:
    """The fewest pods that were ready and to stay, after any write that there was."""
    available = {each.metadata.name: each.ready and not each.deleting for each in history.before}
    fewest = sum(available.values())
    for what, each in history.events:
        stays = what != GONE and not each.deleting
        available[each.metadata.name] = stays and each.ready
        fewest = min(fewest, sum(available.values()))
    return fewest
