"""Claims and volumes find each other, and let go of each other."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.core import (
    HostPathVolumeSource,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimVolumeSource,
    ResourceRequirements,
    TypedLocalObjectReference,
    TypedObjectReference,
    Volume,
)
from quintant.api.events import Event
from quintant.api.meta import LabelSelector
from quintant.api.quantity import Quantity
from quintant.cluster.common.volume_binding import DEFAULT_CLASS
from quintant.cluster.controllers.volumes import claims, protection, volumes
from quintant.core.errors import Forbidden
from quintant.core.object import replace
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster
from unit.cluster.controllers.service_samples import pod, started
from unit.cluster.controllers.volume_samples import claim, storage_class, volume


@pytest.fixture(autouse=True)
async def _controllers(cluster: InProcessCluster) -> None:
    manager = Manager("kube-controller-manager")
    for module in (claims, protection, volumes):
        module.declare(manager)
    await cluster.run(manager)


async def bound(cluster: InProcessCluster, name: str = "data") -> PersistentVolumeClaim:
    return await cluster.eventually(
        PersistentVolumeClaim, name, until=lambda it: it.status.phase == "Bound"
    )


async def phase(cluster: InProcessCluster, name: str, wanted: str) -> PersistentVolume:
    return await cluster.eventually(
        PersistentVolume, name, "", until=lambda it: it.status.phase == wanted
    )


async def told(cluster: InProcessCluster, name: str = "data") -> list[str]:
    await cluster.advance(1)
    events = await cluster.client.list(Event)
    return [event.reason for event in events if event.regarding.name == name]


async def test_claim_gets_the_smallest_volume_that_fits(cluster: InProcessCluster) -> None:
    for name, size in (("small", "512Mi"), ("large", "4Gi"), ("right", "2Gi")):
        await cluster.create(volume(name, size))
    await phase(cluster, "large", "Available")
    made = await cluster.create(claim())
    found = await bound(cluster)
    assert found.spec.volume_name == "right"
    assert found.status.capacity == {"storage": "2Gi"}
    assert found.status.access_modes == ("ReadWriteOnce",)
    assert found.metadata.annotations == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }
    taken = await phase(cluster, "right", "Bound")
    assert taken.spec.claim_ref is not None
    assert taken.spec.claim_ref.uid == made.metadata.uid
    assert taken.metadata.annotations == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert (await phase(cluster, "large", "Available")).spec.claim_ref is None


async def test_volume_that_comes_later_is_taken(cluster: InProcessCluster) -> None:
    await cluster.create(claim())
    assert "FailedBinding" in await told(cluster)
    await cluster.create(volume())
    await bound(cluster)


async def test_one_volume_is_never_given_to_two_claims(cluster: InProcessCluster) -> None:
    for at in range(6):
        await cluster.create(claim(f"c{at}"))
        await cluster.create(volume(f"v{at}"))
    given = {(await bound(cluster, f"c{at}")).spec.volume_name for at in range(6)}
    assert given == {f"v{at}" for at in range(6)}


@pytest.mark.parametrize(
    "other",
    [
        volume(storage_class_name="other"),
        volume(access_modes=("ReadOnlyMany",)),
        volume(volume_mode="Block"),
        volume(size="1Mi"),
        volume(claim_ref=ObjectReference(name="else", namespace="default")),
    ],
)
async def test_volume_that_is_not_asked_for_is_left_alone(
    cluster: InProcessCluster, other: PersistentVolume
) -> None:
    await cluster.create(other)
    await cluster.create(claim())
    await cluster.advance(5)
    assert (await cluster.get(PersistentVolumeClaim, "data")).status.phase == "Pending"


async def test_selector_of_a_claim_is_heeded(cluster: InProcessCluster) -> None:
    await cluster.create(volume("a", labels={"tier": "slow"}))
    await cluster.create(volume("b", labels={"tier": "fast"}))
    await cluster.create(claim(selector=LabelSelector(match_labels={"tier": "fast"})))
    assert (await bound(cluster)).spec.volume_name == "b"


async def test_users_may_name_the_volume(cluster: InProcessCluster) -> None:
    await cluster.create(volume("a"))
    await cluster.create(volume("b"))
    await cluster.create(claim(volume_name="b"))
    found = await bound(cluster)
    assert found.metadata.annotations == {"pv.kubernetes.io/bind-completed": "yes"}


async def test_users_may_name_the_claim(cluster: InProcessCluster) -> None:
    ref = ObjectReference(name="data", namespace="default")
    await cluster.create(volume("large", "9Gi", claim_ref=ref))
    await cluster.create(volume("small"))
    await cluster.create(claim())
    assert (await bound(cluster)).spec.volume_name == "large"
    found = await phase(cluster, "large", "Bound")
    assert "pv.kubernetes.io/bound-by-controller" not in found.metadata.annotations


async def test_claim_of_a_taken_volume_says_so(cluster: InProcessCluster) -> None:
    await cluster.create(volume())
    await cluster.create(claim())
    await bound(cluster)
    await cluster.create(claim("second", volume_name="v"))
    assert "FailedBinding" in await told(cluster, "second")


async def test_claim_waits_for_its_first_consumer(cluster: InProcessCluster) -> None:
    await cluster.create(storage_class("late", waits=True))
    await cluster.create(volume(storage_class_name="late"))
    await cluster.create(claim(kind="late"))
    assert await told(cluster) == ["WaitForFirstConsumer"]
    found = await cluster.get(PersistentVolumeClaim, "data")
    chosen = {"volume.kubernetes.io/selected-node": "n"}
    meta = replace(found.metadata, annotations=chosen)
    await cluster.client.patch(replace(found, metadata=meta), since=found)
    assert "ExternalProvisioning" in await told(cluster)
    assert (await cluster.get(PersistentVolumeClaim, "data")).status.phase == "Pending"


async def test_provisioner_is_asked_for_what_there_is_none_of(cluster: InProcessCluster) -> None:
    await cluster.create(storage_class("fast"))
    await cluster.create(claim(kind="fast"))
    assert await told(cluster) == ["ExternalProvisioning"]
    found = await cluster.get(PersistentVolumeClaim, "data")
    assert found.metadata.annotations == {
        "volume.beta.kubernetes.io/storage-provisioner": "disk.example.com",
        "volume.kubernetes.io/storage-provisioner": "disk.example.com",
    }


async def test_class_that_comes_later_is_used(cluster: InProcessCluster) -> None:
    await cluster.create(claim(kind="fast"))
    assert await told(cluster) == ["ProvisioningFailed"]
    await cluster.create(storage_class("fast"))
    assert "ExternalProvisioning" in await told(cluster)


async def test_claim_without_a_class_gets_the_default_once_there_is_one(
    cluster: InProcessCluster,
) -> None:
    await cluster.create(claim(kind=None))
    await cluster.create(claim("none", kind=""))
    await cluster.advance(1)
    fast = storage_class("fast")
    meta = replace(fast.metadata, annotations={DEFAULT_CLASS: "true"})
    await cluster.create(replace(fast, metadata=meta))
    await cluster.eventually(
        PersistentVolumeClaim, "data", until=lambda it: it.spec.storage_class_name == "fast"
    )
    assert (await cluster.get(PersistentVolumeClaim, "none")).spec.storage_class_name == ""


async def test_claim_that_lost_its_volume_says_so(cluster: InProcessCluster) -> None:
    made = await cluster.create(volume())
    await cluster.create(claim())
    await bound(cluster)
    await cluster.client.delete(made)
    held = await cluster.get(PersistentVolume, "v", "")
    await cluster.client.json_patch(
        PersistentVolume, held.metadata, [{"op": "remove", "path": "/metadata/finalizers"}]
    )
    await cluster.eventually(
        PersistentVolumeClaim, "data", until=lambda it: it.status.phase == "Lost"
    )
    assert "ClaimLost" in await told(cluster)


async def test_released_volume_waits_for_an_administrator(cluster: InProcessCluster) -> None:
    await cluster.create(volume())
    await cluster.create(claim())
    made = await bound(cluster)
    await cluster.client.delete(made)
    held = await phase(cluster, "v", "Released")
    await cluster.create(claim("second"))
    await cluster.advance(5)
    assert (await cluster.get(PersistentVolumeClaim, "second")).status.phase == "Pending"
    held = await cluster.get(PersistentVolume, "v", "")
    await cluster.client.patch(replace(held, spec=replace(held.spec, claim_ref=None)), since=held)
    assert (await bound(cluster, "second")).spec.volume_name == "v"


async def test_nobody_deletes_files_of_the_host(cluster: InProcessCluster) -> None:
    made = volume(csi=None, host_path=HostPathVolumeSource(path="/srv"))
    await cluster.create(
        replace(made, spec=replace(made.spec, persistent_volume_reclaim_policy="Delete"))
    )
    await cluster.create(claim())
    await cluster.client.delete(await bound(cluster))
    found = await phase(cluster, "v", "Failed")
    assert "/srv" in found.status.message


async def test_claim_in_use_stays_until_its_pods_are_gone(cluster: InProcessCluster) -> None:
    await cluster.create(volume())
    await cluster.create(claim())
    made = await bound(cluster)
    assert "kubernetes.io/pvc-protection" in made.metadata.finalizers
    mounted = pod("user", phase="Succeeded", volumes=(_mount("data"),))
    user = await started(cluster, mounted)
    await cluster.create(pod("waiting", node_name="", volumes=(_mount("data"),)))
    await cluster.client.delete(made)
    await cluster.advance(5)
    assert (await cluster.get(PersistentVolumeClaim, "data")).deleting
    await cluster.client.delete(user)
    await cluster.wait_deleted(PersistentVolumeClaim, "data")


async def test_bound_volume_stays_until_its_claim_is_gone(cluster: InProcessCluster) -> None:
    made = await cluster.create(volume())
    await cluster.create(claim())
    owner = await bound(cluster)
    await cluster.client.delete(made)
    await cluster.advance(5)
    assert (await cluster.get(PersistentVolume, "v", "")).deleting
    await cluster.client.delete(owner)
    await cluster.wait_deleted(PersistentVolume, "v", "")


def _mount(name: str) -> Volume:
    return Volume(
        name="v", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=name)
    )


@pytest.mark.parametrize("grows", [True, False])
async def test_bound_claim_grows_if_its_class_can(cluster: InProcessCluster, grows: bool) -> None:
    await cluster.create(storage_class("fast", allow_volume_expansion=grows))
    await cluster.create(volume(storage_class_name="fast"))
    await cluster.create(claim(kind="fast"))
    found = await bound(cluster)
    larger = ResourceRequirements(requests={"storage": Quantity("2Gi")})
    wanted = replace(found, spec=replace(found.spec, resources=larger))
    if grows:
        await cluster.client.patch(wanted, since=found)
    else:
        with pytest.raises(Forbidden, match="must support resize"):
            await cluster.client.patch(wanted, since=found)


async def test_source_of_a_claim_is_told_in_both_ways(cluster: InProcessCluster) -> None:
    group = "snapshot.storage.k8s.io"
    old = TypedLocalObjectReference(kind="VolumeSnapshot", name="s", api_group=group)
    new = TypedObjectReference(kind="VolumeSnapshot", name="s", api_group=group)
    given: list[dict[str, Any]] = [{"data_source": old}, {"data_source_ref": new}]
    for at, spec in enumerate(given):
        made = await cluster.create(claim(f"c{at}", **spec))
        assert (made.spec.data_source, made.spec.data_source_ref) == (old, new)
