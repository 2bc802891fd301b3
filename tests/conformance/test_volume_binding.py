"""Claims and volumes find each other. Provisioning is the check's own work: no server brings it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from unit.cluster.api import JsonObject

VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
CLAIMS = "persistentvolumeclaims"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
BY_US = {"pv.kubernetes.io/bound-by-controller": "yes"}
PROTECTED = "kubernetes.io/pvc-protection"


def claim(name: str, size: str = "1Gi", *, kind: str, **spec: Any) -> JsonObject:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": name}, "spec": {**asked, "storageClassName": kind, **spec}}


def volume(name: str, size: str = "1Gi", *, kind: str, **spec: Any) -> JsonObject:
    given = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": kind,
        "csi": {"driver": "disk.example.com", "volumeHandle": name},
    }
    return {"metadata": {"name": name}, "spec": given | spec}


def storage_class(name: str, *, mode: str = "Immediate", **fields: Any) -> JsonObject:
    given = {"provisioner": "example.com/disk", "volumeBindingMode": mode}
    return {"metadata": {"name": name}, **given, **fields}


class Storage:
    """Volumes and classes with names of the namespace's own, and the claims of the namespace."""

    def __init__(self, cluster: ControllerCluster) -> None:
        self.cluster = cluster
        self.kind = f"class-{cluster.namespace}"

    def name(self, word: str) -> str:
        return f"{word}-{self.cluster.namespace}"

    async def volume(self, word: str, size: str = "1Gi", **spec: Any) -> JsonObject:
        made = volume(self.name(word), size, kind=self.kind, **spec)
        return await self.cluster.create(VOLUMES, made)

    async def claim(self, name: str, size: str = "1Gi", **spec: Any) -> JsonObject:
        made = claim(name, size, kind=self.kind, **spec)
        return await self.cluster.create(self.cluster.path(CLAIMS), made)

    async def bound(self, name: str) -> JsonObject:
        return await self.cluster.until(CLAIMS, name, lambda it: it["status"]["phase"] == "Bound")

    async def phase(self, word: str, phase: str) -> JsonObject:
        path = f"{VOLUMES}/{self.name(word)}"
        return await self.cluster.found(path, lambda it: it["status"].get("phase") == phase)


@pytest.fixture
def storage(cluster: ControllerCluster) -> Storage:
    return Storage(cluster)


