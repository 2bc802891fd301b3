"""A cluster with storage: its binder and the driver, on a disk of the test's choice."""

from __future__ import annotations

from typing import Any

from quintant.api.core import PersistentVolume, PersistentVolumeClaim
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.cluster.controllers.volumes import claims, protection, volumes
from quintant.cluster.volumes.component import csi_driver
from quintant.cluster.volumes.directories import NoDirectories, VolumeBackend
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, named
from unit.cluster.controllers.volume_samples import claim


async def start_volumes(cluster: InProcessCluster, disk: VolumeBackend | None = None) -> None:
    """Run what makes storage work."""
    manager = Manager("kube-controller-manager")
    for module in (claims, protection, volumes):
        module.declare(manager)
    component = csi_driver(disk or NoDirectories())
    for obj in component.objects:
        await cluster.client.apply(obj)
    await cluster.run(manager)
    await cluster.run(component.manager)


async def bound(
    cluster: InProcessCluster, name: str = "data", **spec: Any
) -> tuple[PersistentVolumeClaim, PersistentVolume]:
    """A claim of the standard class, and its volume, once they have found each other."""
    if spec or await cluster.client.find(PersistentVolumeClaim, name, "default") is None:
        await cluster.create(claim(name, **{"kind": "standard", **spec}))
    found = await cluster.eventually(
        PersistentVolumeClaim, name, until=lambda it: it.status.phase == "Bound"
    )
    return found, await cluster.get(PersistentVolume, found.spec.volume_name, "")


def snapshot(name: str = "snap", **spec: Any) -> VolumeSnapshot:
    """A snapshot, of the claim `data` unless told otherwise."""
    origin = VolumeSnapshotSource(persistent_volume_claim_name="data")
    return VolumeSnapshot(
        metadata=named(name), spec=VolumeSnapshotSpec(**{"source": origin, **spec})
    )


async def ready(cluster: InProcessCluster, name: str = "snap") -> VolumeSnapshot:
    """A snapshot, once it can be used."""
    return await cluster.eventually(
        VolumeSnapshot, name, until=lambda it: bool(it.status and it.status.ready_to_use)
    )
