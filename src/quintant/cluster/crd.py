"""CustomResourceDefinition documents: their defaults, their validation, the kinds they define.

Pure functions; quintant.cluster.definitions acts on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from quintant.cluster.catalog import Kind, Plain
from quintant.cluster.causes import required, wrong
from quintant.cluster.conditions import Condition
from quintant.cluster.shapes import DEDUCED, custom_shape
from quintant.cluster.structural import default, pruner
from quintant.runtime.errors import Cause
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


def complete(crd: Plain) -> None:
    """Default a new definition, in place."""
    spec = crd.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind", "")
    names.setdefault("singular", kind.lower())
    names.setdefault("listKind", f"{kind}List")
    spec.setdefault("conversion", {"strategy": "None"})
    crd["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": [each["name"] for each in _versions(crd) if each.get("storage")],
    }


def complaints(crd: Plain) -> Iterator[Cause]:
    """What is wrong with a definition."""
    spec = crd["spec"]
    names, group = spec["names"], spec.get("group", "")
    for field in ("plural", "kind"):
        if not names.get(field):
            yield required(f"spec.names.{field}")
    if not group:
        yield required("spec.group")
    if spec.get("scope") not in ("Namespaced", "Cluster"):
        yield required("spec.scope")
    if crd["metadata"].get("name") != f"{names.get('plural')}.{group}":
        text = 'must be spec.names.plural+"."+spec.group'
        yield wrong("metadata.name", crd["metadata"].get("name"), text)
    if sum(1 for each in _versions(crd) if each.get("storage")) != 1:
        text = "must have exactly one version marked as storage version"
        yield wrong("spec.versions", [each.get("name") for each in _versions(crd)], text)


def dying(crd: Plain, now: str) -> None:
    """Hold a deleted definition until its objects are gone, and say so, in place."""
    metadata = crd["metadata"]
    if CLEANUP not in metadata.get("finalizers", ()):
        metadata["finalizers"] = [*metadata.get("finalizers", ()), CLEANUP]
    crd["status"] = PENDING.set(crd["status"], now)


def kinds(crd: Plain, since: int) -> list[Kind]:
    """The kinds a definition serves; entries up to revision `since` may not fit its schema."""
    return [_kind(crd["spec"], each, since) for each in _versions(crd) if each.get("served")]


def table(crd: Plain) -> str:
    """Where the objects of a definition are kept."""
    return f"{crd['spec']['names']['plural']}.{crd['spec']['group']}"


def _versions(crd: Plain) -> list[Plain]:
    versions: list[Plain] = crd["spec"].get("versions") or []
    return versions


def _kind(spec: Plain, version: Plain, since: int) -> Kind:
    names = spec["names"]
    subresources = version.get("subresources") or {}
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or PRESERVE_ALL
    return Kind(
        Resource(
            spec["group"],
            version["name"],
            names["kind"],
            names["plural"],
            namespaced=spec["scope"] == "Namespaced",
            status="status" in subresources,
        ),
        table=f"{names['plural']}.{spec['group']}",
        singular=names["singular"],
        short=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        custom=True,
        declared=version,
        generation=True,
        status_metadata=False,
        scale=_scale(subresources.get("scale")),
        selectable={path: path for path in _selectable(version)},
        facts=dict.fromkeys(_selectable(version), ""),
        shape=DEDUCED if schema is PRESERVE_ALL else custom_shape(schema),
        prune=pruner(schema),
        default=partial(default, schema=schema),
        since=since,
    )


def _scale(paths: Plain | None) -> Scale | None:
    if paths is None:
        return None
    return Scale(
        paths["specReplicasPath"],
        paths["statusReplicasPath"],
        paths.get("labelSelectorPath", ""),
    )


def _selectable(version: Plain) -> list[str]:
    return [field["jsonPath"].lstrip(".") for field in version.get("selectableFields") or ()]