async def test_claim_takes_the_smallest_volume_that_fits(storage: Storage) -> None:
    for word, size in (("small", "512Mi"), ("right", "2Gi"), ("large", "9Gi")):
        await storage.volume(word, size)
        await storage.phase(word, "Available")
    made = await storage.claim("data")
    assert made["metadata"]["finalizers"] == [PROTECTED]
    found = await storage.bound("data")
    assert found["spec"]["volumeName"] == storage.name("right")
    assert found["metadata"]["annotations"] == BOUND | BY_US
    assert found["status"] == {
        "phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"},
    }  # fmt: skip
    taken = await storage.phase("right", "Bound")
    assert taken["metadata"]["annotations"] == BY_US
    assert taken["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    ref = taken["spec"]["claimRef"]
    assert (ref["kind"], ref["name"], ref["uid"]) == (
        "PersistentVolumeClaim", "data", made["metadata"]["uid"],
    )  # fmt: skip


async def test_users_may_name_one_in_the_other(storage: Storage) -> None:
    await storage.volume("a")
    await storage.claim("first", volumeName=storage.name("a"))
    assert (await storage.bound("first"))["metadata"]["annotations"] == BOUND
    ref = {"namespace": storage.cluster.namespace, "name": "second"}
    await storage.volume("b", "5Gi", claimRef=ref)
    await storage.claim("second")
    found = await storage.bound("second")
    assert found["spec"]["volumeName"] == storage.name("b")
    assert "annotations" not in (await storage.phase("b", "Bound"))["metadata"]


async def test_claim_of_a_taken_volume_waits(storage: Storage) -> None:
    await storage.volume("a")
    await storage.claim("first")
    await storage.bound("first")
    await storage.claim("second", volumeName=storage.name("a"))
    found = await storage.cluster.told("second", "FailedBinding")
    assert found["message"] == f'volume "{storage.name("a")}" already bound to a different claim.'


async def test_released_volume_is_kept(storage: Storage) -> None:
    cluster = storage.cluster
    await storage.volume("a")
    await storage.claim("data")
    await storage.bound("data")
    await cluster.delete(cluster.path(CLAIMS, "data"))
    await cluster.until_gone(CLAIMS, "data")
    await storage.phase("a", "Released")
    await cluster.merge(f"{VOLUMES}/{storage.name('a')}", {"spec": {"claimRef": None}})
    await storage.phase("a", "Available")


async def test_claim_that_lost_its_volume_says_so(storage: Storage) -> None:
    cluster, path = storage.cluster, f"{VOLUMES}/{storage.name('a')}"
    await storage.volume("a")
    await storage.claim("data")
    await storage.bound("data")
    await cluster.delete(path)
    await cluster.merge(path, {"metadata": {"finalizers": None}})
    found = await cluster.until(CLAIMS, "data", lambda it: it["status"]["phase"] == "Lost")
    assert found["status"] == {"phase": "Lost"}
    assert (await cluster.told("data", "ClaimLost"))["type"] == "Warning"


async def test_bound_volume_stays_until_its_claim_is_gone(storage: Storage) -> None:
    cluster, path = storage.cluster, f"{VOLUMES}/{storage.name('a')}"
    await storage.volume("a")
    await storage.claim("data")
    await storage.bound("data")
    await cluster.delete(path)
    assert (await cluster.get(path))["metadata"]["deletionTimestamp"]
    await cluster.delete(cluster.path(CLAIMS, "data"))
    await cluster.gone(path)


async def test_claim_in_use_stays_until_its_pods_are_gone(storage: Storage) -> None:
    cluster = storage.cluster
    await storage.volume("a")
    await storage.claim("data")
    await storage.bound("data")
    mounted = {
        "containers": [{"name": "main", "image": "image"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    await cluster.create(cluster.path("pods"), {"metadata": {"name": "user"}, "spec": mounted})
    await cluster.until("pods", "user", lambda it: it["status"]["phase"] == "Running")
    await cluster.delete(cluster.path(CLAIMS, "data"))
    await cluster.quiet("events")
    kept = (await cluster.get(cluster.path(CLAIMS, "data")))["metadata"]
    assert kept["finalizers"] == [PROTECTED]
    await cluster.delete(cluster.path("pods", "user"))
    await cluster.until_gone(CLAIMS, "data")


async def test_provisioner_is_asked(storage: Storage) -> None:
    cluster = storage.cluster
    await cluster.create(CLASSES, storage_class(storage.kind))
    made = await storage.claim("data")
    asked = {
        "volume.beta.kubernetes.io/storage-provisioner": "example.com/disk",
        "volume.kubernetes.io/storage-provisioner": "example.com/disk",
    }
    await cluster.until(CLAIMS, "data", lambda it: it["metadata"].get("annotations") == asked)
    told = await cluster.told("data", "ExternalProvisioning")
    assert told["message"].startswith(
        "Waiting for a volume to be created either by the external provisioner 'example.com/disk'"
    )
    meta = made["metadata"]
    ref = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "uid": meta["uid"],
           "namespace": meta["namespace"], "name": "data"}  # fmt: skip
    await storage.volume("made", claimRef=ref, persistentVolumeReclaimPolicy="Delete")
    found = await storage.bound("data")
    assert found["metadata"]["annotations"] == BOUND | BY_US | asked
    assert "annotations" not in (await storage.phase("made", "Bound"))["metadata"]


async def test_claim_waits_for_its_first_consumer(storage: Storage) -> None:
    cluster = storage.cluster
    await cluster.create(CLASSES, storage_class(storage.kind, mode="WaitForFirstConsumer"))
    await storage.volume("a")
    await storage.claim("data")
    told = await cluster.told("data", "WaitForFirstConsumer")
    assert told["message"] == "waiting for first consumer to be created before binding"
    assert (await cluster.get(cluster.path(CLAIMS, "data")))["status"]["phase"] == "Pending"
    chosen = {"volume.kubernetes.io/selected-node": cluster.kubelet.nodes[0]}
    await cluster.merge(cluster.path(CLAIMS, "data"), {"metadata": {"annotations": chosen}})
    await cluster.told("data", "ExternalProvisioning")
    found = await cluster.get(cluster.path(CLAIMS, "data"))
    asked = "volume.kubernetes.io/storage-provisioner"
    assert found["metadata"]["annotations"][asked] == "example.com/disk"
    assert found["status"]["phase"] == "Pending"


async def test_claim_of_an_unknown_class_says_so(storage: Storage) -> None:
    await storage.claim("data")
    told = await storage.cluster.told("data", "ProvisioningFailed")
    assert told["message"] == f'storageclass.storage.k8s.io "{storage.kind}" not found'


@pytest.mark.parametrize("grows", [True, False])
async def test_bound_claim_grows_if_its_class_can(storage: Storage, grows: bool) -> None:
    cluster, path = storage.cluster, storage.cluster.path(CLAIMS, "data")
    await cluster.create(CLASSES, storage_class(storage.kind, allowVolumeExpansion=grows))
    await storage.volume("a")
    await storage.claim("data")
    await storage.bound("data")
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    answer = await cluster.merge(path, larger, code=200 if grows else 403)
    if grows:
        assert answer["status"]["capacity"] == {"storage": "1Gi"}
        smaller = {"spec": {"resources": {"requests": {"storage": "512Mi"}}}}
        await cluster.merge(path, smaller, code=422)
    else:
        assert answer["message"].endswith(
            "only dynamically provisioned pvc can be resized and the storageclass that provisions "
            "the pvc must support resize"
        )
        invalid = {**larger, "metadata": {"labels": {"a": "NOT A LABEL"}}}
        await cluster.merge(path, invalid, code=422)
