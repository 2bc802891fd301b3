"""ValidatePersistentVolumeClaim, ValidatePersistentVolume, ValidateStorageClass: also updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, qualified_name_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum, validate_immutable
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.cluster.apiserver.validation.pods.scheduling import node_causes
from quintant.core.errors import Cause

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
# What a source needs.
_NEEDED = {"csi": ("driver", "volumeHandle"), "hostPath": ("path",), "local": ("path",)}
# What a volume says beside where its data is.
_ABOUT = {
    *("capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName"),
    *("mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName"),
}


def validate_claim(claim: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a PersistentVolumeClaim."""
    yield from claim_causes("spec", claim["spec"])
    if live is not None and _size(claim["spec"]) is not None:
        yield from _claim_change(claim, live)


def claim_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
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
        yield invalid(f"{path}.resources[storage]", size, "must be greater than zero")
    name = spec.get("storageClassName")
    if name:
        yield from invalid_each(f"{path}.storageClassName", name, dns1123_subdomain_errors(name))
    if "volumeMode" in spec:
        yield from validate_enum(f"{path}.volumeMode", spec["volumeMode"], _MODES)
    if name := spec.get("volumeAttributesClassName"):
        yield from invalid_each(
            f"{path}.volumeAttributesClassName", name, dns1123_subdomain_errors(name)
        )


def _size(spec: JsonObject) -> Any:
    return ((spec.get("resources") or {}).get("requests") or {}).get("storage")


def validate_volume(volume: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a PersistentVolume."""
    spec = volume["spec"]
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    yield from _access_causes("spec", spec)
    if not spec.get("capacity"):
        yield required("spec.capacity")
    if set(spec.get("capacity") or ()) != {"storage"}:
        yield not_supported("spec.capacity", spec.get("capacity"), ["storage"])
    yield from _capacity_causes(spec.get("capacity") or {})
    yield from _source_causes(spec)
    needed = (spec.get("nodeAffinity") or {}).get("required")
    if needed is not None:
        yield from node_causes("spec.nodeAffinity.required", needed)
    if name := spec.get("storageClassName"):
        yield from invalid_each("spec.storageClassName", name, dns1123_subdomain_errors(name))
    reclaim = spec["persistentVolumeReclaimPolicy"]
    yield from validate_enum("spec.persistentVolumeReclaimPolicy", reclaim, _RECLAIM)
    yield from validate_enum("spec.volumeMode", spec["volumeMode"], _MODES)
    if live is not None and _source(spec) != _source(live["spec"]):
        text = "spec.persistentvolumesource is immutable after creation"
        yield forbidden("spec.persistentvolumesource", text)


def validate_storage_class(kind: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a StorageClass."""
    maker = kind.get("provisioner") or ""
    if not maker:
        yield required("provisioner")
    else:
        yield from invalid_each("provisioner", maker.lower(), qualified_name_errors(maker.lower()))
    if any(not key for key in kind.get("parameters") or ()):
        yield invalid("parameters", "", "field can not be empty.")
    yield from validate_enum("reclaimPolicy", kind["reclaimPolicy"], ("Delete", "Retain"))
    yield from validate_enum("volumeBindingMode", kind["volumeBindingMode"], _BINDING)
    if live is not None:
        for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            yield from validate_immutable(name, kind.get(name), live.get(name))


def _access_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    modes = spec.get("accessModes") or ()
    for mode in modes:
        yield from validate_enum(f"{path}.accessModes", mode, _ACCESS)
    if _ALONE in modes and len(modes) > 1:
        text = f"may not use {_ALONE} with other access modes"
        yield forbidden(f"{path}.accessModes", text)


def _claim_change(claim: JsonObject, live: JsonObject) -> Iterator[Cause]:
    spec, before = claim["spec"], live["spec"]
    bound = live.get("status", {}).get("phase") == "Bound"
    if _claim_fixed(spec, before, bound) != _claim_fixed(before, before, bound):
        yield forbidden("spec", _CLAIM_FIXED)
        return
    sizes = [parse_quantity(each["resources"]["requests"]["storage"]) for each in (spec, before)]
    if bound and sizes[0] < sizes[1]:
        yield forbidden("spec.resources.requests.storage", _SHRUNK)


def _claim_fixed(spec: JsonObject, before: JsonObject, bound: bool) -> JsonObject:
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


def _capacity_causes(capacity: JsonObject) -> Iterator[Cause]:
    for name, amount in capacity.items():
        if parse_quantity(amount) <= 0:
            yield invalid(f"spec.capacity[{name}]", amount, "must be greater than zero")


def _source_causes(spec: JsonObject) -> Iterator[Cause]:
    sources = sorted(spec.keys() - _ABOUT)
    if not sources:
        yield required("spec", "must specify a volume type")
    for name in sources[1:]:
        yield forbidden(f"spec.{name}", "may not specify more than 1 volume type")
    for name in sources[:1]:
        for needed in _NEEDED.get(name, ()):
            if not spec[name].get(needed):
                yield required(f"spec.{name}.{needed}")
    for name in ("hostPath", "local"):
        path = (spec.get(name) or {}).get("path", "")
        if ".." in path.split("/"):
            yield invalid(f"spec.{name}.path", path, "must not contain '..'")
    if "local" in sources and not spec.get("nodeAffinity"):
        yield required("spec.nodeAffinity", "Local volume requires node affinity")


def _source(spec: JsonObject) -> JsonObject:
    return {name: value for name, value in spec.items() if name not in _ABOUT}
