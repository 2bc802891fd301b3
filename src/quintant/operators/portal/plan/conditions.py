"""The conditions of a PortalExpose: what is claimed of what was read, one claim for each. Pure."""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.core.text import one_line
from quintant.operators.portal.api import Phase, RelayConnection
from quintant.operators.portal.observed import Observed, OperationResult, Outcome
from quintant.operators.portal.plan.kstatus import KSTATUS, OVERDUE, ready
from quintant.operators.portal.plan.relays import refusing
from quintant.operators.portal.rules import is_address, listed
from quintant.operators.portal.tunnel_class.plan import missing_class
from quintant.runtime.reconcile.kstatus import with_kstatus
from quintant.wire.portal import Close

NO_RELAY = "NoRelayConnected"
DEPLOYED = "Deployed"
"""True from the first Deployment on: whatever is created later is created again."""
BLOCKING = frozenset(
    {
        "ServiceNotFound",
        "TunnelClassNotFound",
        "NoDefaultTunnelClass",
        "InvalidTunnelClass",
        "InvalidSpec",
        "RelayTokenNotShared",
        "DeploymentConflict",
    }
)
"""The reasons for which there can be no tunnels."""


def conditions(
    observed: Observed, outcome: Outcome, relays: tuple[RelayConnection, ...], phase: Phase
) -> tuple[Condition, ...]:
    """All conditions; those that nothing is to be said about stay as they are."""
    claims = [_service(observed), *_port(observed), _class(observed), *_sound_class(observed)]
    claims += _token(observed)
    claims += [_deployment(observed, outcome), _connected(observed, relays), *_name(observed)]
    claims += _fitting(observed)
    claims += [_available(observed, claims, phase)]
    claims += [_progressing(observed, outcome), *_deployed(observed, outcome)]
    claims += [ready(claims, phase)]
    known, generation = _before(observed), observed.expose.metadata.generation
    found = set_conditions(known, claims, generation=generation, now=observed.now)
    return with_kstatus(found, KSTATUS, generation=generation, now=observed.now)


def _service(observed: Observed) -> ConditionClaim:
    name = observed.expose.spec.app.service.name
    if observed.service is not None:
        return ConditionClaim("ServiceExists", "True", "ServiceFound", "Service exists")
    namespace = observed.expose.metadata.namespace
    message = f"Service '{name}' not found in namespace '{namespace}'"
    return ConditionClaim("ServiceExists", "False", "ServiceNotFound", message)


def _port(observed: Observed) -> list[ConditionClaim]:
    """Only once a port was seen to be missing is it worth saying that it is there."""
    port, service = observed.expose.spec.app.service.port, observed.service
    if service is None:
        return []
    numbers = [each.port for each in service.spec.ports]
    if numbers and port not in numbers and service.spec.type != "ExternalName":
        listed = ", ".join(map(str, numbers))
        message = f"Service '{service.metadata.name}' has no port {port}; it has {listed}"
        return [ConditionClaim("ServicePortExists", "False", "ServicePortNotFound", message)]
    if condition_of(_before(observed), "ServicePortExists") is None:
        return []
    return [
        ConditionClaim("ServicePortExists", "True", "ServicePortFound", f"Service has port {port}")
    ]


def _before(observed: Observed) -> tuple[Condition, ...]:
    return observed.expose.status.conditions if observed.expose.status else ()


def _class(observed: Observed) -> ConditionClaim:
    if observed.tunnel_class is not None:
        message = f"TunnelClass '{observed.tunnel_class.metadata.name}' is in force"
        return ConditionClaim("TunnelClassExists", "True", "TunnelClassFound", message)
    return ConditionClaim("TunnelClassExists", "False", *missing_class(observed.expose))


def _sound_class(observed: Observed) -> list[ConditionClaim]:
    """Only once a class was wrong is it worth saying that it is right."""
    type, chosen = "TunnelClassValid", observed.tunnel_class
    if chosen is not None and observed.class_errors:
        message = f"TunnelClass '{chosen.metadata.name}': {listed(observed.class_errors)}"
        return [ConditionClaim(type, "False", "InvalidTunnelClass", message)]
    if chosen is None or condition_of(_before(observed), type) is None:
        return []
    return [ConditionClaim(type, "True", "TunnelClassValid", "The class breaks no rule")]


def _token(observed: Observed) -> list[ConditionClaim]:
    """Only once a token was withheld is it worth saying that it is not."""
    type = "RelayTokenShared"
    if observed.unshared:
        return [ConditionClaim(type, "False", "RelayTokenNotShared", "; ".join(observed.unshared))]
    if condition_of(_before(observed), type) is None:
        return []
    return [
        ConditionClaim(
            type, "True", "RelayTokenShared", "Every Secret names the relay that sees it"
        )
    ]


def _deployment(observed: Observed, outcome: Outcome) -> ConditionClaim:
    type, counted = "TunnelDeploymentReady", f"{observed.ready}/{observed.total} tunnel pods ready"
    if outcome.result is OperationResult.CONFLICT:
        return ConditionClaim(type, "False", "DeploymentConflict", outcome.message)
    if outcome.result is OperationResult.REFUSED:
        verb = "Create" if outcome.creating else "Update"
        return ConditionClaim(type, "False", f"Deployment{verb}Failed", outcome.message)
    if outcome.result is OperationResult.WAITING:
        return ConditionClaim(type, "False", "DeploymentTerminating", outcome.message)
    if observed.total and observed.ready >= observed.total:
        return ConditionClaim(type, "True", "AllPodsReady", counted)
    if overdue(observed.deployment) and outcome.result is OperationResult.UNCHANGED:
        return ConditionClaim(type, "False", OVERDUE, f"{counted}{_trouble(observed)}")
    return ConditionClaim(type, "False", "PodsNotReady", f"{counted}{_trouble(observed)}")


