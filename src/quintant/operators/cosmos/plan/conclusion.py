"""What follows from a reconcile: the status, the events, and when to look again. Pure."""

from __future__ import annotations

from quintant.core.errors import QuintantError
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.observed.outcome import FullNodeOutcome
from quintant.operators.cosmos.plan.conditions import FAILING, NO_ADDRESS, OVERDUE, UNCOVERED
from quintant.operators.cosmos.plan.status import phase_of, status_change
from quintant.runtime.events.transitions import Transition, transition_events
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

# After a write; watches and the nodes' answers usually are faster.
SOON_SECONDS = 3.0
P2P_SECONDS = 30.0
SETTLED_SECONDS = 60.0
# While a node is at the height of a version, and not done with the one before.
UPGRADE_SECONDS = 5.0
# What only a person can mend is looked at again for what no watch reports.
HUMAN_SECONDS = 300.0
TRANSITIONS = (
    Transition("Degraded", status="True", reason="Error"),
    Transition("Degraded", status="True", reason="ErrorTransient"),
    Transition("Degraded", status="True", reason=FAILING),
    Transition("PeersReady", status="False", reason="P2PIncomplete", type="Normal"),
    Transition("PeersReady", status="False", reason=NO_ADDRESS),
    Transition("VolumesReady", status="False", reason="PVCPatchFailed"),
    Transition("SpecWarning", status="True", reason="SpecWarning"),
    Transition("Progressing", status="False", reason=OVERDUE),
    Transition("Upgrading", status="True", reason="Halted", type="Normal"),
    Transition(UNCOVERED, status="True", reason=UNCOVERED),
    Transition("Initialised", status="False", reason="InitContainerFailed"),
)
"""The event of a condition that takes on a reason."""


def conclude(observed: Observed, outcome: FullNodeOutcome) -> Conclusion[FullNodeStatus]:
    """What follows from what was read, and from what became of the children."""
    change = status_change(observed, outcome)
    after = change(observed.full_node.status)
    events = tuple(transition_events(observed.status.conditions, after.conditions, TRANSITIONS))
    return Conclusion(
        status=after,
        change=change,
        events=events,
        again=_again(observed, outcome),
        error=_error(observed, outcome),
    )


def _error(observed: Observed, outcome: FullNodeOutcome) -> QuintantError | None:
    """What the queue retries, ever more rarely; nothing where only a person can help."""
    if observed.errors or any(each.terminal for each in outcome.failures):
        return None
    return next((each.error for each in outcome.failures), None)


def _again(observed: Observed, outcome: FullNodeOutcome) -> Result:
    match phase_of(observed, outcome):
        case "Error":
            stands = any(node.uncovered for node in observed.nodes)
            return Result(after=SETTLED_SECONDS if stands else HUMAN_SECONDS)
        case "Progressing" | "TransientError":
            return Result(after=SOON_SECONDS)
        case "WaitingForP2PServices":
            return Result(after=P2P_SECONDS)
        case _:
            waiting = any(node.version_height != node.progress.height for node in observed.nodes)
            return Result(after=UPGRADE_SECONDS if waiting else SETTLED_SECONDS)
