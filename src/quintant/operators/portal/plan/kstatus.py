"""Ready of a PortalExpose, and by which conditions it is reconciling or stalled. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.api.meta import ConditionClaim
from quintant.operators.portal.api import Phase
from quintant.runtime.reconcile.kstatus import READY, reconciling, stalled

OVERDUE = "ProgressDeadlineExceeded"
KSTATUS = (
    stalled(
        "Available",
        "False",
        "InvalidSpec",
        "InvalidTunnelClass",
        "RelayTokenNotShared",
        "DeploymentConflict",
    ),
    reconciling("Progressing", "True"),
    reconciling(
        "TunnelDeploymentReady",
        "False",
        "DeploymentCreateFailed",
        "DeploymentUpdateFailed",
        "DeploymentTerminating",
    ),
    stalled("NameAvailable", "False"),
    stalled("TunnelsAccepted", "False"),
    stalled("Progressing", "False", OVERDUE),
    reconciling(READY, "False", "Pending"),
)
"""What is only missing may come with the next manifest: that is waited for, and not stalled."""


def ready(claims: Sequence[ConditionClaim], phase: Phase) -> ConditionClaim:
    """The phase as a condition, with what is in the way; a refused update keeps the phase."""
    needed = ("Available", "TunnelDeploymentReady", "RelayConnected")
    lacking = [each for each in claims if each.type in needed and each.status != "True"]
    if not lacking and phase == "Ready":
        return ConditionClaim(READY, "True", phase, "Every tunnel and every relay is there")
    first = min(lacking, key=lambda each: needed.index(each.type), default=None)
    message = first.message if first is not None else f"The phase is {phase}"
    reason = first.reason if first is not None and phase == "Ready" else phase
    return ConditionClaim(READY, "False", reason, message)
