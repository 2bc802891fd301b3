"""Volumes: what a pod mounts, and the claims and volumes behind it.

Re-exported by `api.core`. An empty object means something here (`emptyDir: {}`), so every source
is None when absent.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.api.container import ObjectFieldSelector, ResourceFieldSelector, ResourceRequirements
from quintant.api.meta import Condition, LabelSelector, ObjectReference
from quintant.api.quantity import Quantity
from quintant.core.object import Model, Object, ObjectMeta, Opaque
from quintant.core.resource import resource


class KeyToPath(Model):
    """Which key becomes which file."""

    key: str
    path: str
    mode: int | None = None


class ConfigMapVolumeSource(Model):
    """The keys of a ConfigMap as files."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    default_mode: int | None = None
    optional: bool | None = None


class SecretVolumeSource(Model):
    """The keys of a Secret as files."""

    secret_name: str = ""
    items: tuple[KeyToPath, ...] = ()
    default_mode: int | None = None
    optional: bool | None = None


class EmptyDirVolumeSource(Model):
    """A directory that lives as long as the pod."""

    medium: str = ""
    size_limit: Quantity | None = None


class HostPathVolumeSource(Model):
    """A path of the node."""

    path: str
    type: str | None = None


class PersistentVolumeClaimVolumeSource(Model):
    """A PersistentVolumeClaim of the pod's namespace."""

    claim_name: str
    read_only: bool = False


class DownwardAPIVolumeFile(Model):
    """A file with a field of the pod, or a container's resource."""

    path: str
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    mode: int | None = None


class DownwardAPIVolumeSource(Model):
    """Fields of the pod as files."""

    items: tuple[DownwardAPIVolumeFile, ...] = ()
    default_mode: int | None = None


class Volume(Model):
    """A named volume of a pod; one source is set, and sources we never read stay opaque."""

    name: str
    config_map: ConfigMapVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = msgspec.field(default=None, name="downwardAPI")
    projected: Opaque | None = None
    csi: Opaque | None = None
    ephemeral: Opaque | None = None
    nfs: Opaque | None = None


class TypedLocalObjectReference(Model):
    """What a new volume is filled from: a VolumeSnapshot or another claim."""

    kind: str
    """The kind of the source, such as VolumeSnapshot."""
    name: str
    """The name of the source."""
    api_group: str | None = None
    """The API group of the source; empty for a claim."""


class TypedObjectReference(TypedLocalObjectReference):
    """What a new volume is filled from, perhaps from another namespace."""

    namespace: str | None = None


class PersistentVolumeClaimSpec(Model):
    """What storage is asked for; `storage_class_name` "" asks for none, None for the default."""

    access_modes: tuple[str, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""
    selector: LabelSelector | None = None
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None


class PersistentVolumeClaimStatus(Model):
    """What storage was given."""

    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: Mapping[str, Quantity] = {}
    conditions: tuple[Condition, ...] = ()
    allocated_resources: Mapping[str, Quantity] = {}
    allocated_resource_statuses: Mapping[str, str] = {}


@resource(group="", version="v1", status=True)
class PersistentVolumeClaim(Object):
    """A request for storage."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class PersistentVolumeClaimTemplate(Model):
    """A claim to be made, such as those of a StatefulSet."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class CSIPersistentVolumeSource(Model):
    """A volume of a storage driver, as far as it is identified."""

    driver: str
    volume_handle: str


class LocalVolumeSource(Model):
    """A path of one node, as a volume."""

    path: str


class PersistentVolumeSpec(Model):
    """A piece of storage and the claim it is bound to."""

    capacity: Mapping[str, Quantity] = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: str = ""
    storage_class_name: str = ""
    volume_mode: str | None = None
    host_path: HostPathVolumeSource | None = None
    local: LocalVolumeSource | None = None
    csi: CSIPersistentVolumeSource | None = None


class PersistentVolumeStatus(Model):
    """Whether a piece of storage is bound."""

    phase: str = ""
    message: str = ""
    reason: str = ""
    last_phase_transition_time: str | None = None


@resource(group="", version="v1", namespaced=False, status=True)
class PersistentVolume(Object):
    """A piece of storage."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()
