"""CustomResourceDefinition: prepared, defaulted and validated, as a kind with a strategy.

Pure functions; quintant.cluster.apiserver.crd.kinds has the kinds that a document defines,
quintant.cluster.apiserver.reconcilers.crd_lifecycle acts on them,
quintant.cluster.apiserver.crd.validate says what is wrong with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.resource import Scale

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that holds a deleted definition until its objects are gone."""
PENDING = StatusCondition(
    "Terminating",
    True,
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)
PRESERVE_ALL: Mapping[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
"""The schema of a version that has none."""


def prepare_for_create(crd: JsonObject) -> None:
    """Say what the server says about a new definition, in place."""
    crd["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    stored = [each["name"] for each in versions(crd) if each.get("storage")]
    crd["status"]["storedVersions"] = stored[:1] or None


def default(crd: JsonObject) -> None:
    """Default a definition, in place."""
    spec = crd.setdefault("spec", {})
    names = spec.setdefault("names", {"plural": "", "kind": ""})
    kind = names.get("kind", "")
    if kind:
        names.setdefault("singular", kind.lower())
        names.setdefault("listKind", f"{kind}List")
    spec.setdefault("conversion", {"strategy": "None"})
    webhook = spec["conversion"].get("webhook") or {}
    service = (webhook.get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)


def prepare_for_update(crd: JsonObject, live: JsonObject) -> None:
    """Remember the storage versions that a definition ever had, in place."""
    status = crd["status"]
    stored = status.get("storedVersions") or []
    new = [v["name"] for v in versions(crd) if v.get("storage") and v["name"] not in stored]
    if new:
        crd["status"] = {**status, "storedVersions": [*stored, new[0]]}


def on_delete(crd: JsonObject, now: str) -> None:
    """Hold a deleted definition until its objects are gone, and say so, in place."""
    metadata = crd["metadata"]
    if CLEANUP not in metadata.get("finalizers", ()):
        metadata["finalizers"] = [*metadata.get("finalizers", ()), CLEANUP]
    crd["status"] = PENDING.set(crd["status"], now)


def versions(crd: JsonObject) -> list[JsonObject]:
    """The versions of a definition."""
    found: list[JsonObject] = crd["spec"].get("versions") or []
    return found


def schema_of(version: JsonObject) -> Mapping[str, Any]:
    """The schema of a version."""
    found: Mapping[str, Any] | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return PRESERVE_ALL if found is None else found


def storage_version(crd: JsonObject) -> JsonObject:
    """The version that objects are stored as."""
    return next(each for each in versions(crd) if each.get("storage"))


def scale_of(version: JsonObject) -> Scale | None:
    """Where a version's objects say how many they are, if they can be scaled."""
    paths = (version.get("subresources") or {}).get("scale")
    if paths is None:
        return None
    return Scale(
        paths["specReplicasPath"],
        paths["statusReplicasPath"],
        paths.get("labelSelectorPath", ""),
    )
