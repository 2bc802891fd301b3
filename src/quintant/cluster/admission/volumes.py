"""Claims get the default storage class; claims and volumes are held while they are in use."""

from __future__ import annotations

import msgspec

from quintant.cluster.admission.surroundings import Surroundings
from quintant.cluster.catalog import Plain
from quintant.cluster.drafts import Draft

CLASSES = "storageclasses.storage.k8s.io"
CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"
_DEFAULTS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_NAMED = "volume.beta.kubernetes.io/storage-class"


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    creation_timestamp: str = ""
    annotations: dict[str, str] = {}

    @property
    def default(self) -> bool:
        return any(self.annotations.get(name) == "true" for name in _DEFAULTS)


class _Class(msgspec.Struct, frozen=True):
    metadata: _Metadata


def admit_storage_class(draft: Draft, around: Surroundings) -> None:
    """Give a new claim that names no class the default one, the newest if there are several."""
    claim = draft.obj
    if draft.live is not None or "storageClassName" in claim["spec"] or _annotated(claim):
        return
    known = [each.metadata for each in around.all(CLASSES, _Class) if each.metadata.default]
    # By age, and among equals by name: the sort is stable, and the first is the one.
    known.sort(key=lambda each: each.name)
    known.sort(key=lambda each: each.creation_timestamp, reverse=True)
    if known:
        claim["spec"]["storageClassName"] = known[0].name


def protect_claim(draft: Draft, around: Surroundings) -> None:
    """Hold a claim while pods use it, in place."""
    _hold(draft, CLAIM_PROTECTION)


def protect_volume(draft: Draft, around: Surroundings) -> None:
    """Hold a volume while it is bound, in place."""
    _hold(draft, VOLUME_PROTECTION)


def _hold(draft: Draft, finalizer: str) -> None:
    metadata = draft.obj["metadata"]
    present = metadata.get("finalizers") or []
    if draft.live is None and finalizer not in present:
        metadata["finalizers"] = [*present, finalizer]


def _annotated(claim: Plain) -> bool:
    return _NAMED in (claim["metadata"].get("annotations") or {})
