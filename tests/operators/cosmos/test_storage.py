"""Volumes: their size, what they are filled from, and how they grow."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.api.meta import ObjectReference
from quintant.api.quantity import Quantity, parse_quantity
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.api.volume import (
    HostPathVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
)
from quintant.core.object import ObjectMeta
from testbeds.cosmos import GIB, NAMESPACE, CosmosTestbed, full_node, opened

SCALE = {"usedSpacePercentage": 80, "increaseQuantity": "20Gi"}
CLAIMS = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"


async def claim(testbed: CosmosTestbed, name: str = "pvc-hub-0") -> PersistentVolumeClaim:
    return await testbed.cluster.get(PersistentVolumeClaim, name, NAMESPACE)


async def asked(testbed: CosmosTestbed, name: str = "pvc-hub-0") -> str:
    return str((await claim(testbed, name)).spec.resources.requests["storage"])


def sized(size: str, **more: Any) -> dict[str, Any]:
    return {"volumeClaimTemplate": {"resources": {"requests": {"storage": size}}, **more}}


async def test_volumes_grow_and_never_shrink_and_no_pod_is_restarted(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=2)
    await testbed.change(sized("200Gi"))
    await testbed.settled()
    await testbed.cluster.advance(30)
    assert [await asked(testbed, f"pvc-hub-{at}") for at in range(2)] == ["200Gi"] * 2
    await testbed.change(sized("50Gi"))
    await testbed.settled()
    await testbed.cluster.advance(30)
    assert parse_quantity(await asked(testbed)) >= 200 * GIB
    assert testbed.deleted == []


async def test_a_larger_volume_that_was_there_before_is_taken_as_it_is(
    testbed: CosmosTestbed,
) -> None:
    """It cannot grow: a claim that asked for all of it would be refused."""
    classes = "/apis/storage.k8s.io/v1/storageclasses/standard"
    await testbed.merge(classes, {"allowVolumeExpansion": False})
    spec = PersistentVolumeSpec(
        capacity={"storage": Quantity("500Gi")}, access_modes=("ReadWriteOnce",),
        storage_class_name="standard", host_path=HostPathVolumeSource(path="/large"),
        claim_ref=ObjectReference(name="pvc-hub-0", namespace=NAMESPACE),
    )  # fmt: skip
    await testbed.cluster.create(PersistentVolume(metadata=ObjectMeta(name="large"), spec=spec))
    await testbed.run(replicas=1)
    assert (await claim(testbed)).status.capacity["storage"] == "500Gi"
    for size in ("100Gi", "300Gi", "50Gi"):
        await testbed.change(sized(size))
        await testbed.settled()
        await testbed.cluster.advance(400)
        assert await asked(testbed) == "100Gi"
        found = await testbed.full_node()
        assert found.status is not None
        (ready,) = (each for each in found.status.conditions if each.type == "VolumesReady")
        assert (ready.status, ready.reason) == ("True", "Bound")
    assert testbed.account is not None
    assert testbed.account.denied() == []
    assert testbed.deleted == []


async def test_a_claim_that_waits_for_its_volume_is_left_alone(testbed: CosmosTestbed) -> None:
    await testbed.apply(full_node(replicas=1, claim={"storageClassName": "missing"}))
    found = await testbed.until(lambda it: it.status is not None)
    await testbed.change(sized("200Gi"))
    await testbed.cluster.advance(30)
    assert await asked(testbed) == "100Gi"
    found = await testbed.full_node()
    assert found.status is not None
    told = {each.type: each for each in found.status.conditions}
    assert (told["VolumesReady"].status, told["VolumesReady"].reason) == ("False", "Unbound")


async def test_volumes_go_with_their_instances_unless_retained(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2, volumeRetentionPolicy="Retain")
    before = (await claim(testbed, "pvc-hub-1")).metadata.uid
    await testbed.change({"replicas": 1})
    await testbed.cluster.advance(30)
    await testbed.change({"replicas": 2})
    await testbed.settled()
    assert (await claim(testbed, "pvc-hub-1")).metadata.uid == before
    await testbed.change({"replicas": 1, "volumeRetentionPolicy": "Delete"})
    await testbed.cluster.wait_deleted(PersistentVolumeClaim, "pvc-hub-1", NAMESPACE)


async def test_no_pod_is_made_before_its_claim(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    assert testbed.account is not None
    kinds = ("pods", "persistentvolumeclaims")
    writes = [each for each in testbed.account.requests() if each.resource in kinds]
    made = [each.name for each in writes if each.verb in ("create", "patch") and each.code < 300]
    assert made.index("pvc-hub-0") < made.index("hub-0")
    assert made.index("pvc-hub-1") < made.index("hub-1")


async def test_no_claim_goes_before_its_pod(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    await testbed.change({"replicas": 1})
    await testbed.cluster.wait_deleted(PersistentVolumeClaim, "pvc-hub-1", NAMESPACE)
    assert testbed.account is not None
    gone = [each.name for each in testbed.account.requests() if each.verb == "delete"]
    assert gone == ["hub-1", "pvc-hub-1"]


async def snapshot(testbed: CosmosTestbed, name: str, at: str, **labels: str) -> None:
    """A copy that is ready, of a volume of 250 Gi."""
    meta = {"name": name, "namespace": NAMESPACE, "labels": labels}
    source = {"volumeSnapshotContentName": f"content-{name}"}
    where = f"/apis/snapshot.storage.k8s.io/v1/namespaces/{NAMESPACE}/volumesnapshots"
    await testbed.cluster.client.raw(
        "POST", where, body=msgspec.json.encode({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
            "metadata": meta, "spec": {"source": source},
        }),
    )  # fmt: skip
    status = {"readyToUse": True, "restoreSize": "250Gi", "creationTime": at}
    await testbed.merge(f"{where}/{name}/status", {"status": status})


EXPLICIT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "copy"}


async def test_a_volume_is_as_large_as_what_it_is_filled_from(testbed: CosmosTestbed) -> None:
    await snapshot(testbed, "copy", "2026-01-01T00:00:00Z")
    await testbed.apply(full_node(replicas=1, claim={"dataSource": EXPLICIT}))
    await testbed.cluster.advance(5)
    found = await claim(testbed)
    assert found.spec.resources.requests["storage"] == "250Gi"
    assert found.spec.data_source is not None
    assert found.spec.data_source.name == "copy"


async def test_a_source_that_is_missing_is_told(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1, claim={"dataSource": EXPLICIT})
    assert (await claim(testbed)).spec.data_source is None
    assert (await testbed.reasons()).count("DataSourceGetSnapshot") == 1


async def test_the_newest_copy_fills_a_new_volume(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=1)
    for name, chain in (("old", "hub"), ("new", "hub"), ("other", "osmosis")):
        source = VolumeSnapshotSource(persistent_volume_claim_name="pvc-hub-0")
        meta = ObjectMeta(name=name, namespace=NAMESPACE, labels={"chain": chain})
        await testbed.cluster.create(
            VolumeSnapshot(metadata=meta, spec=VolumeSnapshotSpec(source=source))
        )
        await testbed.cluster.advance(5)
    auto = {"volumeSnapshotSelector": {"chain": "hub"}}
    await testbed.change({"replicas": 2, "volumeClaimTemplate": {"autoDataSource": auto}})
    await testbed.settled()
    found = await claim(testbed, "pvc-hub-1")
    assert found.spec.data_source is not None
    assert found.spec.data_source.name == "new"
    assert (await testbed.reasons()).count("AutoDataSource") == 1


@pytest.mark.parametrize("auto", [{"matchInstance": True}, {}])
async def test_without_labels_a_volume_is_filled_from_its_own_nodes_copies(
    testbed: CosmosTestbed, auto: dict[str, Any]
) -> None:
    await testbed.run(name="two", replicas=1)
    for name, of in (("own", "hub"), ("strange", "two")):
        labels = {"app.kubernetes.io/name": of, "app.kubernetes.io/instance": f"{of}-0"}
        source = VolumeSnapshotSource(persistent_volume_claim_name="pvc-two-0")
        meta = ObjectMeta(name=name, namespace=NAMESPACE, labels=labels)
        await testbed.cluster.create(
            VolumeSnapshot(metadata=meta, spec=VolumeSnapshotSpec(source=source))
        )
        await testbed.cluster.advance(5)
    await testbed.run(replicas=1, claim={"autoDataSource": auto})
    found = await claim(testbed, "pvc-hub-0")
    assert found.spec.data_source is not None
    assert found.spec.data_source.name == "own"


async def test_amounts_may_be_written_as_numbers(testbed: CosmosTestbed) -> None:
    """As Kubernetes takes them: `storage: 107374182400`, `cpu: 2`."""
    amounts = {"requests": {"cpu": 2, "memory": 1073741824}, "limits": {"cpu": 3}}
    scale = {"usedSpacePercentage": 80, "increaseQuantity": 20 * GIB, "maxSize": 110 * GIB}
    await testbed.run(
        replicas=1,
        pod={"resources": amounts, "containers": [{"name": "healthcheck", "resources": amounts}]},
        claim={"resources": {"requests": {"storage": 100 * GIB}}},
        instanceOverrides={
            "hub-0": {"volumeClaimTemplate": {"resources": {"requests": {"storage": 100 * GIB}}}}
        },
        selfHeal={"pvcAutoScale": scale},
    )
    assert parse_quantity(await asked(testbed)) == 100 * GIB
    requests = (await testbed.pods())["hub-0"].spec.containers[0].resources.requests
    assert [parse_quantity(requests[name]) for name in ("cpu", "memory")] == [2, GIB]
    testbed.node("hub-0").disk = (100 * GIB, 10 * GIB)
    await testbed.cluster.advance(130)
    assert parse_quantity(await asked(testbed)) == 110 * GIB


async def test_a_volume_that_fills_up_grows_once(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2, selfHeal={"pvcAutoScale": SCALE})
    await testbed.cluster.advance(61)
    assert await asked(testbed) == "100Gi"
    testbed.node("hub-0").disk = (100 * GIB, 20 * GIB)
    found = await testbed.until(lambda it: bool(it.status.self_healing.pvc_auto_scaler))  # type: ignore[union-attr]
    assert found.status is not None
    assert found.status.self_healing.pvc_auto_scaler["pvc-hub-0"].requested_size == "120Gi"
    await testbed.cluster.advance(5)
    assert parse_quantity(await asked(testbed)) == -(-120 * GIB * 102 // 100)
    assert await asked(testbed, "pvc-hub-1") == "100Gi"
    testbed.node("hub-0").disk = (120 * GIB, 60 * GIB)
    await testbed.cluster.advance(300)
    assert (await testbed.reasons()).count("PVCAutoScale") == 1
    assert testbed.deleted == []


async def test_no_volume_grows_above_the_most_and_is_asked_for_once(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=1, selfHeal={"pvcAutoScale": {**SCALE, "maxSize": "110Gi"}})
    testbed.node("hub-0").disk = (100 * GIB, 1 * GIB)
    await testbed.cluster.advance(400)
    assert await asked(testbed) == "110Gi"
    assert (await testbed.reasons()).count("PVCAutoScale") == 1


async def test_sidecars_that_tell_nothing_are_told_of_and_others_still_count(
    testbed: CosmosTestbed,
) -> None:
    await testbed.run(replicas=2, selfHeal={"pvcAutoScale": SCALE})
    testbed.node("hub-0").disk = testbed.node("hub-1").disk = None
    await testbed.cluster.advance(65)
    assert "PVCAutoScaleCollectUsage" in await testbed.reasons()
    testbed.node("hub-1").disk = (100 * GIB, 5 * GIB)
    await testbed.cluster.advance(65)
    assert parse_quantity(await asked(testbed, "pvc-hub-1")) > 120 * GIB


async def test_growth_that_is_refused_is_told_and_not_asked_for_again_and_again() -> None:
    async with opened() as testbed:
        classes = "/apis/storage.k8s.io/v1/storageclasses/standard"
        await testbed.merge(classes, {"allowVolumeExpansion": False})
        await testbed.run(replicas=1)
        await testbed.change(sized("200Gi"))
        await testbed.cluster.advance(200)
        found = await testbed.full_node()
        assert found.status is not None
        told = {each.type: each for each in found.status.conditions}
        assert told["VolumesReady"].reason == "PVCPatchFailed"
        assert "pvc-hub-0" in told["VolumesReady"].message
        assert testbed.account is not None
        denied = [each for each in testbed.account.denied() if each.verb == "patch"]
        assert len(denied) == 1
        assert (await testbed.reasons()).count("PVCPatchFailed") == 1


async def test_a_node_that_fell_behind_is_restarted_once(testbed: CosmosTestbed) -> None:
    heal = {"heightDriftMitigation": {"threshold": 10}}
    await testbed.run(replicas=3, selfHeal=heal)
    await testbed.cluster.advance(130)
    testbed.node("hub-2").lag = 20
    await testbed.cluster.advance(400)
    assert [name for _, name in testbed.deleted] == ["hub-2"]
    found = await testbed.full_node()
    assert found.status is not None
    assert "hub-2" in found.status.self_healing.restarted_at
    await testbed.cluster.advance(600)
    assert [name for _, name in testbed.deleted] == ["hub-2", "hub-2"]


async def test_a_node_that_catches_up_is_left_alone(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=3, selfHeal={"heightDriftMitigation": {"threshold": 10}})
    await testbed.cluster.advance(130)
    testbed.node("hub-2").lag, testbed.node("hub-2").catching_up = 50, True
    await testbed.cluster.advance(300)
    assert testbed.deleted == []
