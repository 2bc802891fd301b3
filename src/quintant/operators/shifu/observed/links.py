"""What joins nodes and devices on the edgeMap, and the Deployment that an intent is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from quintant.core.object import Request
from quintant.operators.shifu.builders.names import base_name, config_name
from quintant.operators.shifu.observed.placement import PlacementDecision
from quintant.operators.shifu.observed.views import ComposedObject, ShifuDeployment
from quintant.operators.shifu.rules.hints import Device

LinkKind = Literal["attached", "hosted", "adopted"]


class EdgeLink(NamedTuple):
    """The edge between a node and a device."""

    node: str
    type: str
    """How the device is connected."""
    kind: LinkKind
    since: str
    running: bool
    """Whether its deviceShifu is ready there."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A decision that is not written yet."""

    decision: PlacementDecision
    cause: str
    at: float


def is_composed(child: ComposedObject, key: Request) -> bool:
    """Whether an object has a name that we give: what has our labels beside it is a copy."""
    return child.metadata.name in (base_name(key), config_name(key))


def own_deployment(
    device: Device, deployments: Iterable[ShifuDeployment]
) -> ShifuDeployment | None:
    """The Deployment that was composed for this very device."""
    for each in deployments:
        mine = is_composed(each, device.key) and each.owner == device.metadata.uid
        if each.managed and mine and not each.deleting:
            return each
    return None


def user_deployment(deployments: Iterable[ShifuDeployment]) -> ShifuDeployment | None:
    """The Deployment that a user brought for a device."""
    return next((each for each in deployments if not each.managed and not each.deleting), None)
