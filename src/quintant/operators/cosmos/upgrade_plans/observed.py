"""What was learned of the upgrade that a chain has planned. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.cosmos.api.status import UpgradeInfo
from quintant.operators.cosmos.observed.full_node import Observed


@dataclass(frozen=True, slots=True)
class PlannedUpgrade:
    """A CosmosFullNode, and what one of its nodes answered."""

    observed: Observed
    answered: bool = False
    """Whether a node answered; what is known stays as it is if none did."""
    upgrade: UpgradeInfo | None = None
    """The upgrade that the chain has planned; None if there is none."""
