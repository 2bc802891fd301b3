"""Jobs on copies of volumes: on time, each on a volume of its own, which goes with it."""

from __future__ import annotations

from typing import Any

from quintant.api.batch import Job
from quintant.api.pod import Pod
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from testbeds.cosmos import NAMESPACE, CosmosTestbed


def manifest(**spec: Any) -> dict[str, Any]:
    pod = {"spec": {"containers": [{"name": "list", "image": "busybox"}]}}
    return {
        "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "StatefulJob",
        "metadata": {"name": "list", "namespace": NAMESPACE},
        "spec": {"selector": {"chain": "hub"}, "interval": "1h", "podTemplate": pod,
                 "volumeClaimTemplate": {"storageClassName": "standard"},
                 "jobTemplate": {"ttlSecondsAfterFinished": 60}, **spec},
    }  # fmt: skip


async def copied(testbed: CosmosTestbed, name: str = "copy") -> None:
    source = VolumeSnapshotSource(persistent_volume_claim_name="pvc-hub-0")
    meta = ObjectMeta(name=name, namespace=NAMESPACE, labels={"chain": "hub"})
    await testbed.cluster.create(
        VolumeSnapshot(metadata=meta, spec=VolumeSnapshotSpec(source=source))
    )
    await testbed.cluster.advance(5)


async def finish(testbed: CosmosTestbed, outcome: str) -> None:
    """Be the job controller's pods: the job is over."""
    for pod in await testbed.cluster.client.list(Pod, NAMESPACE):
        if pod.metadata.name.startswith("list"):
            code = 0 if outcome == "Complete" else 1
            done = {"name": "list", "image": "", "imageID": "", "ready": False, "restartCount": 0,
                    "state": {"terminated": {"exitCode": code}}}  # fmt: skip
            ended = "Succeeded" if code == 0 else "Failed"
            where = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod.metadata.name}/status"
            await testbed.merge(where, {"status": {"phase": ended, "containerStatuses": [done]}})


async def job(testbed: CosmosTestbed) -> Job | None:
    return await testbed.cluster.client.find(Job, "list", NAMESPACE)


async def status(testbed: CosmosTestbed) -> Any:
    return (await testbed.cluster.get(StatefulJob, "list", NAMESPACE)).status


async def test_a_job_runs_on_a_volume_from_the_newest_copy_and_both_go(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=1)
    await copied(testbed)
    await testbed.apply(manifest())
    await testbed.cluster.advance(5)
    found = await job(testbed)
    assert found is not None
    assert found.spec.ttl_seconds_after_finished == 60
    claim = await testbed.cluster.get(PersistentVolumeClaim, "list", NAMESPACE)
    assert claim.spec.data_source is not None
    assert claim.spec.data_source.name == "copy"
    began = testbed.time
    await finish(testbed, "Complete")
    await testbed.cluster.wait_deleted(Job, "list", NAMESPACE, within=200)
    await testbed.cluster.wait_deleted(PersistentVolumeClaim, "list", NAMESPACE)
    await testbed.cluster.advance(3500 - (testbed.time - began))
    assert await job(testbed) is None
    await testbed.cluster.advance(120)
    assert await job(testbed) is not None
    assert len((await status(testbed)).job_history) == 2


async def test_without_a_copy_nothing_is_made_until_there_is_one(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    await testbed.apply(manifest())
    await testbed.cluster.advance(120)
    assert await job(testbed) is None
    assert "no VolumeSnapshot" in ((await status(testbed)).status or "")
    assert (await testbed.reasons()).count("Error") == 1
    await copied(testbed)
    await testbed.cluster.advance(5)
    assert await job(testbed) is not None


async def test_a_job_that_fails_is_seen_and_the_next_runs(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    await copied(testbed)
    await testbed.apply(manifest(jobTemplate={"backoffLimit": 0, "ttlSecondsAfterFinished": 30}))
    await testbed.cluster.advance(5)
    await finish(testbed, "Failed")
    await testbed.cluster.advance(20)
    assert "failed" in ((await status(testbed)).status or "")
    await testbed.cluster.wait_deleted(Job, "list", NAMESPACE, within=200)
    await testbed.cluster.eventually(Job, "list", NAMESPACE, within=4000)


async def test_job_and_volume_go_with_their_owner(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    await copied(testbed)
    await testbed.apply(manifest())
    await testbed.cluster.advance(5)
    owner = await testbed.cluster.get(StatefulJob, "list", NAMESPACE)
    await testbed.cluster.client.delete(owner)
    await testbed.cluster.wait_deleted(PersistentVolumeClaim, "list", NAMESPACE)
    await testbed.cluster.wait_deleted(Job, "list", NAMESPACE)


async def test_a_claim_of_somebody_else_is_left_alone(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    await copied(testbed)
    claim = await testbed.cluster.get(PersistentVolumeClaim, "pvc-hub-0", NAMESPACE)
    mine = PersistentVolumeClaim(
        metadata=ObjectMeta(name="list", namespace=NAMESPACE), spec=claim.spec
    )
    await testbed.cluster.create(mine)
    await testbed.apply(manifest())
    await testbed.cluster.advance(60)
    assert await job(testbed) is None
    assert "somebody else's" in ((await status(testbed)).status or "")
