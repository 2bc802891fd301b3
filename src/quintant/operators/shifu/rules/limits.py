"""How long a node may be silent, and how often devices may move: NodePhase and its limits. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from quintant.operators.shifu.rules.amounts import MEBIBYTE


class NodePhase(Enum):
    """The state of a node; a node that is cordoned says so besides."""

    READY = "Ready"
    """It takes deviceShifus."""
    SUSPECT = "Suspect"
    """It is not ready, and may be soon: no deviceShifu comes or leaves."""
    LOST = "Lost"
    """It was not ready for long: its deviceShifus leave."""
    RECOVERING = "Recovering"
    """It is back, and is watched for a while before deviceShifus come."""


@dataclass(frozen=True, slots=True)
class PhaseTimes:
    """Seconds."""

    lost_after: float = 60.0
    stable_after: float = 120.0


@dataclass(frozen=True, slots=True)
class MoveLimits:
    """When a move is worth it, and how many there are."""

    budget: int = 20
    """Moves in a round."""
    margin: float = 0.25
    """Of what the old node has free."""
    margin_bytes: int = 512 * MEBIBYTE
    sigma: float = 2.0
    """Standard deviations by which both readings may be off."""
