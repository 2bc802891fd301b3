"""The conditions of a PortalExpose: what is claimed of the world, one claim for each. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.apps import Deployment
from quintant.api.meta import Condition, condition_of
from quintant.operators.portal import reports
from quintant.operators.portal.api import Phase, RelayConnection
from quintant.operators.portal.classes import missing
from quintant.operators.portal.deed import Deed, Outcome
from quintant.operators.portal.rules import is_address
from quintant.operators.portal.world import World

OVERDUE = "ProgressDeadlineExceeded"
DEPLOYED = "Deployed"
"""True from the first Deployment on: whatever is created later is created again."""
BLOCKING = frozenset(
    {
        "ServiceNotFound",
        "TunnelClassNotFound",
        "NoDefaultTunnelClass",
        "InvalidSpec",
        "DeploymentConflict",
    }
)
"""The reasons for which there can be no tunnels."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be said about one condition."""

    type: str
    status: str
    reason: str
    message: str


def claims(
    world: World, deed: Deed, relays: tuple[RelayConnection, ...], phase: Phase
) -> list[Claim]:
    """Everything that is to be said, in this order."""
    found = [_service(world), *_port(world), _class(world), _deployment(world, deed)]
    found += [_connected(world, relays), *_name(world)]
    found += [_available(world, deed, found, phase)]
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
    if condition_of(_before(world), "ServicePortExists") is None:
        return []
    return [Claim("ServicePortExists", "True", "ServicePortFound", f"Service has port {port}")]


def _before(world: World) -> tuple[Condition, ...]:
    return world.expose.status.conditions if world.expose.status else ()


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
    if overdue(world.deployment) and deed.outcome is Outcome.LEFT:
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


def _name(world: World) -> list[Claim]:
    """Only once a name was seen to be another's is it worth saying that it is ours."""
    type, app = "NameAvailable", world.expose.spec.app.name
    if taken := reports.refused(world.expose.spec.relay.targets, world.tunnels):
        said = f"The name '{app}' is another's at {', '.join(taken)}: free it there or change it"
        return [Claim(type, "False", "NameConflict", said)]
    if condition_of(_before(world), type) is None:
        return []
    return [Claim(type, "True", "NameFree", f"No relay has given '{app}' to somebody else")]


def _available(
    world: World,
    deed: Deed,
    claims: list[Claim],
    phase: Phase,
) -> Claim:
    if world.complaints:
        said = "; ".join(f"{cause.field}: {cause.message}" for cause in world.complaints)
        return Claim("Available", "False", "InvalidSpec", said)
    for claim in claims:
        if claim.status == "False" and claim.reason in BLOCKING:
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
    if found is not None and overdue(found):
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


def overdue(deployment: Deployment | None) -> bool:
    """Whether a Deployment gave up making progress."""
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
