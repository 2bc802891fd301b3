"""Volumes are made for claims, grow with them, and go after them."""

from __future__ import annotations

import pytest

from quintant.api.core import (
    PersistentVolume,
    PersistentVolumeClaim,
    ResourceRequirements,
    TypedLocalObjectReference,
)
from quintant.api.events import Event
from quintant.api.quantity import Quantity
from quintant.cluster.common.volume_paths import DRIVER
from quintant.core.object import replace
from quintant.testing import InProcessCluster
from unit.cluster.controllers.volume_samples import claim, storage_class
from unit.cluster.volumes.volume_cluster import bound, ready, snapshot, start_volumes


@pytest.fixture(autouse=True)
async def _storage(cluster: InProcessCluster) -> None:
    await start_volumes(cluster)


async def notes(cluster: InProcessCluster) -> str:
    await cluster.advance(1)
    return "\n".join(event.note for event in await cluster.client.list(Event))


async def test_claim_of_the_standard_class_gets_a_volume(cluster: InProcessCluster) -> None:
    found, volume = await bound(cluster)
    assert volume.metadata.name == f"pvc-{found.metadata.uid}"
    assert volume.metadata.annotations["pv.kubernetes.io/provisioned-by"] == DRIVER
    assert volume.spec.csi is not None
    assert (volume.spec.csi.driver, volume.spec.csi.volume_handle) == (DRIVER, volume.metadata.name)
    assert volume.spec.persistent_volume_reclaim_policy == "Delete"
    assert found.status.capacity == volume.spec.capacity == {"storage": "1Gi"}


async def test_volume_goes_after_its_claim(cluster: InProcessCluster) -> None:
    found, volume = await bound(cluster)
    await cluster.client.delete(found)
    await cluster.wait_deleted(PersistentVolumeClaim, "data")
    await cluster.wait_deleted(PersistentVolume, volume.metadata.name, "")


async def test_volume_stays_where_its_class_says_so(cluster: InProcessCluster) -> None:
    await cluster.create(storage_class("keep", provisioner=DRIVER, reclaim_policy="Retain"))
    found, volume = await bound(cluster, kind="keep")
    await cluster.client.delete(found)
    left = await cluster.eventually(
        PersistentVolume, volume.metadata.name, "", until=lambda it: it.status.phase == "Released"
    )
    await cluster.client.delete(left)
    await cluster.wait_deleted(PersistentVolume, volume.metadata.name, "")


async def test_claim_that_waits_gets_its_volume_when_a_node_was_chosen(
    cluster: InProcessCluster,
) -> None:
    await cluster.create(storage_class("late", provisioner=DRIVER, waits=True))
    await cluster.create(claim(kind="late"))
    await cluster.advance(5)
    found = await cluster.get(PersistentVolumeClaim, "data")
    assert found.status.phase == "Pending"
    chosen = {"volume.kubernetes.io/selected-node": "local"}
    meta = replace(found.metadata, annotations=chosen)
    await cluster.client.patch(replace(found, metadata=meta), since=found)
    await bound(cluster)


async def test_claim_that_grows_takes_its_volume_along(cluster: InProcessCluster) -> None:
    found, volume = await bound(cluster)
    larger = ResourceRequirements(requests={"storage": Quantity("3Gi")})
    spec = replace(found.spec, resources=larger)
    await cluster.client.patch(replace(found, spec=spec), since=found)
    await cluster.eventually(
        PersistentVolumeClaim, "data", until=lambda it: it.status.capacity == {"storage": "3Gi"}
    )
    grown = await cluster.get(PersistentVolume, volume.metadata.name, "")
    assert grown.spec.capacity == {"storage": "3Gi"}


async def test_claim_can_be_filled_from_another(cluster: InProcessCluster) -> None:
    await bound(cluster)
    await bound(
        cluster,
        "copy",
        data_source=TypedLocalObjectReference(kind="PersistentVolumeClaim", name="data"),
    )


async def test_claim_waits_for_the_snapshot_it_is_filled_from(cluster: InProcessCluster) -> None:
    source = TypedLocalObjectReference(
        kind="VolumeSnapshot", name="snap", api_group="snapshot.storage.k8s.io"
    )
    await cluster.create(claim("copy", kind="standard", data_source=source))
    assert 'volumesnapshot "snap" not found' in await notes(cluster)
    await bound(cluster)
    await cluster.create(snapshot())
    await ready(cluster)
    await bound(cluster, "copy")


async def test_copy_must_not_be_smaller_than_its_source(cluster: InProcessCluster) -> None:
    await bound(cluster, size="2Gi")
    await cluster.create(snapshot())
    await ready(cluster)
    source = TypedLocalObjectReference(
        kind="VolumeSnapshot", name="snap", api_group="snapshot.storage.k8s.io"
    )
    await cluster.create(claim("copy", "1Gi", kind="standard", data_source=source))
    assert "is less than the size 2147483648" in await notes(cluster)


async def test_block_devices_are_refused_with_a_reason(cluster: InProcessCluster) -> None:
    await cluster.create(claim(kind="standard", volume_mode="Block"))
    assert "a folder cannot be a block device" in await notes(cluster)


async def test_claims_of_other_drivers_are_left_alone(cluster: InProcessCluster) -> None:
    await cluster.create(storage_class("other"))
    await cluster.create(claim(kind="other"))
    await cluster.advance(10)
    assert not await cluster.client.list(PersistentVolume)
