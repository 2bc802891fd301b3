"""What follows from a pass: the status, the events, and when to look again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.events import PlannedEvent
from quintant.core.errors import QuintantError
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.plan.conditions import OVERDUE
from quintant.operators.cosmos.plan.outcome import FullNodeOutcome
from quintant.operators.cosmos.plan.status import StatusChange, phase_of, status_change
from quintant.runtime.controller.result import Result
from quintant.runtime.events.transitions import Transition, transition_events

# After a write; watches and the nodes' answers usually are faster.
SOON_SECONDS = 3.0
P2P_SECONDS = 30.0
SETTLED_SECONDS = 60.0
# While a node is at the height of a version, and not done with the one before.
UPGRADE_SECONDS = 5.0
# What only a person can mend is looked at again for what nobody tells us of.
HUMAN_SECONDS = 300.0
TOLD = (
    Transition("Degraded", status="True", reason="Error"),
    Transition("Degraded", status="True", reason="ErrorTransient"),
    Transition("PeersReady", status="False", reason="P2PIncomplete", type="Normal"),
    Transition("VolumesReady", status="False", reason="PVCPatchFailed"),
    Transition("SpecWarning", status="True", reason="SpecWarning"),
    Transition("Progressing", status="False", reason=OVERDUE),
    Transition("Upgrading", status="True", reason="Halted", type="Normal"),
    Transition("UpgradeMissing", status="True", reason="UpgradeMissing"),
    Transition("Initialised", status="False", reason="InitContainerFailed"),
)
"""What users are told when a condition takes on a reason."""


@dataclass(frozen=True, slots=True)
class FullNodeConclusion:
    """What is to be said, and when to look again."""

    change: StatusChange
    status: FullNodeStatus
    """What the change makes of the status that was read."""
    events: tuple[PlannedEvent, ...]
    """To be told once the status is written."""
    again: Result | None
    error: QuintantError | None = None
    """What the queue is to try again, ever more rarely."""


def conclude(observed: Observed, outcome: FullNodeOutcome) -> FullNodeConclusion:
    """What follows from what was read, and from what became of the children."""
    change = status_change(observed, outcome)
    after = change(observed.crd.status)
    events = tuple(transition_events(observed.status.conditions, after.conditions, TOLD))
    transient = [each.error for each in outcome.failures if not each.terminal]
    wrong = bool(observed.errors) or len(transient) < len(outcome.failures)
    return FullNodeConclusion(
        change,
        after,
        events,
        _again(observed, outcome),
        error=None if wrong else next(iter(transient), None),
    )


def _again(observed: Observed, outcome: FullNodeOutcome) -> Result:
    match phase_of(observed, outcome):
        case "Error":
            return Result(after=HUMAN_SECONDS)
        case "Progressing" | "TransientError":
            return Result(after=SOON_SECONDS)
        case "WaitingForP2PServices":
            return Result(after=P2P_SECONDS)
        case _:
            waiting = any(node.version_height != node.progress.height for node in observed.nodes)
            return Result(after=UPGRADE_SECONDS if waiting else SETTLED_SECONDS)
