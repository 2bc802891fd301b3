"""Step 5: something failed by itself, and the provider is asked to set it right. Pure.

Which request that is depends on what failed, and is the provider's own matter:

    a task of the configuration failed       configure again
    no machine, one missing, template lost   send the template again: what is missing is made
    a machine failed, replaceFailedVMs       delete it; then it is missing
    stopped, failed without that option      configure again: it may help once the user acted
    unknown, deleting, pending, running      nothing: look again
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import Operation
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed
from quintant.operators.infra.plan.decision import (
    Act,
    Action,
    PassDecision,
    advance,
    begin,
    note,
    remember,
    unstalled,
)
from quintant.operators.infra.plan.failures import failed, reachable
from quintant.operators.infra.plan.infrastructure import infrastructure_status
from quintant.operators.infra.plan.status import (
    IN_PROGRESS,
    INFRASTRUCTURE_READY,
    StatusChange,
    claim,
    reason_of,
)
from quintant.operators.infra.plan.update import send, update
from quintant.operators.infra.plan.verdict import NOTHING_LAUNCHED, wanted_by
from quintant.operators.infra.plan.wait import look

TEMPLATE_LOST = "TemplateLost"
"""The reason of an infrastructure whose template the provider lost."""


class Healing(Enum):
    """What is asked of the provider."""

    LOOK = auto()
    """Nothing."""
    CONFIGURE = auto()
    """To configure it again."""
    SEND = auto()
    """To make what is missing of the template."""
    REPLACE = auto()
    """To delete machines that failed."""


def reconfigure(observed: Observed) -> PassDecision:
    """The next thing to do about what failed."""
    operation = observed.status.operation
    if operation is not None and operation.hash and operation.phase in ("Prepared", "Verifying"):
        return update(observed)
    if not isinstance(observed.state, InfrastructureState):
        return look(observed)
    memory = remember(observed.memory, observed.state, observed.now)
    match healing(observed, observed.state):
        case Healing.LOOK:
            return look(observed)
        case Healing.SEND:
            return send(_as_reconfigure(observed), observed.state, memory)
        case Healing.REPLACE:
            failed_ones = observed.state.with_state("failed")
            message = f"deletes machines {', '.join(failed_ones)}, to have others in their place"
            return _act(observed, Act(Action.REPLACE, machines=failed_ones), message, memory)
    return _act(observed, Act(Action.RECONFIGURE), "has it configured again", memory)


def healing(observed: Observed, state: InfrastructureState) -> Healing:
    """What may help."""
    lost = reason_of(observed.status.conditions, INFRASTRUCTURE_READY)
    if lost == TEMPLATE_LOST:
        return Healing.SEND
    wanted = wanted_by(observed)
    match state.settled:
        case InfrastructureWord.UNCONFIGURED | InfrastructureWord.STOPPED | InfrastructureWord.OFF:
            return Healing.CONFIGURE
        case InfrastructureWord.FAILED | InfrastructureWord.UNKNOWN if not state.machines:
            return Healing.SEND
        case InfrastructureWord.FAILED:
            some = observed.cluster.spec.replace_failed_vms and state.with_state("failed")
            return Healing.REPLACE if some else Healing.CONFIGURE
        case InfrastructureWord.CONFIGURED if wanted is not None and len(state.machines) < wanted:
            return Healing.SEND
        case InfrastructureWord.PENDING if not state.machines and lost == NOTHING_LAUNCHED:
            return Healing.SEND
    return Healing.LOOK


def replaced(observed: Observed, answer: Failure | None) -> PassDecision:
    """After machines were deleted: now they are missing, and the template is sent."""
    if isinstance(answer, Failure):
        return reconfigured(observed, answer)
    waiting = advance(observed, phase="Waiting", last_attempt_at=None, not_before=None)
    return PassDecision(
        StatusChange({"operation": waiting}), after=observed.poll_min, memory=ClusterMemory()
    )


def reconfigured(observed: Observed, answer: Failure | None) -> PassDecision:
    """After the request."""
    operation = observed.status.operation
    if isinstance(answer, Failure):
        if answer.kind is ErrorClass.NOT_FOUND:
            return PassDecision(after=observed.poll_min)
        decision = failed(observed, answer)
        if operation is None or "operation" in decision.change.fields:
            return decision
        # It does no harm to ask twice.
        waits = changed(operation, phase="Waiting", attempt=max(operation.attempt - 1, 0))
        return decision.plus(StatusChange({"operation": waits}))
    submitted = advance(observed, phase="Submitted")
    return PassDecision(
        StatusChange({"operation": submitted}), after=observed.poll_min, memory=ClusterMemory()
    )


def _act(observed: Observed, act: Act, message: str, memory: ClusterMemory) -> PassDecision:
    operation = _begun(observed)
    condition_claim = claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, "it is being configured again")
    fields: dict[str, object] = {"operation": operation}
    if isinstance(observed.state, InfrastructureState):
        fields["infrastructure"] = infrastructure_status(observed, observed.state)
    record = StatusChange(fields, (reachable(observed), condition_claim, *unstalled(observed)))
    act = Act(act.action, record, machines=act.machines)
    event = note("Reconfiguring", f"{message}, attempt {operation.attempt}")
    return PassDecision(act=act, events=(event,), after=observed.poll_min, memory=memory)


def _begun(observed: Observed) -> Operation:
    before = observed.status.operation
    again = before is not None and before.type == "Reconfigure"
    attempt = before.attempt if before is not None and again else 0
    operation = begin(observed, "Reconfigure", attempt=attempt + 1)
    return changed(
        operation,
        token=before.token if before is not None else "",
        last_attempt_at=timestamp(observed.now),
    )


def _as_reconfigure(observed: Observed) -> Observed:
    """The same, with an operation of this step, so that attempts are counted together."""
    before = observed.status.operation
    if before is not None and before.type == "Reconfigure":
        return observed
    waiting = Operation(type="Reconfigure", phase="Waiting", started_at=timestamp(observed.now))
    status = changed(observed.status, operation=waiting)
    return replace(observed, cluster=changed(observed.cluster, status=status))
