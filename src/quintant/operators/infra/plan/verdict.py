"""What a state of the provider comes to: it works, it is done, or it fails. Pure.

`configured` is shown for a moment before `unconfigured`, and by the first machines while others are
being added; so one look is not enough.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from quintant.operators.infra.observed.answers import InfrastructureState, InfrastructureWord
from quintant.operators.infra.observed.cluster import ClusterMemory, Observed
from quintant.operators.infra.plan.decision import elapsed
from quintant.operators.infra.plan.diff import wanted_machines
from quintant.operators.infra.plan.status import INFRASTRUCTURE_READY, is_true

STABLE_LOOKS, STABLE_SECONDS = 2, 3.0
"""How often, and for how long, `configured` must be seen: IM shows it for two seconds before it
says `unconfigured`."""
UNKNOWN_SECONDS = 180.0
"""IM hides a cloud's silence for two minutes, and then says `unknown`."""
RESTART_SECONDS = 5.0
"""How long after a request to configure it again the old state may still be shown."""
UNCONFIGURED = "Unconfigured"
PROVIDER_FAILED = "ProviderFailed"
STOPPED = "Stopped"
CLOUD_UNREACHABLE = "CloudUnreachable"
DELETED_EXTERNALLY = "DeletedExternally"
MACHINES_MISSING = "MachinesMissing"
NOTHING_LAUNCHED = "NothingLaunched"


class StateFinding(Enum):
    """What a state comes to."""

    READY = auto()
    UNCONFIRMED = auto()
    """It says that it is done, for the first time."""
    WORKING = auto()
    FAILING = auto()


class StateVerdict(NamedTuple):
    """What a state comes to, and what to say of it."""

    finding: StateFinding
    reason: str = ""
    message: str = ""


WORKING = StateVerdict(StateFinding.WORKING)
UNCONFIRMED = StateVerdict(StateFinding.UNCONFIRMED)


def wanted_by(observed: Observed) -> int | None:
    """How many machines the template that was sent asks for, where that is known."""
    tosca = observed.last_applied
    return wanted_machines(tosca.value) if tosca is not None else None


def judge(observed: Observed, state: InfrastructureState, memory: ClusterMemory) -> StateVerdict:
    """What a state comes to."""
    unchanged = (observed.now - (memory.since or observed.now)).total_seconds()
    match state.settled:
        case InfrastructureWord.CONFIGURED:
            return _configured(observed, state, memory, unchanged)
        case InfrastructureWord.UNCONFIGURED:
            return _unless_restarting(observed, memory, UNCONFIGURED, _which(state, "unconfigured"))
        case InfrastructureWord.FAILED:
            return _unless_restarting(observed, memory, PROVIDER_FAILED, _which(state, "failed"))
        case InfrastructureWord.STOPPED | InfrastructureWord.OFF:
            return _unless_restarting(observed, memory, STOPPED, _which(state, "stopped", "off"))
        case InfrastructureWord.UNKNOWN if unchanged >= UNKNOWN_SECONDS:
            message = "the provider cannot tell: does the cloud answer it?"
            return StateVerdict(StateFinding.FAILING, CLOUD_UNREACHABLE, message)
        case InfrastructureWord.DELETING:
            message = "somebody deletes the infrastructure at the provider"
            return StateVerdict(StateFinding.FAILING, DELETED_EXTERNALLY, message)
        case InfrastructureWord.PENDING if not state.machines and _overdue(observed, unchanged):
            message = "the provider has launched no machine for a long time"
            return StateVerdict(StateFinding.FAILING, NOTHING_LAUNCHED, message)
    return WORKING


def _configured(
    observed: Observed, state: InfrastructureState, memory: ClusterMemory, unchanged: float
) -> StateVerdict:
    wanted, count = wanted_by(observed), len(state.machines)
    if state.waiting:
        return WORKING
    if wanted is not None and count < wanted:
        patience = 0.0 if observed.status.operation is None else observed.timeout("launch_grace")
        if memory.looks < STABLE_LOOKS or unchanged < patience:
            return WORKING
        message = f"{count} of {wanted} machines are there"
        return StateVerdict(StateFinding.FAILING, MACHINES_MISSING, message)
    known = is_true(observed.status.conditions, INFRASTRUCTURE_READY)
    steady = memory.looks >= STABLE_LOOKS and unchanged >= STABLE_SECONDS
    return StateVerdict(StateFinding.READY) if known or steady else UNCONFIRMED


def _unless_restarting(
    observed: Observed, memory: ClusterMemory, reason: str, which: str
) -> StateVerdict:
    operation = observed.status.operation
    if operation is not None and operation.type == "Reconfigure" and operation.phase == "Submitted":
        new = elapsed(observed, operation.last_attempt_at) < RESTART_SECONDS
        if new or memory.looks < STABLE_LOOKS:
            return WORKING
    return StateVerdict(StateFinding.FAILING, reason, f"{which}{_log(observed)}")


def _overdue(observed: Observed, unchanged: float) -> bool:
    grace = observed.timeout("launch_grace")
    return unchanged >= grace and elapsed(observed, observed.status.created) >= grace


def _which(state: InfrastructureState, *words: str) -> str:
    named = state.with_state(*words)
    if not named:
        return f"the infrastructure is {state.settled.value}, and has no such machine"
    many = "machine" if len(named) == 1 else "machines"
    return f"{many} {', '.join(named)}: {state.settled.value}"


def _log(observed: Observed) -> str:
    before = observed.status.infrastructure
    log = observed.log or (before.message if before is not None else "")
    return f": {log}" if log else ""
