"""The status of a PortalExpose: phase and conditions from what was read and done. Pure.

Transition times move only when a condition flips, so that an unchanged world gives an equal status
and no write.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from quintant.api.apps import Deployment
from quintant.api.meta import Condition, condition_of, set_condition
from quintant.operators.portal import reports
from quintant.operators.portal.api import (
    Phase,
    PortalExposeStatus,
    RelayConnection,
    RelayStatus,
    TunnelPods,
)
from quintant.operators.portal.classes import missing
from quintant.operators.portal.phase import Sighting, step
from quintant.operators.portal.rules import is_address, public_url
from quintant.operators.portal.world import World
from quintant.runtime.clock import timestamp
from quintant.runtime.errors import QuintantError

OVERDUE = "ProgressDeadlineExceeded"
DEPLOYED = "Deployed"
"""True from the first Deployment on: whatever is created later is created again."""


class Outcome(Enum):
    """What became of the Deployment in this pass."""

    NONE = auto()  # nothing was tried: something it depends on is missing
    LEFT = auto()  # it is as desired
    CREATED = auto()
    UPDATED = auto()  # what we want has changed
    CORRECTED = auto()  # somebody else had changed it
    WAITING = auto()  # one of an earlier namesake is still going away
    CONFLICT = auto()  # it belongs to somebody else
    REFUSED = auto()  # the server would not have it


@dataclass(frozen=True, slots=True)
class Deed:
    """An outcome, and what was said about it."""

    outcome: Outcome = Outcome.NONE
    said: str = ""
    first: bool = True
    """With REFUSED: whether it was to be created."""
    error: QuintantError | None = None
    """With REFUSED: what the server answered; the next try is the queue's."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be said about one condition."""

    type: str
    status: str
    reason: str
    message: str


def judged(world: World, deed: Deed) -> PortalExposeStatus:
    """The status that follows from what was read and done."""
    before = world.expose.status or PortalExposeStatus()
    relays = _relays(world, before)
    phase = _phase(world, deed, before, relays)
    conditions: tuple[Condition, ...] = before.conditions
    for claim in _claims(world, deed, relays, phase):
        conditions = set_condition(
            conditions,
            claim.type,
            status=claim.status,
            reason=claim.reason,
            message=claim.message,
            generation=world.expose.metadata.generation,
            now=world.now,
        )
    spec = world.expose.spec
    return PortalExposeStatus(
        phase=phase,
        public_url=public_url(spec.app.name, spec.relay.targets[0]) if spec.relay.targets else "",
        tunnel_pods=TunnelPods(ready=world.ready, total=world.total),
        relay=RelayStatus(connected=relays),
        observed_generation=world.expose.metadata.generation,
        tunnel_class_name=world.tunnel_class.metadata.name if world.tunnel_class else "",
        conditions=conditions,
    )


def _relays(world: World, before: PortalExposeStatus) -> tuple[RelayConnection, ...]:
    targets = world.expose.spec.relay.targets
    if world.assume:
        return reports.assumed(targets, world.ready, before.relay, timestamp(world.now))
    return reports.connections(targets, world.tunnels, before.relay)


def _phase(
    world: World, deed: Deed, before: PortalExposeStatus, relays: tuple[RelayConnection, ...]
) -> Phase:
    blocked = deed.outcome in (Outcome.NONE, Outcome.CONFLICT)
    if deed.outcome is Outcome.REFUSED and not deed.first and before.phase:
        return before.phase
    available = condition_of(before.conditions, "Available")
    unblocked = available is not None and available.reason in _BLOCKING
    changed = before.observed_generation != world.expose.metadata.generation
    seen = Sighting(
        blocked=blocked,
        ready=world.ready,
        total=world.total,
        connected=sum(relay.status == "Connected" for relay in relays),
        relays=len(relays),
        overdue=_overdue(world.deployment) and deed.outcome is Outcome.LEFT,
        unheard=world.unheard,
        afresh=unblocked or changed,
        created=deed.outcome in (Outcome.CREATED, Outcome.REFUSED, Outcome.WAITING),
    )
    return step(before.phase, seen)


_BLOCKING = frozenset(
    {
        "ServiceNotFound",
        "TunnelClassNotFound",
        "NoDefaultTunnelClass",
        "InvalidSpec",
        "DeploymentConflict",
    }
)


def _claims(
    world: World, deed: Deed, relays: tuple[RelayConnection, ...], phase: Phase
) -> list[Claim]:
    found = [_service(world), *_port(world), _class(world), _deployment(world, deed)]
    found += [_connected(world, relays), _available(world, deed, found, phase, relays)]
    return [*found, _progressing(world, deed), *_deployed(world, deed)]


def _service(world: World) -> Claim:
    name = world.expose.spec.app.service.name
    if world.service is not None:
        return Claim("ServiceExists", "True", "ServiceFound", "Service exists")
    place = world.expose.metadata.namespace
    said = f"Service '{name}' not found in namespace '{place}'"
    return Claim("ServiceExists", "False", "ServiceNotFound", said)


