"""Copies of volumes on time: the pod is away meanwhile, and comes back whatever happens."""

from __future__ import annotations

from typing import Any

from structlog.testing import capture_logs

from quintant.api.pod import Pod
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.cluster.volumes.crds import first_objects
from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from testbeds.cosmos import NAMESPACE, CosmosTestbed, full_node, opened


def manifest(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "ScheduledVolumeSnapshot",
        "metadata": {"name": "nightly", "namespace": NAMESPACE},
        "spec": {"fullNodeRef": {"name": "hub"}, "schedule": "0 * * * *", "deletePod": True,
                 "volumeSnapshotClassName": "standard", **spec},
    }  # fmt: skip


async def schedule(testbed: CosmosTestbed, **spec: Any) -> None:
    await testbed.apply(manifest(**spec))


async def found(testbed: CosmosTestbed) -> ScheduledVolumeSnapshot:
    return await testbed.cluster.get(ScheduledVolumeSnapshot, "nightly", NAMESPACE)


async def copies(testbed: CosmosTestbed) -> list[VolumeSnapshot]:
    listed = await testbed.cluster.client.list(VolumeSnapshot, NAMESPACE)
    return sorted(listed, key=lambda each: each.metadata.name)


async def phase(testbed: CosmosTestbed, wanted: str, within: float = 4000) -> None:
    await testbed.cluster.eventually(
        ScheduledVolumeSnapshot, "nightly", NAMESPACE, within=within,
        until=lambda it: it.status is not None and it.status.phase == wanted,
    )  # fmt: skip


async def run_through(testbed: CosmosTestbed, seconds: float) -> tuple[list[str], int, bool]:
    """The phases seen, the fewest pods, and whether a copy was made before its pod was gone."""
    seen: list[str] = []
    fewest, early = 9, False
    for _ in range(int(seconds / 0.1)):
        await testbed.cluster.advance(0.1)
        status = (await found(testbed)).status
        if status is not None and status.phase not in seen[-1:]:
            seen.append(str(status.phase))
        pods = await testbed.cluster.client.list(Pod, NAMESPACE)
        fewest = min(fewest, len([pod for pod in pods if not pod.deleting]))
        names = {pod.metadata.name for pod in pods}
        if status is not None and status.phase == "WaitingForSnapshotCreation":
            early = early or (status.candidate is not None and status.candidate.pod_name in names)
    return seen, fewest, early


