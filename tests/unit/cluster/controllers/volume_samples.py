"""Claims, volumes and classes for the tests of storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintant.api.core import (
    CSIPersistentVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    ResourceRequirements,
)
from quintant.api.meta import ObjectMeta
from quintant.api.quantity import Quantity
from quintant.api.storage import StorageClass
from quintant.testing import named

ONCE = "ReadWriteOnce"
CSI = CSIPersistentVolumeSource(driver="disk.example.com", volume_handle="h")


def claim(
    name: str = "data", size: str = "1Gi", *, kind: str | None = "", **spec: Any
) -> PersistentVolumeClaim:
    """A claim; without a class unless told otherwise."""
    given = {
        "access_modes": (ONCE,),
        "resources": ResourceRequirements(requests={"storage": Quantity(size)}),
        "storage_class_name": kind,
        **spec,
    }
    return PersistentVolumeClaim(metadata=named(name), spec=PersistentVolumeClaimSpec(**given))


def volume(
    name: str = "v", size: str = "1Gi", *, labels: Mapping[str, str] | None = None, **spec: Any
) -> PersistentVolume:
    """A volume that somebody made."""
    given = {
        "capacity": {"storage": Quantity(size)},
        "access_modes": (ONCE,),
        "persistent_volume_reclaim_policy": "Retain",
        "csi": CSI,
        **spec,
    }
    return PersistentVolume(
        metadata=ObjectMeta(name=name, labels=labels or {}), spec=PersistentVolumeSpec(**given)
    )


def storage_class(name: str, *, waits: bool = False, **fields: Any) -> StorageClass:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    given = {"provisioner": "disk.example.com", "volume_binding_mode": mode, **fields}
    return StorageClass(metadata=ObjectMeta(name=name), **given)
