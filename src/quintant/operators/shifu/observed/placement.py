"""What a device needs of a node, and what was decided about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintant.operators.shifu.builders.resources import memory_request
from quintant.operators.shifu.rules.geo import GeoPoint
from quintant.operators.shifu.rules.hints import Device, Hints


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """What a device needs of a node."""

    memory: int
    protocol: str = ""
    location: GeoPoint | None = None
    zone: str = ""
    region: str = ""
    selector: Mapping[str, str] = field(default_factory=dict)
    node: str = ""
    strict: bool = True
    avoided: frozenset[str] = frozenset()
    """Nodes that did not work out lately."""


def placement_request(
    device: Device, hints: Hints, avoided: frozenset[str] = frozenset()
) -> PlacementRequest:
    """What a device with these hints needs of a node; `avoided` are nodes that did not work out."""
    return PlacementRequest(
        memory_request(device, hints),
        protocol=device.spec.protocol,
        location=hints.location,
        zone=hints.zone,
        region=hints.region,
        selector=hints.selector,
        node=hints.node,
        strict=hints.strict,
        avoided=avoided,
    )


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """Where it goes, and why."""

    node: str
    kind: str
    """Pinned, Proximity or Memory."""
    reason: str
    distance: float | None = None
    """Meters between the device and the node, if the location of both is known."""


@dataclass(frozen=True, slots=True)
class NoPlacement:
    """That no node is feasible, and why."""

    reason: str
    message: str
