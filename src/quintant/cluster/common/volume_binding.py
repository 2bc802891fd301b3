"""FindMatchingVolume: claims and volumes: which match, and what each says when bound. Pure.

A volume is bound when its `claimRef` has the claim's uid and the claim names the volume. Who takes
the first step depends on who was there first: users may name either in the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

from quintant.api.core import (
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
)
from quintant.api.quantity import parse_quantity
from quintant.api.storage import StorageClass
from quintant.core.object import replace

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
WAITS = "WaitForFirstConsumer"
FILESYSTEM = "Filesystem"
STORAGE = "storage"
BOUND = "Bound"
_YES = "yes"

Bound = TypeVar("Bound", PersistentVolume, PersistentVolumeClaim)


def bind_completed(claim: PersistentVolumeClaim) -> bool:
    """Whether a claim was bound once."""
    return BIND_COMPLETED in claim.metadata.annotations


def class_name(claim: PersistentVolumeClaim) -> str:
    """The storage class a claim asks for; empty if it asks for none."""
    return claim.spec.storage_class_name or ""


def waits_for_consumer(kind: StorageClass | None) -> bool:
    """Whether claims of a class get a volume when a pod uses them, by the scheduler's choice."""
    return kind is not None and kind.volume_binding_mode == WAITS


def binding_delayed(claim: PersistentVolumeClaim, kind: StorageClass | None) -> bool:
    """Whether a claim has to wait until a node was chosen for a pod that uses it."""
    return waits_for_consumer(kind) and SELECTED_NODE not in claim.metadata.annotations


def refers_to_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is meant for this very claim, by its author or by us."""
    ref = volume.spec.claim_ref
    if ref is None or (ref.name, ref.namespace) != claim.key:
        return False
    return ref.uid in ("", claim.metadata.uid)


def find_volume(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, reserved: bool = False
) -> PersistentVolume | None:
    """The volume to bind a claim to: one that is meant for it, else the smallest that fits.

    With `reserved`, only one that is meant for it will do.
    """
    # Most volumes are somebody else's: only what can be had is held to what is asked for.
    fitting = [each for each in volumes if _obtainable(claim, each) and not mismatch(claim, each)]
    meant = [each for each in fitting if each.spec.claim_ref is not None]
    free = [each for each in fitting if each.spec.claim_ref is None and _chosen(claim, each)]
    return min(meant or ([] if reserved else free), key=_order, default=None)


def mismatch(claim: PersistentVolumeClaim, volume: PersistentVolume) -> str:
    """Why a volume is not what a claim asks for; empty if it is."""
    spec, claim_spec = volume.spec, claim.spec
    if (spec.volume_mode or FILESYSTEM) != (claim_spec.volume_mode or FILESYSTEM):
        return "incompatible volumeMode"
    if parse_quantity(spec.capacity.get(STORAGE, "0")) < requested_storage(claim):
        return "requested PV is too small"
    if spec.storage_class_name != class_name(claim):
        return "storageClassName does not match"
    return (
        "" if set(claim_spec.access_modes) <= set(spec.access_modes) else "incompatible accessMode"
    )


def requested_storage(claim: PersistentVolumeClaim) -> Decimal:
    """How much storage a claim asks for."""
    return parse_quantity(claim.spec.resources.requests.get(STORAGE, "0"))


def claim_reference(claim: PersistentVolumeClaim) -> ObjectReference:
    """How a volume names the claim it belongs to."""
    meta = claim.metadata
    return ObjectReference(
        api_version="v1", kind="PersistentVolumeClaim", namespace=meta.namespace,
        name=meta.name, uid=meta.uid, resource_version=meta.resource_version,
    )  # fmt: skip


def bound_volume(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume as it is once it belongs to a claim."""
    held = volume.spec.claim_ref
    if held is not None and held.uid == claim.metadata.uid:
        return volume
    made = replace(volume, spec=replace(volume.spec, claim_ref=claim_reference(claim)))
    return made if held is not None else _annotated(made, BOUND_BY_CONTROLLER)


def unbound_volume(volume: PersistentVolume) -> PersistentVolume:
    """The volume as it was before somebody bound it to a claim that is bound elsewhere."""
    held = volume.spec.claim_ref
    if held is None or BOUND_BY_CONTROLLER not in volume.metadata.annotations:
        kept = replace(held, uid="", resource_version="") if held is not None else None
        return replace(volume, spec=replace(volume.spec, claim_ref=kept))
    left = {
        key: value
        for key, value in volume.metadata.annotations.items()
        if key != BOUND_BY_CONTROLLER
    }
    freed = replace(volume, spec=replace(volume.spec, claim_ref=None))
    return replace(freed, metadata=replace(volume.metadata, annotations=left))


def bound_claim(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolumeClaim:
    """The claim as it is once it has a volume."""
    made = claim
    if not claim.spec.volume_name:
        spec = replace(claim.spec, volume_name=volume.metadata.name)
        made = _annotated(replace(claim, spec=spec), BOUND_BY_CONTROLLER)
    return _annotated(made, BIND_COMPLETED)


def bound_status(
    claim: PersistentVolumeClaim, volume: PersistentVolume
) -> PersistentVolumeClaimStatus:
    """What a claim with a volume tells; its capacity stays as it was told first."""
    status = replace(claim.status, phase=BOUND, access_modes=volume.spec.access_modes)
    if claim.status.phase == BOUND and claim.status.capacity:
        return status
    return replace(status, capacity=volume.spec.capacity)


def _annotated(obj: Bound, key: str) -> Bound:
    annotations = {**obj.metadata.annotations, key: _YES}
    return replace(obj, metadata=replace(obj.metadata, annotations=annotations))


def _obtainable(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether nobody else has a volume, and it stays."""
    unclaimed = volume.spec.claim_ref is None
    return (unclaimed or refers_to_claim(volume, claim)) and not volume.deleting


def _chosen(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    selector = claim.spec.selector
    return selector is None or selector.matches(volume.metadata.labels)


def _order(volume: PersistentVolume) -> tuple[Decimal, str]:
    return parse_quantity(volume.spec.capacity.get(STORAGE, "0")), volume.metadata.name


PROVISIONER = "volume.kubernetes.io/storage-provisioner"


DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


AVAILABLE, RELEASED, FAILED = "Available", "Released", "Failed"


DELETE = "Delete"
