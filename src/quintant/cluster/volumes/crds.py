"""VolumeSnapshotClass, StorageClass: the CSI snapshot kinds, and a class of each sort to use.

The kinds are those of the CSI snapshot controller at v1, field by field; descriptions are left out,
and so are rules: their language would cost every cluster 14 MB, for a source that nobody changes.
"""

from __future__ import annotations

from typing import Any

from quintant.api.apiextensions import (
    CustomResourceDefinition,
    CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
)
from quintant.api.meta import ObjectMeta
from quintant.api.snapshot import GROUP, VolumeSnapshotClass
from quintant.api.storage import StorageClass
from quintant.cluster.common.volume_binding import DEFAULT_CLASS
from quintant.cluster.common.volume_paths import DRIVER
from quintant.cluster.volumes.snapshots import DEFAULT_CLASS as DEFAULT_SNAPSHOT_CLASS
from quintant.core.object import Object, Opaque

CLASS = "standard"
"""The name of the storage class and of the snapshot class that every cluster has."""
_APPROVED = {
    "api-approved.kubernetes.io": "https://github.com/kubernetes-csi/external-snapshotter/pull/814"
}
_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_TIME = {"type": "string", "format": "date-time"}
_NUMBER = {"type": "integer", "format": "int64", "minimum": 0}
_POLICY = {"type": "string", "enum": ["Delete", "Retain"]}
_AMOUNT = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
_ERROR = {"type": "object", "properties": {"message": _TEXT, "time": _TIME}}
_PARAMETERS = {"type": "object", "additionalProperties": _TEXT}

_SNAPSHOT = {
    "spec": {
        "type": "object",
        "required": ["source"],
        "properties": {
            "source": {
                "type": "object",
                "properties": {
                    "persistentVolumeClaimName": _TEXT,
                    "volumeSnapshotContentName": _TEXT,
                },
                "oneOf": [
                    {"required": ["persistentVolumeClaimName"]},
                    {"required": ["volumeSnapshotContentName"]},
                ],
            },
            "volumeSnapshotClassName": _TEXT,
        },
    },
    "status": {
        "type": "object",
        "properties": {
            "boundVolumeSnapshotContentName": _TEXT,
            "creationTime": _TIME,
            "error": _ERROR,
            "readyToUse": _FLAG,
            "restoreSize": _AMOUNT,
            "volumeGroupSnapshotName": _TEXT,
        },
    },
}
_REFERENCED = "apiVersion fieldPath kind name namespace resourceVersion uid"
_REFERENCE = {
    "type": "object",
    "properties": dict.fromkeys(_REFERENCED.split(), _TEXT),
    "x-kubernetes-map-type": "atomic",
}
_CONTENT = {
    "spec": {
        "type": "object",
        "required": ["deletionPolicy", "driver", "source", "volumeSnapshotRef"],
        "properties": {
            "deletionPolicy": _POLICY,
            "driver": _TEXT,
            "source": {
                "type": "object",
                "properties": {"snapshotHandle": _TEXT, "volumeHandle": _TEXT},
                "oneOf": [{"required": ["volumeHandle"]}, {"required": ["snapshotHandle"]}],
            },
            "sourceVolumeMode": _TEXT,
            "volumeSnapshotClassName": _TEXT,
            "volumeSnapshotRef": _REFERENCE,
        },
    },
    "status": {
        "type": "object",
        "properties": {
            "creationTime": {"type": "integer", "format": "int64"},
            "error": _ERROR,
            "readyToUse": _FLAG,
            "restoreSize": _NUMBER,
            "snapshotHandle": _TEXT,
            "volumeGroupSnapshotHandle": _TEXT,
        },
    },
}
_CLASS_FIELDS = {"deletionPolicy": _POLICY, "driver": _TEXT, "parameters": _PARAMETERS}
_AGE = ("Age", "date", ".metadata.creationTimestamp")
_COLUMNS = {
    "VolumeSnapshot": (
        ("ReadyToUse", "boolean", ".status.readyToUse"),
        ("SourcePVC", "string", ".spec.source.persistentVolumeClaimName"),
        ("SourceSnapshotContent", "string", ".spec.source.volumeSnapshotContentName"),
        ("RestoreSize", "string", ".status.restoreSize"),
        ("SnapshotClass", "string", ".spec.volumeSnapshotClassName"),
        ("SnapshotContent", "string", ".status.boundVolumeSnapshotContentName"),
        ("CreationTime", "date", ".status.creationTime"),
        _AGE,
    ),
    "VolumeSnapshotContent": (
        ("ReadyToUse", "boolean", ".status.readyToUse"),
        ("RestoreSize", "integer", ".status.restoreSize"),
        ("DeletionPolicy", "string", ".spec.deletionPolicy"),
        ("Driver", "string", ".spec.driver"),
        ("VolumeSnapshotClass", "string", ".spec.volumeSnapshotClassName"),
        ("VolumeSnapshot", "string", ".spec.volumeSnapshotRef.name"),
        ("VolumeSnapshotNamespace", "string", ".spec.volumeSnapshotRef.namespace"),
        _AGE,
    ),
    "VolumeSnapshotClass": (
        ("Driver", "string", ".driver"),
        ("DeletionPolicy", "string", ".deletionPolicy"),
        _AGE,
    ),
}


