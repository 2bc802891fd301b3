"""Step 7, and the looks at what is finished: what the provider's state means. Pure.

    pending, running    it is at work                               wait
    configured          said twice, by as many machines as wanted   done
    unconfigured        a task of its configuration failed          FAILING_RECONCILIATION
    failed, stopped     so did a machine                            FAILING_RECONCILIATION
    unknown             the cloud does not answer it                wait, then FAILING_…
    deleting            somebody deletes it                         FAILING_RECONCILIATION

`configured` is shown for a moment before `unconfigured`, and by the first machines while others are
being added; so one look is not enough.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from typing import NamedTuple

from quintant.api.meta import ConditionClaim
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster import Operation
from quintant.operators.infra.observe.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observe.observed import ClusterMemory, Observed
from quintant.operators.infra.plan.decision import (
    RARELY,
    SOON,
    PassDecision,
    backoff,
    elapsed,
    later,
    poll,
    remember,
    shown,
    unstalled,
)
from quintant.operators.infra.plan.diff import wanted_machines
from quintant.operators.infra.plan.failures import NEVER, denied, failed, reachable
from quintant.operators.infra.plan.status import (
    IN_PROGRESS,
    INFRASTRUCTURE_READY,
    STALLED,
    StatusChange,
    claim,
    is_true,
    reason_of,
)

STABLE_LOOKS, STABLE_SECONDS = 2, 3.0
"""How often, and for how long, `configured` must be seen: IM shows it for two seconds before it
says `unconfigured`."""
STABLE_PAUSE = 3.4
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
CONTEXTUALIZING = "Contextualizing"
TIMEOUTS = {"Create": "create", "Update": "update", "Reconfigure": "reconfigure"}


class StateFinding(Enum):
    """What a state comes to."""

    READY = auto()
    WORKING = auto()
    FAILING = auto()


class StateVerdict(NamedTuple):
    """What a state comes to, and what to say of it."""

    finding: StateFinding
    reason: str = ""
    message: str = ""


WORKING = StateVerdict(StateFinding.WORKING)


def look(seen: Observed) -> PassDecision:
    """What follows from the provider's answer."""
    match seen.state:
        case Failure(kind=ErrorClass.NOT_FOUND) as failure:
            return denied(seen, failure)
        case Failure() as failure:
            return failed(seen, failure)
        case None:
            return PassDecision(after=seen.observe_interval)
        case state:
            return _told(seen, state, remember(seen.memory, state, seen.now))


