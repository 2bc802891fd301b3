"""DefaultIngressClass: a new Ingress that names no class gets the default one."""

from __future__ import annotations

import msgspec

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.kinds.draft import Draft

CLASSES = "ingressclasses.networking.k8s.io"
DEFAULT = "ingressclass.kubernetes.io/is-default-class"
LEGACY = "kubernetes.io/ingress.class"
"""The annotation that was there before classes."""


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    creation_timestamp: str = ""
    annotations: dict[str, str] = {}


class _Class(msgspec.Struct, frozen=True):
    metadata: _Metadata


def admit_ingress_class(draft: Draft, context: AdmissionContext) -> None:
    """Give a new Ingress the default class, the newest if there are several, in place."""
    ingress, spec = draft.obj, draft.obj.setdefault("spec", {})
    if draft.live is not None or spec.get("ingressClassName") is not None:
        return
    if LEGACY in (ingress["metadata"].get("annotations") or {}):
        return
    known = [
        each.metadata
        for each in context.list_all(CLASSES, _Class)
        if each.metadata.annotations.get(DEFAULT) == "true"
    ]
    # By age, and among equals by name: the sort is stable, and the first is the one.
    known.sort(key=lambda each: each.name)
    known.sort(key=lambda each: each.creation_timestamp, reverse=True)
    if known:
        spec["ingressClassName"] = known[0].name