def _port(world: World) -> list[Claim]:
    """Only once a port was seen to be missing is it worth saying that it is there."""
    port, service = world.expose.spec.app.service.port, world.service
    if service is None:
        return []
    numbers = [each.port for each in service.spec.ports]
    if numbers and port not in numbers and service.spec.type != "ExternalName":
        listed = ", ".join(map(str, numbers))
        said = f"Service '{service.metadata.name}' has no port {port}; it has {listed}"
        return [Claim("ServicePortExists", "False", "ServicePortNotFound", said)]
    before = world.expose.status.conditions if world.expose.status else ()
    if condition_of(before, "ServicePortExists") is None:
        return []
    return [Claim("ServicePortExists", "True", "ServicePortFound", f"Service has port {port}")]


def _class(world: World) -> Claim:
    if world.tunnel_class is not None:
        said = f"TunnelClass '{world.tunnel_class.metadata.name}' is in force"
        return Claim("TunnelClassExists", "True", "TunnelClassFound", said)
    return Claim("TunnelClassExists", "False", *missing(world.expose))


def _deployment(world: World, deed: Deed) -> Claim:
    type, counted = "TunnelDeploymentReady", f"{world.ready}/{world.total} tunnel pods ready"
    if deed.outcome is Outcome.CONFLICT:
        return Claim(type, "False", "DeploymentConflict", deed.said)
    if deed.outcome is Outcome.REFUSED:
        verb = "Create" if deed.first else "Update"
        return Claim(type, "False", f"Deployment{verb}Failed", deed.said)
    if deed.outcome is Outcome.WAITING:
        return Claim(type, "False", "DeploymentTerminating", deed.said)
    if world.total and world.ready >= world.total:
        return Claim(type, "True", "AllPodsReady", counted)
    if _overdue(world.deployment) and deed.outcome is Outcome.LEFT:
        return Claim(type, "False", OVERDUE, f"{counted}{_trouble(world)}")
    return Claim(type, "False", "PodsNotReady", f"{counted}{_trouble(world)}")


def _connected(world: World, relays: tuple[RelayConnection, ...]) -> Claim:
    type, up = "RelayConnected", sum(relay.status == "Connected" for relay in relays)
    if relays and up == len(relays):
        reason = "Assumed" if world.assume else "AllRelaysConnected"
        return Claim(type, "True", reason, f"Connected to {up}/{len(relays)} relays")
    if all(relay.status == "Unknown" for relay in relays):
        return Claim(type, "Unknown", "NotReported", "No tunnel has told of its relays yet")
    errors = "; ".join(f"{each.name}: {each.last_error}" for each in relays if each.last_error)
    said = f"Only {up}/{len(relays)} relays connected{f': {errors}' if errors else ''}"
    return Claim(type, "False", "PartialRelayConnection" if up else "NoRelayConnected", said)


def _available(
    world: World,
    deed: Deed,
    claims: list[Claim],
    phase: Phase,
    relays: tuple[RelayConnection, ...],
) -> Claim:
    if world.complaints:
        said = "; ".join(f"{cause.field}: {cause.message}" for cause in world.complaints)
        return Claim("Available", "False", "InvalidSpec", said)
    for claim in claims:
        if claim.status == "False" and claim.reason in _BLOCKING:
            return Claim("Available", "False", claim.reason, claim.message)
    if phase in ("Ready", "Degraded"):
        return Claim("Available", "True", "PortalExposeAvailable", _reachability(world))
    return Claim("Available", "False", "PortalExposeNotAvailable", f"The phase is {phase}")


def _reachability(world: World) -> str:
    for tunnel in world.tunnels:
        if tunnel.report is not None and not tunnel.report.service.reachable:
            return f"Tunnel up, but the Service fails: {reports.tidy(tunnel.report.service.error)}"
    targets = world.expose.spec.relay.targets
    if targets and is_address(targets[0].url):
        return "Available, without a public URL: no name can stand before the relay's IP address"
    return "Reachable under its public URL"


def _progressing(world: World, deed: Deed) -> Claim:
    type = "Progressing"
    match deed.outcome:
        case Outcome.CREATED:
            return Claim(type, "True", "DeploymentCreated", "Tunnel pods are being started")
        case Outcome.UPDATED | Outcome.CORRECTED:
            return Claim(type, "True", "DeploymentUpdating", "Rolling update in progress")
    found = world.deployment
    if found is not None and _overdue(found):
        return Claim(type, "False", OVERDUE, "The tunnel pods did not become ready in time")
    if found is not None and _rolling(found, world.total):
        return Claim(type, "True", "RollingUpdate", "Rolling update in progress")
    return Claim(type, "False", "DeploymentStable", "Nothing is being changed")


def _deployed(world: World, deed: Deed) -> list[Claim]:
    if world.deployment is None and deed.outcome is not Outcome.CREATED:
        return []
    return [Claim(DEPLOYED, "True", "DeploymentCreated", "The tunnel Deployment was created")]


def _rolling(deployment: Deployment, total: int) -> bool:
    status = deployment.status
    stale = status.observed_generation < deployment.metadata.generation
    return stale or status.updated_replicas < total or status.replicas > status.updated_replicas


def _overdue(deployment: Deployment | None) -> bool:
    if deployment is None:
        return False
    found = condition_of(deployment.status.conditions, "Progressing")
    return found is not None and found.reason == OVERDUE


def _trouble(world: World) -> str:
    """What the first pod that is not ready complains about."""
    for pod in world.living:
        for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
            if each.state.waiting and each.state.waiting.reason:
                return f": {each.state.waiting.reason} {each.state.waiting.message}".rstrip()
        for condition in pod.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                return f": {condition.reason} {condition.message}".rstrip()
    return ""