def _connected(observed: Observed, relays: tuple[RelayConnection, ...]) -> ConditionClaim:
    type, up = "RelayConnected", sum(relay.status == "Connected" for relay in relays)
    if relays and up == len(relays):
        reason = "Assumed" if observed.assume else "AllRelaysConnected"
        return ConditionClaim(type, "True", reason, f"Connected to {up}/{len(relays)} relays")
    if all(relay.status == "Unknown" for relay in relays):
        return ConditionClaim(
            type, "Unknown", "NotReported", "No tunnel has told of its relays yet"
        )
    errors = "; ".join(f"{each.name}: {each.last_error}" for each in relays if each.last_error)
    message = f"Only {up}/{len(relays)} relays connected{f': {errors}' if errors else ''}"
    return ConditionClaim(type, "False", "PartialRelayConnection" if up else NO_RELAY, message)


def _name(observed: Observed) -> list[ConditionClaim]:
    """Only once a name was seen to be another's is it worth saying that it is ours."""
    type, app = "NameAvailable", observed.expose.spec.app.name
    if taken := refusing(observed.expose.spec.relay.targets, observed.tunnels):
        message = f"The name '{app}' is another's at {', '.join(taken)}: free it there or change it"
        return [ConditionClaim(type, "False", "NameConflict", message)]
    if condition_of(_before(observed), type) is None:
        return []
    return [
        ConditionClaim(type, "True", "NameFree", f"No relay has given '{app}' to somebody else")
    ]


def _fitting(observed: Observed) -> list[ConditionClaim]:
    """Only once a relay had enough tunnels is it worth saying that it takes all of them."""
    type, chosen = "TunnelsAccepted", observed.tunnel_class
    targets = observed.expose.spec.relay.targets
    if (full := refusing(targets, observed.tunnels, Close.LIMIT)) and chosen is not None:
        message = (
            f"{', '.join(full)} takes no more tunnels than it has: lower spec.replicas of "
            f"TunnelClass '{chosen.metadata.name}' ({chosen.spec.replicas}), "
            "or raise --max-group-sessions there"
        )
        return [ConditionClaim(type, "False", "TooManyTunnels", message)]
    if condition_of(_before(observed), type) is None:
        return []
    return [ConditionClaim(type, "True", "TunnelsFit", "No relay turns a tunnel away")]


def _available(observed: Observed, claims: list[ConditionClaim], phase: Phase) -> ConditionClaim:
    if observed.errors:
        return ConditionClaim("Available", "False", "InvalidSpec", listed(observed.errors))
    for claim in claims:
        if claim.status == "False" and claim.reason in BLOCKING:
            return ConditionClaim("Available", "False", claim.reason, claim.message)
    if any(claim.reason == NO_RELAY for claim in claims):
        # A pod is ready until its next probe, whatever became of its relays.
        return ConditionClaim(
            "Available", "False", "PortalExposeNotAvailable", "No relay is connected"
        )
    if phase in ("Ready", "Degraded"):
        return ConditionClaim("Available", "True", "PortalExposeAvailable", _reachability(observed))
    return ConditionClaim("Available", "False", "PortalExposeNotAvailable", f"The phase is {phase}")


def _reachability(observed: Observed) -> str:
    for tunnel in observed.tunnels:
        if tunnel.report is not None and not tunnel.report.service.reachable:
            return f"Tunnel up, but the Service fails: {one_line(tunnel.report.service.error)}"
    targets = observed.expose.spec.relay.targets
    if targets and is_address(targets[0].url):
        return "Available, without a public URL: no name can stand before the relay's IP address"
    return "Reachable under its public URL"


def _progressing(observed: Observed, outcome: Outcome) -> ConditionClaim:
    type = "Progressing"
    match outcome.result:
        case OperationResult.CREATED:
            return ConditionClaim(
                type, "True", "DeploymentCreated", "Tunnel pods are being started"
            )
        case OperationResult.UPDATED | OperationResult.CORRECTED:
            return ConditionClaim(type, "True", "DeploymentUpdating", "Rolling update in progress")
    deployment = observed.deployment
    if overdue(deployment):
        return ConditionClaim(
            type, "False", OVERDUE, "The tunnel pods did not become ready in time"
        )
    if deployment is not None and _rolling(deployment, observed.total):
        return ConditionClaim(type, "True", "RollingUpdate", "Rolling update in progress")
    return ConditionClaim(type, "False", "DeploymentStable", "Nothing is being changed")


def _deployed(observed: Observed, outcome: Outcome) -> list[ConditionClaim]:
    if observed.deployment is None and outcome.result is not OperationResult.CREATED:
        return []
    return [
        ConditionClaim(DEPLOYED, "True", "DeploymentCreated", "The tunnel Deployment was created")
    ]


def _rolling(deployment: Deployment, total: int) -> bool:
    status = deployment.status
    stale = status.observed_generation < deployment.metadata.generation
    return stale or status.updated_replicas < total or status.replicas > status.updated_replicas


def overdue(deployment: Deployment | None) -> bool:
    """Whether a Deployment gave up making progress."""
    if deployment is None:
        return False
    condition = condition_of(deployment.status.conditions, "Progressing")
    return condition is not None and condition.reason == OVERDUE


def _trouble(observed: Observed) -> str:
    """What the first pod that is not ready complains about."""
    for pod in observed.living:
        for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
            if each.state.waiting and each.state.waiting.reason:
                return f": {each.state.waiting.reason} {each.state.waiting.message}".rstrip()
        for condition in pod.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                return f": {condition.reason} {condition.message}".rstrip()
    return ""
