"""CosmosFullNodes to decide about, as a user would write them."""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.api.container import ResourceRequirements
from quintant.api.quantity import Quantity
from quintant.api.volume import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
)
from quintant.core import codec
from quintant.core.object import ObjectMeta, replace
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.instances import Instance, instances
from testbeds import cosmos

TOOLS_IMAGE = "tools:1"


def full_node(name: str = "hub", **given: Any) -> CosmosFullNode:
    """A CosmosFullNode that the server has stored."""
    status = given.pop("status", None)
    plain = cosmos.full_node(name, **given) | ({"status": status} if status else {})
    found = codec.decode(CosmosFullNode, msgspec.json.encode(plain))
    meta: ObjectMeta = replace(found.metadata, uid="u-1", generation=1)
    return replace(found, metadata=meta)


def instance(of: CosmosFullNode, at: int = 0) -> Instance:
    return instances(of)[at]


def bound_claim(capacity: str, name: str = "pvc-hub-0", request: str = "") -> PersistentVolumeClaim:
    """A claim that has its volume, and asked for all of it or for less."""
    requests = {"storage": Quantity(request or capacity)}
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=name),
        spec=PersistentVolumeClaimSpec(resources=ResourceRequirements(requests=requests)),
        status=PersistentVolumeClaimStatus(phase="Bound", capacity={"storage": Quantity(capacity)}),
    )