async def test_a_copy_is_made_of_a_volume_whose_pod_is_away(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    await schedule(testbed, schedule="* * * * *")
    seen, fewest, early = await run_through(testbed, 70)
    first = seen[: seen.index("WaitingForNext", 1) + 1]
    assert first[0] == "WaitingForNext"
    assert "WaitingForPodDeletion" in first
    assert (fewest, early) == (2, False)
    (copy,) = await copies(testbed)
    assert copy.metadata.name == "nightly-202601010001"
    assert copy.spec.source.persistent_volume_claim_name == "pvc-hub-0"
    assert copy.metadata.labels["cosmos.strange.love/source"] == "nightly"
    assert copy.metadata.labels["app.kubernetes.io/instance"] == "hub-0"
    assert set(await testbed.pods()) == {"hub-0", "hub-1", "hub-2"}


async def test_the_pod_is_back_soon_after_the_copy(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    await schedule(testbed, schedule="* * * * *")
    await phase(testbed, "WaitingForPodDeletion")
    began = testbed.time
    await phase(testbed, "WaitingForNext")
    await testbed.cluster.advance(1)
    assert set(await testbed.pods()) == {"hub-0", "hub-1", "hub-2"}
    assert testbed.time - began < 4 + testbed.stop_seconds


async def test_no_pod_is_touched_if_the_user_says_so_and_that_is_warned_about(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=1)
    await schedule(testbed, schedule="* * * * *", deletePod=False)
    await testbed.cluster.advance(200)
    assert testbed.deleted == []
    assert len(await copies(testbed)) == 3
    assert (await testbed.reasons()).count("SnapshotWhileRunning") >= 1


async def test_too_few_in_sync_are_waited_for(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    testbed.node("hub-1").catching_up = True
    await testbed.cluster.advance(10)
    await schedule(testbed, schedule="* * * * *")
    await testbed.cluster.advance(120)
    assert await copies(testbed) == []
    assert (await testbed.reasons()).count("FindCandidateError") == 1
    testbed.node("hub-1").catching_up = False
    await testbed.cluster.advance(30)
    assert len(await copies(testbed)) == 1


async def test_a_node_that_never_synced_is_not_copied(testbed: CosmosTestbed) -> None:
    testbed.node("hub-0").catching_up = True
    await testbed.apply(full_node(replicas=1))
    await testbed.phase("Complete")
    await schedule(testbed, schedule="* * * * *", deletePod=False)
    await testbed.cluster.advance(200)
    assert await copies(testbed) == []
    assert (await testbed.reasons()).count("FindCandidateError") == 1
    testbed.node("hub-0").catching_up = False
    await testbed.cluster.advance(30)
    assert len(await copies(testbed)) == 1


async def test_failed_copies_do_not_pile_up_and_push_no_good_one_out(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3)
    await schedule(testbed, schedule="* * * * *", limit=2)
    await testbed.cluster.advance(200)
    good = [each.metadata.name for each in await copies(testbed)]
    assert len(good) == 2
    gone = {"volumeSnapshotClassName": "missing", "snapshotTimeoutSeconds": 20}
    await schedule(testbed, schedule="* * * * *", limit=2, **gone)
    await testbed.cluster.advance(900)
    names = [each.metadata.name for each in await copies(testbed)]
    assert names[:2] == good
    assert len(names) <= 3  # the last one tells why it failed
    await schedule(testbed, schedule="* * * * *", limit=2)
    await testbed.cluster.advance(200)
    ready = [each.status is not None and each.status.ready_to_use for each in await copies(testbed)]
    assert ready == [True, True]


async def test_an_instance_may_be_named(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    await schedule(testbed, schedule="* * * * *", fullNodeRef={"name": "hub", "ordinal": 2})
    await testbed.cluster.advance(70)
    (copy,) = await copies(testbed)
    assert copy.spec.source.persistent_volume_claim_name == "pvc-hub-2"


async def test_the_newest_copies_are_kept_and_those_of_others_stay(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    await testbed.cluster.create(
        VolumeSnapshot(
            metadata=ObjectMeta(name="mine", namespace=NAMESPACE),
            spec=VolumeSnapshotSpec(
                source=VolumeSnapshotSource(persistent_volume_claim_name="pvc-hub-1")
            ),
        )
    )
    await schedule(testbed, schedule="* * * * *", limit=2)
    await testbed.cluster.advance(60 * 5 + 40)
    names = [each.metadata.name for each in await copies(testbed)]
    assert names == ["mine", "nightly-202601010004", "nightly-202601010005"]


async def test_suspending_brings_the_pod_back(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    testbed.stop_seconds = 30
    await schedule(testbed, schedule="* * * * *")
    await phase(testbed, "WaitingForPodDeletion")
    await schedule(testbed, schedule="* * * * *", suspend=True)
    await phase(testbed, "Suspended")
    testbed.stop_seconds = 1
    await testbed.settled()
    assert set(await testbed.pods()) == {"hub-0", "hub-1", "hub-2"}
    await schedule(testbed, schedule="0 0 1 1 *", suspend=False)
    await phase(testbed, "WaitingForNext")


async def test_a_bad_schedule_is_told_once(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    await schedule(testbed, schedule="often")
    await testbed.cluster.advance(600)
    assert (await testbed.reasons()).count("FindNextSnapshotTimeError") == 1
    await schedule(testbed, schedule="0 * * * *")
    await phase(testbed, "WaitingForSnapshotCreation")


async def test_a_copy_that_fails_brings_the_pod_back_and_the_next_goes_on(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3)
    await schedule(testbed, volumeSnapshotClassName="missing", snapshotTimeoutSeconds=120)
    await phase(testbed, "WaitingForSnapshotCreation")
    await phase(testbed, "WaitingForNext", within=200)
    await testbed.settled()
    assert "VolumeSnapshotReadyError" in await testbed.reasons()
    status = (await found(testbed)).status
    assert status is not None
    assert status.failures == 1
    (before,) = await copies(testbed)
    await testbed.cluster.advance(3700)
    (after,) = await copies(testbed)  # the last that failed tells why, and no other stays
    assert after.metadata.name > before.metadata.name


async def test_a_schedule_that_is_deleted_gives_its_pod_back(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    testbed.stop_seconds = 20
    await schedule(testbed, schedule="* * * * *")
    await phase(testbed, "WaitingForPodDeletion")
    await testbed.cluster.client.delete(await found(testbed))
    await testbed.cluster.wait_deleted(ScheduledVolumeSnapshot, "nightly", NAMESPACE)
    testbed.stop_seconds = 1
    done = await testbed.settled()
    assert done.status is not None
    assert done.status.scheduled_snapshot_status == {}


async def test_a_crash_between_a_copy_and_its_note_makes_no_second_copy(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=3)
    await schedule(testbed, schedule="*/10 * * * *")
    await phase(testbed, "WaitingForPodDeletion")
    while not await copies(testbed):
        await testbed.cluster.advance(0.1)
    await testbed.crash()
    await testbed.merge(
        f"/apis/cosmos.strange.love/v1alpha1/namespaces/{NAMESPACE}"
        "/scheduledvolumesnapshots/nightly/status",
        {"status": {"phase": "CreatingSnapshot"}},
    )
    await testbed.cluster.advance(90)
    await testbed.start()
    await phase(testbed, "WaitingForNext")
    assert len(await copies(testbed)) == 1
    await testbed.settled()


async def test_without_the_kind_it_waits_and_goes_on_once_it_is_installed() -> None:
    async with opened(storage=False) as testbed:
        await schedule(testbed, schedule="* * * * *")
        await phase(testbed, "MissingCRDs")
        await testbed.cluster.advance(120)
        assert (await testbed.reasons()).count("MissingCRDs") == 1
        for each in first_objects():
            await testbed.cluster.client.apply(each)
        await phase(testbed, "FindingCandidate")


async def test_without_the_kind_the_log_has_a_line_of_it_and_not_one_every_few_seconds() -> None:
    with capture_logs() as lines:
        async with opened(storage=False) as testbed:
            await testbed.apply(full_node(replicas=1))
            await schedule(testbed, schedule="* * * * *")
            await testbed.cluster.advance(900)
    loud = [each for each in lines if each["log_level"] in ("warning", "error")]
    assert [each for each in loud if "volumesnapshot" in repr(each).lower()] == []
    assert len([each for each in lines if each["event"] == "kind is not installed"]) == 1


async def test_missed_times_are_one_run(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3)
    await schedule(testbed, schedule="* * * * *")
    await testbed.cluster.advance(70)
    await testbed.crash()
    await testbed.cluster.advance(305)
    before = len(await copies(testbed))
    await testbed.start()
    await testbed.cluster.advance(15)
    assert len(await copies(testbed)) == before + 1


async def test_two_schedules_take_one_pod_at_a_time(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, strategy={"maxUnavailable": 2})
    await schedule(testbed, schedule="* * * * *")
    other = manifest(schedule="* * * * *") | {"metadata": {"name": "other", "namespace": NAMESPACE}}
    await testbed.apply(other)
    _, fewest, _ = await run_through(testbed, 130)
    assert fewest == 2
    sources = [each.metadata.labels["cosmos.strange.love/source"] for each in await copies(testbed)]
    assert set(sources) == {"nightly", "other"}
