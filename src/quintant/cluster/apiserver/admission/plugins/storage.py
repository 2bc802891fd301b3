"""DefaultStorageClass, PersistentVolumeClaimResize, StorageObjectInUseProtection: for claims."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.status import forbidden
from quintant.cluster.apiserver.meta.types import JsonObject

CLASSES = "storageclasses.storage.k8s.io"
CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"
_DEFAULTS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_NAMED = "volume.beta.kubernetes.io/storage-class"
_RIGID = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
    "must support resize"
)


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    creation_timestamp: str = ""
    annotations: dict[str, str] = {}

    @property
    def default(self) -> bool:
        return any(self.annotations.get(name) == "true" for name in _DEFAULTS)


class _Class(msgspec.Struct, frozen=True, rename="camel"):
    metadata: _Metadata
    allow_volume_expansion: bool = False


def admit_storage_class(draft: Draft, context: AdmissionContext) -> None:
    """Give a new claim that names no class the default one, the newest if there are several."""
    claim = draft.obj
    if draft.live is not None or "storageClassName" in claim["spec"] or _annotated(claim):
        return
    known = [each.metadata for each in context.list_all(CLASSES, _Class) if each.metadata.default]
    # By age, and among equals by name: the sort is stable, and the first is the one.
    known.sort(key=lambda each: each.name)
    known.sort(key=lambda each: each.creation_timestamp, reverse=True)
    if known:
        claim["spec"]["storageClassName"] = known[0].name


def check_resize(draft: Draft, context: AdmissionContext) -> None:
    """Let a bound claim grow only if its class says that its volumes can."""
    if draft.live is None or _size(draft.obj) <= _size(draft.live):
        return
    if (draft.live.get("status") or {}).get("phase") != "Bound":
        return
    name = draft.obj["spec"].get("storageClassName") or ""
    kind = context.get(CLASSES, name, _Class)
    if kind is None or not kind.allow_volume_expansion:
        raise forbidden(draft.target.kind.resource, draft.target.name, _RIGID)


def add_claim_protection(draft: Draft, context: AdmissionContext) -> None:
    """Hold a claim while pods use it, in place."""
    _hold(draft, CLAIM_PROTECTION)


def add_volume_protection(draft: Draft, context: AdmissionContext) -> None:
    """Hold a volume while it is bound, in place."""
    _hold(draft, VOLUME_PROTECTION)


def _hold(draft: Draft, finalizer: str) -> None:
    metadata = draft.obj["metadata"]
    present = metadata.get("finalizers") or []
    if draft.live is None and finalizer not in present:
        metadata["finalizers"] = [*present, finalizer]


def _annotated(claim: JsonObject) -> bool:
    return _NAMED in (claim["metadata"].get("annotations") or {})


def _size(claim: JsonObject) -> Decimal:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return parse_quantity(requests.get("storage", "0"))
