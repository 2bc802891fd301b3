"""What users are told: an event per transition, in the words of the contract. Pure.

Everything follows from the status before and after, so that a pass in which nothing changes says
nothing, and a restarted controller does not repeat what was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from quintant.api.events import EventType
from quintant.api.meta import Condition, condition_of
from quintant.operators.portal.api import PortalExposeStatus
from quintant.operators.portal.classes import missing
from quintant.operators.portal.conditions import DEPLOYED
from quintant.operators.portal.deed import Deed, Outcome
from quintant.operators.portal.world import World


class Notice(NamedTuple):
    """One event."""

    type: EventType
    reason: str
    note: str
    action: str = ""
    """Tells it apart from others of its reason, which would only be counted otherwise."""


CREATED = Notice("Normal", "Created", "PortalExpose created, deploying tunnel pods")
READY = Notice("Normal", "Ready", "All tunnel pods and relays are healthy")
FAILED = Notice("Warning", "Failed", "All tunnel pods or relays unavailable")
PENDING = Notice("Normal", "Pending", "Waiting for tunnel pods and relays")
UPDATED = Notice("Normal", "Updated", "Configuration updated, rolling update in progress")
DELETED = Notice("Normal", "Deleted", "PortalExpose deleted, tunnel pods cleaned up")
RECREATED = Notice("Normal", "DeploymentRecreated", "Tunnel Deployment was gone and is made again")
CORRECTED = Notice("Normal", "DriftCorrected", "Tunnel Deployment was changed and is restored")

# What is said when a condition takes on a reason; the condition's own message is the text.
_REASONS = (
    ("Available", "InvalidSpec"),
    ("TunnelDeploymentReady", "DeploymentConflict"),
    ("TunnelDeploymentReady", "DeploymentCreateFailed"),
    ("TunnelDeploymentReady", "DeploymentUpdateFailed"),
    ("ServicePortExists", "ServicePortNotFound"),
    ("NameAvailable", "NameConflict"),
)


def of_deed(world: World, deed: Deed) -> Notice | None:
    """What is said as soon as the Deployment was written, whatever becomes of the status."""
    if deed.outcome is Outcome.CREATED and _deployed(world.expose.status):
        return RECREATED
    return {Outcome.UPDATED: UPDATED, Outcome.CORRECTED: CORRECTED}.get(deed.outcome)


def of_status(world: World, deed: Deed, after: PortalExposeStatus) -> Iterator[Notice]:
    """What is said once the new status was written."""
    before = world.expose.status or PortalExposeStatus()
    if deed.outcome in (Outcome.CREATED, Outcome.LEFT) and not _deployed(before):
        yield CREATED
    yield from _missing(world, before, after)
    yield from _reasons(before, after)
    yield from _relays(before, after)
    if before.phase != after.phase:
        yield from _phase(world, deed, before, after)


def _phase(
    world: World, deed: Deed, before: PortalExposeStatus, after: PortalExposeStatus
) -> Iterator[Notice]:
    match after.phase:
        case "Ready":
            yield READY
        case "Degraded":
            details = _details(after)
            yield Notice("Warning", "Degraded", f"Partial failure: {details}", details)
        case "Failed" if not world.blocked and deed.outcome is not Outcome.CONFLICT:
            yield FAILED
        case "Pending" if before.phase is not None:
            yield PENDING


def _details(status: PortalExposeStatus) -> str:
    pods, relays = status.tunnel_pods, status.relay.connected if status.relay else ()
    connected = sum(relay.status == "Connected" for relay in relays)
    ready, total = (pods.ready, pods.total) if pods else (0, 0)
    return f"{ready}/{total} pods ready, {connected}/{len(relays)} relays connected"


def _missing(
    world: World, before: PortalExposeStatus, after: PortalExposeStatus
) -> Iterator[Notice]:
    if _became_false("ServiceExists", before, after):
        name = world.expose.spec.app.service.name
        yield Notice("Warning", "ServiceNotFound", f"Referenced Service '{name}' not found")
    if _became_false("TunnelClassExists", before, after):
        yield Notice("Warning", "TunnelClassNotFound", missing(world.expose)[1])


def _reasons(before: PortalExposeStatus, after: PortalExposeStatus) -> Iterator[Notice]:
    for type, reason in _REASONS:
        now = _condition(type, after)
        if now is not None and now.reason == reason and _reason(type, before) != reason:
            yield Notice("Warning", reason, now.message)


def _relays(before: PortalExposeStatus, after: PortalExposeStatus) -> Iterator[Notice]:
    """A relay that was lost or found again; its first connection is no news."""
    known = {each.name: each.status for each in before.relay.connected} if before.relay else {}
    for relay in after.relay.connected if after.relay else ():
        was = known.get(relay.name)
        if was == "Connected" and relay.status != "Connected":
            why = f": {relay.last_error}" if relay.last_error else ""
            said = f"Relay '{relay.name}' was lost{why}"
            yield Notice("Warning", "RelayDisconnected", said, f"Disconnect {relay.name}")
        if was == "Disconnected" and relay.status == "Connected" and before.phase != "Pending":
            said = f"Relay '{relay.name}' is connected"
            yield Notice("Normal", "RelayConnected", said, f"Connect {relay.name}")


def _became_false(type: str, before: PortalExposeStatus, after: PortalExposeStatus) -> bool:
    was, now = _condition(type, before), _condition(type, after)
    return now is not None and now.status == "False" and (was is None or was.status != "False")


def _deployed(status: PortalExposeStatus | None) -> bool:
    return status is not None and _condition(DEPLOYED, status) is not None


def _reason(type: str, status: PortalExposeStatus) -> str:
    found = _condition(type, status)
    return found.reason if found is not None else ""


def _condition(type: str, status: PortalExposeStatus) -> Condition | None:
    return condition_of(status.conditions, type)
