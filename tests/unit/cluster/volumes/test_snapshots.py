"""Snapshots are taken, told of, kept or removed, and used."""

from __future__ import annotations

import pytest

from quintant.api.core import ObjectReference, PersistentVolumeClaim, TypedLocalObjectReference
from quintant.api.meta import ObjectMeta
from quintant.api.snapshot import (
    VolumeSnapshot,
    VolumeSnapshotClass,
    VolumeSnapshotContent,
    VolumeSnapshotContentSource,
    VolumeSnapshotContentSpec,
    VolumeSnapshotSource,
)
from quintant.cluster.common.volume_paths import DRIVER
from quintant.testing import InProcessCluster
from unit.cluster.controllers.volume_samples import claim
from unit.cluster.volumes.volume_cluster import bound, ready, snapshot, start_volumes

SOURCE = TypedLocalObjectReference(
    kind="VolumeSnapshot", name="snap", api_group="snapshot.storage.k8s.io"
)


@pytest.fixture(autouse=True)
async def _storage(cluster: InProcessCluster) -> None:
    await start_volumes(cluster)


async def test_snapshot_becomes_ready_and_tells_its_size(cluster: InProcessCluster) -> None:
    await bound(cluster, size="5Gi")
    await cluster.create(snapshot())
    found = await ready(cluster)
    assert found.status is not None
    assert found.status.restore_size == "5Gi"
    assert found.status.creation_time == "2026-01-01T00:00:00Z"
    assert found.status.error is None
    assert found.spec.volume_snapshot_class_name == "standard"
    assert found.status.bound_volume_snapshot_content_name == f"snapcontent-{found.metadata.uid}"
    assert found.metadata.finalizers == (
        "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection",
        "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection",
    )
    content = await cluster.get(
        VolumeSnapshotContent, found.status.bound_volume_snapshot_content_name, ""
    )
    assert content.spec.volume_snapshot_ref.uid == found.metadata.uid
    assert content.status is not None
    assert content.status.restore_size == 5 * 2**30


async def test_snapshot_of_nothing_says_so_and_heals(cluster: InProcessCluster) -> None:
    await cluster.create(snapshot())
    failed = await cluster.eventually(
        VolumeSnapshot, "snap", until=lambda it: bool(it.status and it.status.error)
    )
    assert failed.status is not None
    assert failed.status.error is not None
    assert '"data" not found' in (failed.status.error.message or "")
    await bound(cluster)
    healed = await ready(cluster)
    assert healed.status is not None
    assert healed.status.error is None


async def test_content_goes_with_its_snapshot(cluster: InProcessCluster) -> None:
    await bound(cluster)
    await cluster.create(snapshot())
    found = await ready(cluster)
    await cluster.client.delete(found)
    await cluster.wait_deleted(VolumeSnapshot, "snap")
    await cluster.wait_deleted(VolumeSnapshotContent, f"snapcontent-{found.metadata.uid}", "")


async def test_content_stays_where_its_class_says_so(cluster: InProcessCluster) -> None:
    await bound(cluster)
    keep = VolumeSnapshotClass(
        metadata=ObjectMeta(name="keep"), driver=DRIVER, deletion_policy="Retain"
    )
    await cluster.create(keep)
    await cluster.create(snapshot(volume_snapshot_class_name="keep"))
    found = await ready(cluster)
    await cluster.client.delete(found)
    await cluster.wait_deleted(VolumeSnapshot, "snap")
    await cluster.advance(5)
    name = f"snapcontent-{found.metadata.uid}"
    left = await cluster.get(VolumeSnapshotContent, name, "")
    assert not left.deleting
    await cluster.client.delete(left)
    await cluster.wait_deleted(VolumeSnapshotContent, name, "")


async def test_content_of_a_living_snapshot_stays(cluster: InProcessCluster) -> None:
    await bound(cluster)
    await cluster.create(snapshot())
    found = await ready(cluster)
    name = f"snapcontent-{found.metadata.uid}"
    await cluster.client.delete(await cluster.get(VolumeSnapshotContent, name, ""))
    await cluster.advance(5)
    assert (await cluster.get(VolumeSnapshotContent, name, "")).deleting
    await cluster.client.delete(found)
    await cluster.wait_deleted(VolumeSnapshotContent, name, "")


async def test_content_that_was_there_first_can_be_used(cluster: InProcessCluster) -> None:
    content = VolumeSnapshotContent(
        metadata=ObjectMeta(name="old"),
        spec=VolumeSnapshotContentSpec(
            driver=DRIVER,
            deletion_policy="Retain",
            volume_snapshot_ref=ObjectReference(name="snap", namespace="default"),
            source=VolumeSnapshotContentSource(snapshot_handle="kept"),
        ),
    )
    await cluster.create(content)
    await cluster.create(snapshot(source=VolumeSnapshotSource(volume_snapshot_content_name="old")))
    await ready(cluster)
    await bound(cluster, "copy", data_source=SOURCE)


async def test_content_of_another_snapshot_is_not_taken(cluster: InProcessCluster) -> None:
    content = VolumeSnapshotContent(
        metadata=ObjectMeta(name="old"),
        spec=VolumeSnapshotContentSpec(
            driver=DRIVER,
            deletion_policy="Retain",
            volume_snapshot_ref=ObjectReference(name="other", namespace="default"),
            source=VolumeSnapshotContentSource(snapshot_handle="kept"),
        ),
    )
    await cluster.create(content)
    await cluster.create(snapshot(source=VolumeSnapshotSource(volume_snapshot_content_name="old")))
    failed = await cluster.eventually(
        VolumeSnapshot, "snap", until=lambda it: bool(it.status and it.status.error)
    )
    assert failed.status is not None
    assert not failed.status.ready_to_use


async def test_snapshot_waits_for_who_is_filled_from_it(cluster: InProcessCluster) -> None:
    await bound(cluster)
    await cluster.create(snapshot())
    found = await ready(cluster)
    await cluster.create(claim("copy", kind="missing", data_source=SOURCE))
    await cluster.client.delete(found)
    await cluster.advance(5)
    assert (await cluster.get(VolumeSnapshot, "snap")).deleting
    waiting = await cluster.get(PersistentVolumeClaim, "copy")
    await cluster.client.delete(waiting)
    await cluster.wait_deleted(VolumeSnapshot, "snap")


async def test_claim_may_go_before_its_snapshot(cluster: InProcessCluster) -> None:
    found, _ = await bound(cluster)
    await cluster.create(snapshot())
    await ready(cluster)
    await cluster.client.delete(found)
    await cluster.wait_deleted(PersistentVolumeClaim, "data")
    await bound(cluster, "copy", data_source=SOURCE)
