"""The EdgeNode of a Node that has none. Pure."""

from __future__ import annotations

from quintant.core.object import Object, ObjectMeta, OwnerReference
from quintant.operators.shifu.api.names import MIRRORED_LABEL, OURS
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec


def mirrored(node: Object) -> EdgeNode:
    """An EdgeNode that goes with its Node."""
    owner = OwnerReference(
        api_version="v1", kind="Node", name=node.metadata.name, uid=node.metadata.uid
    )
    meta = ObjectMeta(
        name=node.metadata.name,
        labels={**OURS, MIRRORED_LABEL: "true"},
        owner_references=(owner,),
    )
    return EdgeNode(metadata=meta, spec=EdgeNodeSpec())