def first_objects() -> tuple[Object, ...]:
    """Everything that has to be there before the driver starts, in order."""
    return (
        _definition("VolumeSnapshot", "volumesnapshots", "vs", _SNAPSHOT, scope="Namespaced"),
        _definition("VolumeSnapshotContent", "volumesnapshotcontents", "vsc,vscs", _CONTENT),
        _definition(
            "VolumeSnapshotClass", "volumesnapshotclasses", "vsclass,vsclasses", _CLASS_FIELDS
        ),
        StorageClass(
            metadata=ObjectMeta(name=CLASS, annotations={DEFAULT_CLASS: "true"}),
            provisioner=DRIVER,
            reclaim_policy="Delete",
            volume_binding_mode="Immediate",
            allow_volume_expansion=True,
        ),
        VolumeSnapshotClass(
            metadata=ObjectMeta(name=CLASS, annotations={DEFAULT_SNAPSHOT_CLASS: "true"}),
            driver=DRIVER,
            deletion_policy="Delete",
        ),
    )


def _definition(
    kind: str, plural: str, short: str, fields: dict[str, Any], scope: str = "Cluster"
) -> CustomResourceDefinition:
    names = CustomResourceDefinitionNames(
        plural=plural, singular=kind.lower(), kind=kind, list_kind=f"{kind}List",
        short_names=tuple(short.split(",")),
    )  # fmt: skip
    return CustomResourceDefinition(
        metadata=ObjectMeta(name=f"{plural}.{GROUP}", annotations=_APPROVED),
        spec=CustomResourceDefinitionSpec(
            group=GROUP, names=names, scope=scope, versions=(_version(kind, fields),)
        ),
    )


def _version(kind: str, fields: dict[str, Any]) -> CustomResourceDefinitionVersion:
    columns = (
        {"name": name, "type": sort, "jsonPath": path} for name, sort, path in _COLUMNS[kind]
    )
    return CustomResourceDefinitionVersion(
        name="v1",
        served=True,
        storage=True,
        schema=Opaque.of({"openAPIV3Schema": _schema(fields)}),
        subresources=Opaque.of({"status": {}}) if "status" in fields else None,
        additional_printer_columns=tuple(map(Opaque.of, columns)),
    )


def _schema(fields: dict[str, Any]) -> dict[str, Any]:
    own = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object"}}
    required = [name for name in ("spec", "deletionPolicy", "driver") if name in fields]
    return {"type": "object", "required": required, "properties": own | fields}
