"""The events of a PortalExpose: one per transition, in the words of the contract. Pure.

Everything follows from the status before and after, so that a pass in which nothing changes says
nothing, and a restarted controller does not repeat an event.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.events import PlannedEvent
from quintant.api.meta import condition_of
from quintant.operators.portal.api import PortalExposeStatus
from quintant.operators.portal.observed import Observed, OperationResult, Outcome
from quintant.operators.portal.plan.conditions import DEPLOYED
from quintant.runtime.events.transitions import Transition, transition_events

CREATED = PlannedEvent("Normal", "Created", "PortalExpose created, deploying tunnel pods")
READY = PlannedEvent("Normal", "Ready", "All tunnel pods and relays are healthy")
FAILED = PlannedEvent("Warning", "Failed", "All tunnel pods or relays unavailable")
PENDING = PlannedEvent("Normal", "Pending", "Waiting for tunnel pods and relays")
UPDATED = PlannedEvent("Normal", "Updated", "Configuration updated, rolling update in progress")
DELETED = PlannedEvent("Normal", "Deleted", "PortalExpose deleted, tunnel pods cleaned up")
RECREATED = PlannedEvent(
    "Normal", "DeploymentRecreated", "Tunnel Deployment was gone and is made again"
)
CORRECTED = PlannedEvent(
    "Normal", "DriftCorrected", "Tunnel Deployment was changed and is restored"
)

# What is said when a condition takes on a reason; the condition's own message is the text.
REASONS = (
    Transition("Available", reason="InvalidSpec"),
    Transition("TunnelClassValid", reason="InvalidTunnelClass"),
    Transition("TunnelDeploymentReady", reason="DeploymentConflict"),
    Transition("TunnelDeploymentReady", reason="DeploymentCreateFailed"),
    Transition("TunnelDeploymentReady", reason="DeploymentUpdateFailed"),
    Transition("ServicePortExists", reason="ServicePortNotFound"),
    Transition("RelayTokenShared", reason="RelayTokenNotShared"),
    Transition("NameAvailable", reason="NameConflict"),
    Transition("TunnelsAccepted", reason="TooManyTunnels"),
)


def outcome_event(observed: Observed, outcome: Outcome) -> PlannedEvent | None:
    """What is said as soon as the Deployment was written, whatever becomes of the status."""
    if outcome.result is OperationResult.CREATED and _deployed(observed.expose.status):
        return RECREATED
    events = {OperationResult.UPDATED: UPDATED, OperationResult.CORRECTED: CORRECTED}
    return events.get(outcome.result)


def status_events(
    observed: Observed, outcome: Outcome, after: PortalExposeStatus
) -> Iterator[PlannedEvent]:
    """What is said once the new status was written."""
    before = observed.expose.status or PortalExposeStatus()
    made = outcome.result in (OperationResult.CREATED, OperationResult.UNCHANGED)
    if made and not _deployed(before):
        yield CREATED
    yield from transition_events(before.conditions, after.conditions, _table(observed))
    yield from _relays(before, after)
    if before.phase != after.phase or _still_degraded(before, after):
        yield from _phase(observed, outcome, before, after)


def _table(observed: Observed) -> tuple[Transition, ...]:
    note = f"Referenced Service '{observed.expose.spec.app.service.name}' not found"
    return (
        Transition("ServiceExists", status="False", event="ServiceNotFound", note=note),
        Transition("TunnelClassExists", status="False", event="TunnelClassNotFound"),
        *REASONS,
    )


def _phase(
    observed: Observed, outcome: Outcome, before: PortalExposeStatus, after: PortalExposeStatus
) -> Iterator[PlannedEvent]:
    match after.phase:
        case "Ready":
            yield READY
        case "Degraded" if not _starting(before, after):
            details = _details(after)
            yield PlannedEvent("Warning", "Degraded", f"Partial failure: {details}", details)
        case "Failed" if not observed.blocked and outcome.result is not OperationResult.CONFLICT:
            yield FAILED
        case "Pending" if before.phase is not None:
            yield PENDING


def _starting(before: PortalExposeStatus, after: PortalExposeStatus) -> bool:
    """Whether some of its first pods work and others are on their way: nothing failed."""
    return before.phase in (None, "Pending") and not _complete(after)


def _still_degraded(before: PortalExposeStatus, after: PortalExposeStatus) -> bool:
    """Whether all pods are there by now, and it was not they that something lacked."""
    return before.phase == after.phase == "Degraded" and _complete(after) and not _complete(before)


def _complete(status: PortalExposeStatus) -> bool:
    pods = status.tunnel_pods
    return pods is not None and (pods.ready or 0) >= (pods.total or 0)


def _details(status: PortalExposeStatus) -> str:
    pods, relays = status.tunnel_pods, status.relay.connected if status.relay else ()
    connected = sum(relay.status == "Connected" for relay in relays)
    ready, total = (pods.ready, pods.total) if pods else (0, 0)
    return f"{ready}/{total} pods ready, {connected}/{len(relays)} relays connected"


def _relays(before: PortalExposeStatus, after: PortalExposeStatus) -> Iterator[PlannedEvent]:
    """A relay that was lost or found again; its first connection is no news."""
    known = {each.name: each.status for each in before.relay.connected} if before.relay else {}
    for relay in after.relay.connected if after.relay else ():
        was = known.get(relay.name)
        if was == "Connected" and relay.status != "Connected":
            why = f": {relay.last_error}" if relay.last_error else ""
            message = f"Relay '{relay.name}' was lost{why}"
            yield PlannedEvent("Warning", "RelayDisconnected", message, f"Disconnect {relay.name}")
        if was == "Disconnected" and relay.status == "Connected" and before.phase != "Pending":
            message = f"Relay '{relay.name}' is connected"
            yield PlannedEvent("Normal", "RelayConnected", message, f"Connect {relay.name}")


def _deployed(status: PortalExposeStatus | None) -> bool:
    return status is not None and condition_of(status.conditions, DEPLOYED) is not None
