"""Everything at once, and an operator that dies at random: the budget holds, and no volume goes."""

from __future__ import annotations

import random

from quintant.api.volume import PersistentVolumeClaim
from scenarios.soak_size import SHARE, sized
from testbeds.cosmos import NAMESPACE, CosmosTestbed

NODES, DEATHS = 20 if SHARE == 1 else 6, sized(200)


def schedule(deadline: str) -> dict[str, object]:
    return {
        "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "ScheduledVolumeSnapshot",
        "metadata": {"name": "nightly", "namespace": NAMESPACE},
        "spec": {"fullNodeRef": {"name": "hub"}, "schedule": deadline, "deletePod": True,
                 "volumeSnapshotClassName": "standard"},
    }  # fmt: skip


async def test_rollout_snapshot_and_healing_share_one_budget(testbed: CosmosTestbed) -> None:
    chance, most = random.Random(7), NODES // 4
    heal = {"heightDriftMitigation": {"threshold": 10}}
    await testbed.run(replicas=NODES, strategy={"maxUnavailable": "25%"}, selfHeal=heal)
    await testbed.cluster.advance(130)
    claims = {each.metadata.uid for each in await _claims(testbed)}
    await testbed.apply(schedule("* * * * *"))
    testbed.node(f"hub-{NODES - 1}").lag = 30
    fewest = NODES
    for turn in range(DEATHS):
        if turn % 10 == 0:
            await testbed.change({"podTemplate": {"image": f"gaia:v{turn}"}})
        fewest = min(fewest, await _in_sync(testbed, chance.uniform(0.2, 8.0)))
        await testbed.crash()
        await testbed.start()
    testbed.node(f"hub-{NODES - 1}").lag = 0
    await testbed.apply(schedule("0 0 1 1 *"))
    await testbed.settled(within=3000)
    assert fewest >= NODES - most
    assert {each.metadata.uid for each in await _claims(testbed)} == claims


async def _claims(testbed: CosmosTestbed) -> list[PersistentVolumeClaim]:
    return list(await testbed.cluster.client.list(PersistentVolumeClaim, NAMESPACE))


async def _in_sync(testbed: CosmosTestbed, seconds: float) -> int:
    """The fewest nodes that were in sync in a time."""
    fewest, until = NODES, testbed.time + seconds
    while testbed.time < until:
        await testbed.cluster.advance(0.25)
        pods = (await testbed.pods()).values()
        fewest = min(fewest, sum(testbed.in_sync(pod) for pod in pods))
    return fewest
