"""Nodes that stand still, are alone, or end again and again; upgrades that nobody prepared for."""

from __future__ import annotations

from quintant.api.meta import Condition
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from testbeds.cosmos import NAMESPACE, CosmosTestbed

STALL = {"stall": {"seconds": 60}}


async def test_a_node_that_stands_still_is_restarted_once(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, selfHeal=STALL)
    await testbed.cluster.advance(130)
    testbed.node("hub-1").halted_at = testbed.height
    await testbed.cluster.advance(250)
    assert [name for _, name in testbed.deleted] == ["hub-1"]
    assert (await testbed.reasons()).count("StallRestart") == 1


async def test_a_chain_that_stands_still_as_a_whole_is_left_alone(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, selfHeal=STALL)
    await testbed.cluster.advance(130)
    testbed.stopped = testbed.time
    await testbed.cluster.advance(900)
    assert testbed.deleted == []


async def test_a_node_that_is_silent_or_alone_is_restarted(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, selfHeal=STALL)
    await testbed.cluster.advance(130)
    testbed.node("hub-2").down = True
    await testbed.cluster.advance(200)
    testbed.node("hub-2").down = False
    assert [name for _, name in testbed.deleted] == ["hub-2"]
    await testbed.settled()
    testbed.node("hub-0").peers = 0
    await testbed.cluster.advance(250)
    assert [name for _, name in testbed.deleted] == ["hub-2", "hub-0"]


async def test_an_instance_that_ends_again_and_again_begins_anew_from_a_copy(
    testbed: CosmosTestbed,
) -> None:
    auto = {"autoDataSource": {"volumeSnapshotSelector": {"chain": "hub"}}}
    crash = {"crashLoop": {"restarts": 3, "windowSeconds": 600}}
    await testbed.run(replicas=3, selfHeal=crash, claim=auto)
    source = VolumeSnapshotSource(persistent_volume_claim_name="pvc-hub-0")
    meta = ObjectMeta(name="copy", namespace=NAMESPACE, labels={"chain": "hub"})
    await testbed.cluster.create(
        VolumeSnapshot(metadata=meta, spec=VolumeSnapshotSpec(source=source))
    )
    before = await testbed.cluster.get(PersistentVolumeClaim, "pvc-hub-2", NAMESPACE)
    testbed.node("hub-2").down = True
    for _ in range(5):
        testbed.node("hub-2").restarts += 1
        await testbed.cluster.advance(60)
    await testbed.cluster.advance(60)
    testbed.node("hub-2").down, testbed.node("hub-2").restarts = False, 0
    await testbed.settled()
    after = await testbed.cluster.get(PersistentVolumeClaim, "pvc-hub-2", NAMESPACE)
    assert after.metadata.uid != before.metadata.uid
    assert after.spec.data_source is not None
    assert after.spec.data_source.name == "copy"
    assert (await testbed.reasons()).count("CrashLoopRebuild") == 1
    others = {name for _, name in testbed.deleted}
    assert others == {"hub-2"}


async def test_nothing_is_rebuilt_under_retain(testbed: CosmosTestbed) -> None:
    crash = {"crashLoop": {"restarts": 2, "windowSeconds": 600}}
    await testbed.run(replicas=2, selfHeal=crash, volumeRetentionPolicy="Retain")
    testbed.node("hub-1").down = True
    for _ in range(6):
        testbed.node("hub-1").restarts += 1
        await testbed.cluster.advance(60)
    assert testbed.deleted == []
    assert (await testbed.reasons()).count("CrashLoopRebuildRefused") == 1


async def test_an_upgrade_that_no_version_covers_is_told_and_goes(testbed: CosmosTestbed) -> None:
    table = [{"height": 0, "image": "gaia:v1.2.3"}]
    await testbed.run(replicas=2, chain={"versions": table, "watchUpgradePlans": True})
    testbed.planned = {"name": "v15", "height": "9000", "info": ""}
    await testbed.cluster.advance(130)
    told = {each.type: each for each in _conditions(await testbed.full_node())}
    assert told["UpgradeMissing"].status == "True"
    assert "v15 at height 9000" in told["UpgradeMissing"].message
    assert (await testbed.reasons()).count("UpgradeMissing") == 1
    table.append({"height": 9000, "image": "gaia:v15"})
    await testbed.change({"chain": {"versions": table}})
    await testbed.settled()
    told = {each.type: each for each in _conditions(await testbed.full_node())}
    assert told["UpgradeMissing"].status == "False"
    assert testbed.deleted == []


def _conditions(full_node: CosmosFullNode) -> tuple[Condition, ...]:
    return full_node.status.conditions if full_node.status is not None else ()