def _told(seen: Observed, state: InfrastructureState, memory: ClusterMemory) -> PassDecision:
    verdict = judge(seen, state, memory)
    wanted = wanted_by(seen)
    fields = {"infrastructure": shown(seen, state, wanted)}
    if seen.status.operation is not None and wanted:
        done = len(state.with_state("configured"))
        progress = min(100 * done // wanted, 100)
        fields["operation"] = changed(seen.status.operation, progress=progress)  # type: ignore[assignment]
    base = StatusChange(fields, (reachable(seen),))
    match verdict.finding:
        case StateFinding.READY:
            return _ready(seen, base, memory)
        case StateFinding.FAILING:
            return failing(seen, verdict, base, memory)
    return _working(seen, state, base, memory)


def wanted_by(seen: Observed) -> int | None:
    """How many machines the template that was sent asks for, where that can be told."""
    tosca = seen.last_applied
    return wanted_machines(tosca.value) if tosca is not None else None


def judge(seen: Observed, state: InfrastructureState, memory: ClusterMemory) -> StateVerdict:
    """What a state comes to."""
    unchanged = (seen.now - (memory.since or seen.now)).total_seconds()
    match state.settled:
        case InfrastructureWord.CONFIGURED:
            return _configured(seen, state, memory, unchanged)
        case InfrastructureWord.UNCONFIGURED:
            return _unless_restarting(seen, memory, UNCONFIGURED, _which(state, "unconfigured"))
        case InfrastructureWord.FAILED:
            return _unless_restarting(seen, memory, PROVIDER_FAILED, _which(state, "failed"))
        case InfrastructureWord.STOPPED | InfrastructureWord.OFF:
            return _unless_restarting(seen, memory, STOPPED, _which(state, "stopped", "off"))
        case InfrastructureWord.UNKNOWN if unchanged >= UNKNOWN_SECONDS:
            said = "the provider cannot tell: does the cloud answer it?"
            return StateVerdict(StateFinding.FAILING, CLOUD_UNREACHABLE, said)
        case InfrastructureWord.DELETING:
            said = "somebody deletes the infrastructure at the provider"
            return StateVerdict(StateFinding.FAILING, DELETED_EXTERNALLY, said)
        case InfrastructureWord.PENDING if not state.machines and _overdue(seen, unchanged):
            said = "the provider has launched no machine for a long time"
            return StateVerdict(StateFinding.FAILING, NOTHING_LAUNCHED, said)
    return WORKING


def _configured(
    seen: Observed, state: InfrastructureState, memory: ClusterMemory, unchanged: float
) -> StateVerdict:
    wanted, count = wanted_by(seen), len(state.machines)
    if state.waiting:
        return WORKING
    if wanted is not None and count < wanted:
        patience = 0.0 if seen.status.operation is None else seen.timeout("launch_grace")
        if memory.looks < STABLE_LOOKS or unchanged < patience:
            return WORKING
        said = f"{count} of {wanted} machines are there"
        return StateVerdict(StateFinding.FAILING, MACHINES_MISSING, said)
    known = is_true(seen.status.conditions, INFRASTRUCTURE_READY)
    steady = memory.looks >= STABLE_LOOKS and unchanged >= STABLE_SECONDS
    return StateVerdict(StateFinding.READY) if known or steady else WORKING


def _unless_restarting(
    seen: Observed, memory: ClusterMemory, reason: str, which: str
) -> StateVerdict:
    operation = seen.status.operation
    if operation is not None and operation.type == "Reconfigure" and operation.phase == "Submitted":
        new = elapsed(seen, operation.last_attempt_at) < RESTART_SECONDS
        if new or memory.looks < STABLE_LOOKS:
            return WORKING
    return StateVerdict(StateFinding.FAILING, reason, f"{which}{_log(seen)}")


def _overdue(seen: Observed, unchanged: float) -> bool:
    grace = seen.timeout("launch_grace")
    return unchanged >= grace and elapsed(seen, seen.status.created) >= grace


def _which(state: InfrastructureState, *words: str) -> str:
    named = state.with_state(*words)
    if not named:
        return f"the infrastructure is {state.settled.value}, and has no such machine"
    many = "machine" if len(named) == 1 else "machines"
    return f"{many} {', '.join(named)}: {state.settled.value}"


def _log(seen: Observed) -> str:
    before = seen.status.infrastructure
    log = seen.log or (before.message if before is not None else "")
    return f": {log}" if log else ""


def _ready(seen: Observed, base: StatusChange, memory: ClusterMemory) -> PassDecision:
    told = claim(INFRASTRUCTURE_READY, True, "Configured", "all machines are configured")
    change = base + StatusChange(claims=(told, *unstalled(seen)))
    operation = seen.status.operation
    if operation is not None and refused_update(operation):
        # What was there before is well; what was asked for was refused, and is tried again.
        return PassDecision(base, after=_next(seen, memory), memory=memory)
    if operation is None:
        after = seen.observe_interval if is_true(seen.status.conditions, told.type) else SOON
        return PassDecision(change, after=after, memory=memory)
    finished = changed(change.fields.get("operation", operation), phase="Submitted")
    return PassDecision(change + StatusChange({"operation": finished}), after=SOON, memory=memory)


def _working(
    seen: Observed, state: InfrastructureState, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    operation = seen.status.operation
    claims: tuple[ConditionClaim, ...] = ()
    if operation is not None and _timed_out(seen, operation):
        return _overtime(seen, operation, base, memory)
    known = is_true(seen.status.conditions, INFRASTRUCTURE_READY)
    if operation is not None and operation.phase != "Waiting":
        claims = (claim(INFRASTRUCTURE_READY, None, IN_PROGRESS, f"it is {state.settled.value}"),)
    elif state.settled in (InfrastructureWord.RUNNING, InfrastructureWord.PENDING):
        claims = (claim(INFRASTRUCTURE_READY, None, CONTEXTUALIZING, "it is being configured"),)
    elif not known and state.settled is InfrastructureWord.CONFIGURED:
        claims = (claim(INFRASTRUCTURE_READY, None, CONTEXTUALIZING, "it says it is configured"),)
    after = poll(seen, memory)
    if state.settled is InfrastructureWord.CONFIGURED and memory.looks < STABLE_LOOKS:
        after = min(STABLE_PAUSE, seen.poll_max)
    return PassDecision(base + StatusChange(claims=claims), after=after, memory=memory)


def _timed_out(seen: Observed, operation: Operation) -> bool:
    limit = seen.timeout(TIMEOUTS.get(operation.type, "delete"))
    running = operation.phase == "Submitted" and limit > 0
    return running and elapsed(seen, operation.started_at) > limit


def _overtime(
    seen: Observed, operation: Operation, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    """It takes longer than it may: said, and looked at all the same, ever more rarely."""
    said = f"{operation.type} takes longer than {TIMEOUTS[operation.type]} in spec.timeouts allows"
    told = claim(STALLED, True, f"{operation.type}Timeout", said)
    after = min(max(poll(seen, memory), seen.poll_max), RARELY)
    return PassDecision(base + StatusChange(claims=(told,)), after=after, memory=memory)


def failing(
    seen: Observed, verdict: StateVerdict, base: StatusChange, memory: ClusterMemory
) -> PassDecision:
    """Something failed: it is tried again after a while, and FAILED once that was of no use."""
    told = claim(INFRASTRUCTURE_READY, False, verdict.reason, verdict.message)
    operation = seen.status.operation
    if operation is not None and refused_update(operation):
        return PassDecision(
            base + StatusChange(claims=(told,)), after=_next(seen, memory), memory=memory
        )
    waits = operation is not None and operation.phase == "Waiting"
    same = reason_of(seen.status.conditions, INFRASTRUCTURE_READY) == verdict.reason
    if waits and same:
        return PassDecision(
            base + StatusChange(claims=(told,)), after=_next(seen, memory), memory=memory
        )
    most, first, longest = seen.attempts
    again = operation is not None and operation.type == "Reconfigure"
    attempt = operation.attempt if operation is not None and again else 0
    waiting = Operation(
        type="Reconfigure",
        phase="Waiting",
        attempt=attempt,
        token=operation.token if operation is not None else "",
        started_at=operation.started_at if operation is not None and again else None,
        not_before=later(seen.now, backoff(attempt + 1, first, longest)),
    )
    claims = [told]
    if attempt >= most:
        said = f"{verdict.message}; it was configured again {attempt} times"
        claims.append(claim(STALLED, True, "ReconfigureFailed", said))
        waiting = changed(waiting, not_before=NEVER)
    memory = replace(memory, failed_with=seen.binding.fingerprint if seen.binding else "")
    change = base + StatusChange({"operation": waiting}, tuple(claims))
    return PassDecision(change, after=poll(seen, memory), memory=memory)


def refused_update(operation: Operation) -> bool:
    """Whether it is an update that the provider refused, and that waits for its next attempt."""
    return operation.type == "Update" and operation.phase == "Waiting"


def _next(seen: Observed, memory: ClusterMemory) -> float:
    operation = seen.status.operation
    wait = -elapsed(seen, operation.not_before) if operation is not None else 0.0
    stalled = is_true(seen.status.conditions, STALLED)
    rest = RARELY if stalled else max(seen.poll_max, poll(seen, memory))
    return min(max(wait, SOON), rest)
