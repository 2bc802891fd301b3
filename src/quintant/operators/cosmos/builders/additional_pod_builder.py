"""Pods beside each instance that follow its version: metrics, archives, bridges. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.core.object import Opaque
from quintant.operators.cosmos.api import (
    BELONGS_TO_LABEL,
    CHECKSUM,
    INSTANCE_LABEL,
    NAME_LABEL,
)
from quintant.operators.cosmos.api.full_node import CosmosFullNode, TemplateMetadata
from quintant.operators.cosmos.api.views import PodObject
from quintant.operators.cosmos.builders.instances import (
    LABEL_LENGTH,
    Instance,
    app_name,
    labels,
    metadata,
    override_of,
    to_name,
    trim_middle,
)
from quintant.operators.cosmos.builders.pod_builder import apply_version
from quintant.operators.cosmos.builders.pod_security import restrict
from quintant.operators.cosmos.builders.versions import resolve_version

# What of an item is no field of the pod's spec.
_OWN = ("name", "metadata", "preferSameNode")
_FIRST_ORDINAL, _STRIDE = 1000, 100
_WEIGHT = 100

Plain = dict[str, Any]


def build_additional_pods(
    full_node: CosmosFullNode, instance: Instance, height: int
) -> tuple[PodObject, ...]:
    """The pods beside an instance whose node has this height."""
    built = (
        _pod(full_node, instance, at, item.value, height)
        for at, item in enumerate(full_node.spec.additional_versioned_pods)
    )
    return tuple(each for each in built if each is not None)


def _pod(
    full_node: CosmosFullNode, instance: Instance, at: int, item: Plain, height: int
) -> PodObject | None:
    name = to_name(f"{item['name']}-{instance.ordinal}")
    override = override_of(full_node, name)
    if override.disable is not None:
        return None
    spec = restrict({key: value for key, value in item.items() if key not in _OWN})
    if item.get("preferSameNode"):
        spec["affinity"] = _beside(instance, spec.get("affinity") or {})
    apply_version(spec, resolve_version(full_node.spec.chain.versions, height))
    if override.image:
        spec["containers"][0]["image"] = override.image
    if override.node_selector:
        spec["nodeSelector"] = dict(override.node_selector)
    marks = labels(full_node, instance=name) | {
        NAME_LABEL: f"{app_name(full_node)}-{item['name']}",
        BELONGS_TO_LABEL: instance.name,
    }
    ordinal = instance.ordinal * _STRIDE + at + _FIRST_ORDINAL
    template = msgspec.convert(item.get("metadata") or {}, TemplateMetadata)
    meta = metadata(full_node, name, marks, ordinal, template, {CHECKSUM: ""})
    return PodObject(metadata=meta, spec=Opaque.of(spec))


def _beside(instance: Instance, given: Plain) -> Plain:
    """A user's affinity, and a wish to be where the instance is."""
    wish = {
        "weight": _WEIGHT,
        "podAffinityTerm": {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {
                "matchLabels": {INSTANCE_LABEL: trim_middle(instance.name, LABEL_LENGTH)}
            },
        },
    }
    near = dict(given.get("podAffinity") or {})
    key = "preferredDuringSchedulingIgnoredDuringExecution"
    return {**given, "podAffinity": {**near, key: [*(near.get(key) or ()), wish]}}
