"""What is known when devices are to move, all at once or one by one, and a move that was planned.

A view is read off the topology in one step; its devices are read as a plan comes to them, for there
may be ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from quintant.core.object import Request
from quintant.operators.shifu.observed.device_view import DeviceView
from quintant.operators.shifu.observed.placement import PlacementDecision
from quintant.operators.shifu.observed.views import ShifuDeployment


@dataclass(frozen=True, slots=True)
class LostNode:
    """A node that is lost, and since when it has not been ready."""

    since: float
    crashed: bool = False
    autonomy: float | None = None
    """What its devices wait before they leave, unless they say otherwise."""


@dataclass(frozen=True, slots=True)
class StrandedDevice:
    """A device whose deviceShifu we placed on a node that is lost."""

    key: Request
    device: DeviceView
    node: str
    avoided: frozenset[str] = frozenset()
    """Nodes that did not work out lately."""


@dataclass(frozen=True, slots=True)
class EvacuationView:
    """The nodes that are lost at a moment, and their devices."""

    now: float
    known: int
    """How many edge nodes there are,"""
    away: int
    """and how many of them are out of reach."""
    capacity: int
    """Another number if a node may have room that it had not before."""
    lost: Mapping[str, LostNode]
    devices: Iterable[StrandedDevice]


@dataclass(frozen=True, slots=True)
class HostedDevice:
    """A device whose deviceShifu runs where we placed it."""

    key: Request
    device: DeviceView
    node: str
    deployment: ShifuDeployment
    avoided: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReschedulingView:
    """The devices that run at a moment, and whether any is being evacuated."""

    now: datetime
    evacuating: bool
    devices: Iterable[HostedDevice]


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A deviceShifu that is to move."""

    key: Request
    node: str
    """Where it is now."""
    decision: PlacementDecision
