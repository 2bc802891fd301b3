"""Whether the service that takes telemetry is wanted, and what is said of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quintant.api.apps import Deployment
from quintant.operators.shifu.api.names import MANAGED_BY, MANAGER
from quintant.operators.shifu.api.telemetry import TelemetryService

LOOK_SECONDS = 30.0
"""Between two looks at the Deployment, which we may get but not watch."""
SOON_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class TelemetryPlan:
    """What is to be done."""

    wanted: bool
    delete: bool = False
    phase: str = ""
    again: float | None = None


def plan(services: Sequence[TelemetryService], found: Deployment | None) -> TelemetryPlan:
    """What follows from all TelemetryServices, and the Deployment that there is."""
    if not services:
        ours = found is not None and found.metadata.labels.get(MANAGED_BY) == MANAGER
        return TelemetryPlan(False, delete=ours)
    if found is None:
        return TelemetryPlan(True, phase="Pending", again=SOON_SECONDS)
    up = found.status.available_replicas > 0
    return TelemetryPlan(
        True, phase="Running" if up else "Failed", again=LOOK_SECONDS if up else SOON_SECONDS
    )
