"""What is wrong with claims, volumes and storage classes, and what of them may change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.causes import forbidden_field, misnamed, required, unsupported, wrong
from quintant.cluster.checks.fields import chosen, fixed
from quintant.cluster.checks.selecting import selector_causes
from quintant.cluster.names import subdomain_complaints
from quintant.runtime.errors import Cause

Plain = dict[str, Any]

_ACCESS = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ALONE = "ReadWriteOncePod"
_MODES = ("Block", "Filesystem")
_RECLAIM = ("Delete", "Recycle", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_CLAIM_FIXED = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName "
    "for bound claims"
)
_SHRUNK = "field can not be less than status.capacity"
# What a volume says beside where its data is.
_ABOUT = {
    *("capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName"),
    *("mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName"),
}


def claim_complaints(claim: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a PersistentVolumeClaim."""
    yield from claim_causes("spec", claim["spec"])
    if live is not None and _size(claim["spec"]) is not None:
        yield from _claim_change(claim, live)


def claim_causes(path: str, spec: Plain) -> Iterator[Cause]:
    """What is wrong with what is claimed, by itself or in the template of claims."""
    if not spec.get("accessModes"):
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    if spec.get("selector") is not None:
        yield from selector_causes(f"{path}.selector", spec["selector"])
    yield from _access_causes(path, spec)
    size = _size(spec)
    if size is None:
        yield required(f"{path}.resources[storage]")
    elif parse_quantity(size) <= 0:
        yield wrong(f"{path}.resources[storage]", size, "must be greater than zero")
    name = spec.get("storageClassName")
    if name:
        yield from misnamed(f"{path}.storageClassName", name, subdomain_complaints(name))
    if "volumeMode" in spec:
        yield from chosen(f"{path}.volumeMode", spec["volumeMode"], _MODES)
    if name := spec.get("volumeAttributesClassName"):
        yield from misnamed(f"{path}.volumeAttributesClassName", name, subdomain_complaints(name))


def _size(spec: Plain) -> Any:
    return ((spec.get("resources") or {}).get("requests") or {}).get("storage")


def volume_complaints(volume: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a PersistentVolume."""
    spec = volume["spec"]
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    yield from _access_causes("spec", spec)
    if not spec.get("capacity"):
        yield required("spec.capacity")
    if "storage" not in (spec.get("capacity") or {}):
        yield unsupported("spec.capacity", spec.get("capacity"), ["storage"])
    if not spec.keys() - _ABOUT:
        yield required("spec", "must specify a volume type")
    reclaim = spec["persistentVolumeReclaimPolicy"]
    yield from chosen("spec.persistentVolumeReclaimPolicy", reclaim, _RECLAIM)
    yield from chosen("spec.volumeMode", spec["volumeMode"], _MODES)
    if live is not None and _source(spec) != _source(live["spec"]):
        text = "spec.persistentvolumesource is immutable after creation"
        yield forbidden_field("spec.persistentvolumesource", text)


def class_complaints(kind: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a StorageClass."""
    if not kind.get("provisioner"):
        yield required("provisioner")
    yield from chosen("reclaimPolicy", kind["reclaimPolicy"], ("Delete", "Retain"))
    yield from chosen("volumeBindingMode", kind["volumeBindingMode"], _BINDING)
    if live is not None:
        for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            yield from fixed(name, kind.get(name), live.get(name))


def _access_causes(path: str, spec: Plain) -> Iterator[Cause]:
    modes = spec.get("accessModes") or ()
    for mode in modes:
        yield from chosen(f"{path}.accessModes", mode, _ACCESS)
    if _ALONE in modes and len(modes) > 1:
        text = f"may not use {_ALONE} with other access modes"
        yield forbidden_field(f"{path}.accessModes", text)


def _claim_change(claim: Plain, live: Plain) -> Iterator[Cause]:
    spec, before = claim["spec"], live["spec"]
    bound = live.get("status", {}).get("phase") == "Bound"
    if _claim_fixed(spec, before, bound) != _claim_fixed(before, before, bound):
        yield forbidden_field("spec", _CLAIM_FIXED)
        return
    sizes = [parse_quantity(each["resources"]["requests"]["storage"]) for each in (spec, before)]
    if bound and sizes[0] < sizes[1]:
        yield forbidden_field("spec.resources.requests.storage", _SHRUNK)


def _claim_fixed(spec: Plain, before: Plain, bound: bool) -> Plain:
    """What of a claim stays: its volume and class once they are known, its size until bound."""
    kept = {**spec}
    if not before.get("volumeName"):
        kept.pop("volumeName", None)
    if "storageClassName" not in before:
        kept.pop("storageClassName", None)
    if bound:
        kept.pop("volumeAttributesClassName", None)
        kept["resources"] = {**spec["resources"], "requests": None}
    return kept


def _source(spec: Plain) -> Plain:
    return {name: value for name, value in spec.items() if name not in _ABOUT}
