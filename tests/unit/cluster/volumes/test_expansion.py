"""A volume grows at once, not at all, or when a pod starts with it, as its claim or class says."""

from __future__ import annotations

import pytest

from quintant.api.container import Container
from quintant.api.core import PersistentVolume, PersistentVolumeClaim, Pod, ResourceRequirements
from quintant.api.events import Event
from quintant.api.pod import PodSpec, PodStatus
from quintant.api.quantity import Quantity
from quintant.api.volume import PersistentVolumeClaimVolumeSource, Volume
from quintant.cluster.common.labels import GROWTH
from quintant.cluster.common.volume_paths import DRIVER
from quintant.core.object import replace
from quintant.testing import InProcessCluster, named
from unit.cluster.controllers.volume_samples import storage_class
from unit.cluster.volumes.volume_cluster import bound, start_volumes


@pytest.fixture(autouse=True)
async def _storage(cluster: InProcessCluster) -> None:
    await start_volumes(cluster)


async def asked(cluster: InProcessCluster, size: str, growth: str | None = None) -> None:
    """Have the claim ask for more, with an annotation that says how it grows."""
    found = await cluster.get(PersistentVolumeClaim, "data")
    larger = replace(
        found.spec, resources=ResourceRequirements(requests={"storage": Quantity(size)})
    )
    notes = {**found.metadata.annotations, **({GROWTH: growth} if growth else {})}
    changed = replace(found, spec=larger, metadata=replace(found.metadata, annotations=notes))
    await cluster.client.patch(changed, since=found)
    await cluster.advance(3)


async def sizes(cluster: InProcessCluster) -> tuple[str, str]:
    """What the claim and its volume have."""
    found = await cluster.get(PersistentVolumeClaim, "data")
    volume = await cluster.get(PersistentVolume, found.spec.volume_name, "")
    return found.status.capacity["storage"], volume.spec.capacity["storage"]


async def conditions(cluster: InProcessCluster) -> list[str]:
    found = await cluster.get(PersistentVolumeClaim, "data")
    return [each.type for each in found.status.conditions]


async def told(cluster: InProcessCluster, reason: str) -> int:
    await cluster.advance(1)
    return sum(event.reason == reason for event in await cluster.client.list(Event))


async def running_pod(cluster: InProcessCluster, name: str) -> None:
    """A pod that runs with the claim."""
    source = PersistentVolumeClaimVolumeSource(claim_name="data")
    volume = Volume(name="d", persistent_volume_claim=source)
    spec = PodSpec(containers=(Container(name="c", image="i"),), volumes=(volume,))
    made = await cluster.create(Pod(metadata=named(name), spec=spec))
    await cluster.client.patch(
        replace(made, status=PodStatus(phase="Running")), since=made, sub="status"
    )
    await cluster.advance(3)


async def test_a_volume_refuses_to_grow_until_it_is_told_otherwise(
    cluster: InProcessCluster,
) -> None:
    await bound(cluster)
    await asked(cluster, "2Gi", "refused")
    assert await sizes(cluster) == ("1Gi", "1Gi")
    assert await conditions(cluster) == ["ControllerResizeError"]
    found = await cluster.get(PersistentVolumeClaim, "data")
    assert found.status.allocated_resource_statuses == {"storage": "ControllerResizeInfeasible"}
    assert await told(cluster, "VolumeResizeFailed") == 1
    await cluster.advance(60)
    assert await told(cluster, "VolumeResizeFailed") == 1, "once is enough"
    await asked(cluster, "2Gi", "at-once")
    assert await sizes(cluster) == ("2Gi", "2Gi")
    assert await conditions(cluster) == []


async def test_a_file_system_waits_for_a_pod_that_starts_with_it(
    cluster: InProcessCluster,
) -> None:
    await bound(cluster)
    await running_pod(cluster, "before")
    await asked(cluster, "2Gi", "pending")
    assert await sizes(cluster) == ("1Gi", "2Gi")
    assert await conditions(cluster) == ["FileSystemResizePending"]
    await cluster.advance(60)
    assert await sizes(cluster) == ("1Gi", "2Gi"), "the pod that was there does not help"
    await running_pod(cluster, "after")
    assert await sizes(cluster) == ("2Gi", "2Gi")
    assert await conditions(cluster) == []
    assert await told(cluster, "FileSystemResizeSuccessful") == 1


async def test_a_class_says_it_for_all_of_its_claims(cluster: InProcessCluster) -> None:
    stubborn = storage_class("stubborn", provisioner=DRIVER)
    stubborn = replace(stubborn, parameters={"growth": "refused"}, allow_volume_expansion=True)
    await cluster.create(stubborn)
    await bound(cluster, kind="stubborn")
    await asked(cluster, "2Gi")
    assert await sizes(cluster) == ("1Gi", "1Gi")


async def test_a_word_that_nobody_knows_means_at_once(cluster: InProcessCluster) -> None:
    await bound(cluster)
    await asked(cluster, "2Gi", "slowly")
    assert await sizes(cluster) == ("2Gi", "2Gi")
