"""CustomResourceDefinition documents: their defaults, and the kinds they define.

Pure functions; quintant.cluster.definitions acts on them, quintant.cluster.crd_rules says what is
wrong with a document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from quintant.cluster.catalog import Kind, Plain
from quintant.cluster.conditions import Condition
from quintant.cluster.custom import CustomSchema
from quintant.cluster.priority import priority
from quintant.cluster.problems import internal
from quintant.cluster.shapes import DEDUCED, custom_shape
from quintant.runtime.resource import Resource, Scale

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that holds a deleted definition until its objects are gone."""
PENDING = Condition(
    "Terminating",
    True,
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)
PRESERVE_ALL: Mapping[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
"""The schema of a version that has none."""


def complete(crd: Plain) -> None:
    """Say what the server says about a new definition, in place."""
    crd["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    stored = [each["name"] for each in versions(crd) if each.get("storage")]
    crd["status"]["storedVersions"] = stored[:1] or None


def default(crd: Plain) -> None:
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


def revise(crd: Plain, live: Plain) -> None:
    """Remember the storage versions that a definition ever had, in place."""
    status = crd["status"]
    stored = status.get("storedVersions") or []
    new = [v["name"] for v in versions(crd) if v.get("storage") and v["name"] not in stored]
    if new:
        crd["status"] = {**status, "storedVersions": [*stored, new[0]]}


def dying(crd: Plain, now: str) -> None:
    """Hold a deleted definition until its objects are gone, and say so, in place."""
    metadata = crd["metadata"]
    if CLEANUP not in metadata.get("finalizers", ()):
        metadata["finalizers"] = [*metadata.get("finalizers", ()), CLEANUP]
    crd["status"] = PENDING.set(crd["status"], now)


def versions(crd: Plain) -> list[Plain]:
    """The versions of a definition."""
    found: list[Plain] = crd["spec"].get("versions") or []
    return found


def schema_of(version: Plain) -> Mapping[str, Any]:
    """The schema of a version."""
    return (version.get("schema") or {}).get("openAPIV3Schema") or PRESERVE_ALL


def kinds(crd: Plain, since: int) -> list[Kind]:
    """The kinds a definition serves; entries up to revision `since` may not fit its schema."""
    stored = next(each for each in versions(crd) if each.get("storage"))
    storage = _schema(stored)
    return [
        _kind(crd, each, storage, since if schema_of(each) == schema_of(stored) else None)
        for each in versions(crd)
        if each.get("served")
    ]


def storage_kind(crd: Plain) -> Kind:
    """The kind whose objects are those that are stored, served or not."""
    stored = next(each for each in versions(crd) if each.get("storage"))
    return _kind(crd, stored, _schema(stored), 0)


def facts(crd: Plain) -> dict[str, str]:
    """What objects can be selected by at any version, each with its value when absent."""
    return {path: "" for each in versions(crd) for path in _selectable(each)}


def _schema(version: Plain) -> CustomSchema:
    return CustomSchema(schema_of(version), _scale(version))


def _kind(crd: Plain, version: Plain, storage: CustomSchema, since: int | None) -> Kind:
    """A served version; without `since` it is not what objects are stored as."""
    spec = crd["spec"]
    names = {**spec["names"], **(crd["status"].get("acceptedNames") or {})}
    schema, own = schema_of(version), _schema(version)
    apart = since is None
    show, store = _conversion(crd, version, storage, own) if apart else (None, None)
    return Kind(
        Resource(
            spec["group"],
            version["name"],
            names["kind"],
            names["plural"],
            namespaced=spec["scope"] == "Namespaced",
            status="status" in (version.get("subresources") or {}),
        ),
        table=f"{names['plural']}.{spec['group']}",
        singular=names.get("singular", ""),
        short=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        custom=True,
        declared=version,
        generation=True,
        status_metadata=False,
        scale=_scale(version),
        selectable={path: path for path in _selectable(version)},
        facts=facts(crd),
        shape=DEDUCED if schema is PRESERVE_ALL else custom_shape(schema),
        judge=own.judge,
        prune=own.prune,
        default=own.default,
        shown=show,
        stored=store,
        since=since or 0,
        renew=own.renew,
        deprecation=_deprecation(spec, version),
    )


Convert = Callable[[Plain], Plain]


def _conversion(
    crd: Plain, version: Plain, storage: CustomSchema, own: CustomSchema
) -> tuple[Convert, Convert]:
    """From what is stored to what a version shows, and back.

    Nothing is converted but the version's name; what is stored has the storage version's defaults,
    what is shown has no more than the shown version knows.
    """

    def show(stored: Plain) -> Plain:
        storage.renew(stored)
        own.strip(stored)
        return stored

    def store(obj: Plain) -> Plain:
        stored: Plain = msgspec.json.decode(msgspec.json.encode(obj))
        storage.renew(stored)
        return stored

    if crd["spec"]["conversion"]["strategy"] == "None":
        return show, store
    refuse = _unconvertible(crd["spec"], version)
    return refuse, refuse


def _unconvertible(spec: Plain, version: Plain) -> Convert:
    """Conversion webhooks are not called here; the storage version works without them."""
    where = f"{spec['group']}/{version['name']}, Kind={spec['names']['kind']}"

    def refuse(obj: Plain) -> Plain:
        raise internal(f"conversion webhook for {where} failed: this server calls none")

    return refuse


def _deprecation(spec: Plain, version: Plain) -> str:
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    kind, group = spec["names"]["kind"], spec["group"]
    text = f"{group}/{version['name']} {kind} is deprecated"
    better = [
        each["name"]
        for each in spec["versions"]
        if each.get("served")
        and not each.get("deprecated")
        and priority(each["name"]) > priority(version["name"])
    ]
    return f"{text}; use {group}/{max(better, key=priority)} {kind}" if better else text


def _scale(version: Plain) -> Scale | None:
    paths = (version.get("subresources") or {}).get("scale")
    if paths is None:
        return None
    return Scale(
        paths["specReplicasPath"],
        paths["statusReplicasPath"],
        paths.get("labelSelectorPath", ""),
    )


def _selectable(version: Plain) -> list[str]:
    return [field["jsonPath"].lstrip(".") for field in version.get("selectableFields") or ()]
