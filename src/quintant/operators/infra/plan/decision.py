"""What a pass decides: what is written, what is asked of the provider, when to look again. Pure.

A pass makes at most one call that changes anything. What such a call needs to be found again after
a crash is in its `record`, which is written first, and must have been written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from quintant.api.events import PlannedEvent
from quintant.api.meta import ConditionClaim
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import (
    InfrastructureStatus,
    LastError,
    Machine,
    Operation,
    OperationType,
)
from quintant.operators.infra.observe.answers import Failure, InfrastructureState
from quintant.operators.infra.observe.observed import CallKind, ClusterMemory, Observed
from quintant.operators.infra.plan.status import STALLED, StatusChange, claim, is_true

POLLS = (1.0, 1.5, 2.5, 4.0, 6.0, 10.0)
"""Waits between looks at something that does not change, in multiples of the shortest."""
MORE_THAN_ANY = 99.0
SOON = 0.05
"""Seconds: the next step follows at once, and others of the queue get their turn."""
RARELY = 300.0
"""Seconds between looks at what only somebody's hand can mend."""
ERRORS_KEPT = 5
NOTHING = StatusChange()


class Action(Enum):
    """A call that changes something."""

    CREATE = auto()
    RECONFIGURE = auto()
    REPLACE = auto()
    DELETE = auto()
    SAVE = auto()
    """The kubeconfig's Secret is written."""
    LONG_CALL = auto()
    """A call of minutes is begun; its end wakes the Cluster."""


@dataclass(frozen=True, slots=True)
class Act:
    """An action, and what has to be written before it."""

    action: Action
    record: StatusChange | None = None
    call: CallKind | None = None
    target: str = ""
    """The infrastructure; empty for the Cluster's own."""
    machines: tuple[str, ...] = ()
    force: bool = False
    kubeconfig: str = ""
    server: str = ""
    """The kubeconfig's."""
    besides: StatusChange = NOTHING
    """What is true already, and is written with what follows from the answer."""


@dataclass(frozen=True, slots=True)
class PassDecision:
    """What follows from what was observed."""

    change: StatusChange = NOTHING
    act: Act | None = None
    events: tuple[PlannedEvent, ...] = ()
    after: float | None = None
    """Seconds until the next look; None leaves it to watches."""
    memory: ClusterMemory | None = None
    """What to remember from now on; None leaves it as it is."""
    finished: bool = False
    """Nothing is left at the provider: the Cluster may go."""

    def plus(self, before: StatusChange) -> PassDecision:
        """The same, with something that is changed besides."""
        if self.act is None:
            return replace(self, change=before + self.change)
        if self.act.record is None:
            return replace(self, act=replace(self.act, besides=before + self.act.besides))
        return replace(self, act=replace(self.act, record=before + self.act.record))


def note(reason: str, text: str, *, warning: bool = False) -> PlannedEvent:
    """An event about a Cluster."""
    return PlannedEvent("Warning" if warning else "Normal", reason, text)


def begin(seen: Observed, kind: OperationType, **fields: object) -> Operation:
    """The record of an operation that begins now."""
    now = timestamp(seen.now)
    return Operation(type=kind, phase="Prepared", started_at=now, **fields)  # type: ignore[arg-type]


def advance(seen: Observed, **fields: object) -> Operation:
    """The record of the operation under way, with some fields changed."""
    assert seen.status.operation is not None, "an operation is under way"
    return changed(seen.status.operation, **fields)


def elapsed(seen: Observed, moment: str | None) -> float:
    """Seconds since a moment; none if there was no such moment."""
    return (seen.now - parse_timestamp(moment)).total_seconds() if moment else 0.0


def due(seen: Observed) -> float:
    """Seconds until the operation may be tried again; 0 if it may now."""
    operation = seen.status.operation
    if operation is None or operation.not_before is None or other_binding(seen):
        return 0.0
    return max(-elapsed(seen, operation.not_before), 0.0)


def other_binding(seen: Observed) -> bool:
    """Whether the cloud, the provider or a Secret changed since something failed."""
    failed = seen.memory.failed_with
    return bool(failed) and seen.binding is not None and seen.binding.fingerprint != failed


def later(now: datetime, seconds: float) -> str:
    """A moment from now, as it is written."""
    return timestamp(now + timedelta(seconds=seconds))


def backoff(attempt: int, first: float, longest: float) -> float:
    """Seconds before the next attempt after so many."""
    return float(min(first * 2.0 ** max(attempt - 1, 0), longest))


def poll(seen: Observed, memory: ClusterMemory) -> float:
    """Seconds until the next look: ever longer while nothing changes."""
    at = max(memory.looks - 1, 0)
    factor = POLLS[at] if at < len(POLLS) else MORE_THAN_ANY
    return min(seen.poll_min * factor, seen.poll_max)


def remember(memory: ClusterMemory, state: InfrastructureState, now: datetime) -> ClusterMemory:
    """The memory after the provider said this."""
    same = memory.seen == state
    return replace(
        memory,
        seen=state,
        since=memory.since if same else now,
        looks=memory.looks + 1 if same else 1,
        looked=now,
        missing=0,
        missing_since=None,
        failures=0,
    )


def unstalled(seen: Observed) -> tuple[ConditionClaim, ...]:
    """What is said once something works that did not."""
    if not is_true(seen.status.conditions, STALLED):
        return ()
    return (claim(STALLED, False, "Working", ""),)


def shown(seen: Observed, state: InfrastructureState, wanted: int | None) -> InfrastructureStatus:
    """What a status shows of an infrastructure; equal to what it shows if that is still so."""
    before = seen.status.infrastructure or InfrastructureStatus()
    known = {each.id: each for each in before.vms}
    vms = []
    for id, word in sorted(state.machines.items(), key=_numerical):
        told = (seen.details or {}).get(id)
        name = told.name if told else known[id].name if id in known else ""
        addresses = told.addresses if told else known[id].addresses if id in known else ()
        vms.append(Machine(id=id, name=name, state=word, addresses=addresses))
    message = seen.log or (before.message if state.settled.value == before.state else "")
    found = InfrastructureStatus(
        state=state.settled.value, last_observed=before.last_observed, wanted=wanted,
        vms=tuple(vms), message=message,
    )  # fmt: skip
    return before if found == before else changed(found, last_observed=timestamp(seen.now))


def with_error(seen: Observed, failure: Failure) -> tuple[LastError, ...]:
    """The last errors, with one more if it is another than the last one."""
    known = seen.status.last_errors
    operation = seen.status.operation
    error = LastError(
        time=timestamp(seen.now),
        operation=operation.type if operation is not None else "",
        error_class=failure.kind.value,
        reason=failure.reason,
        message=failure.message,
        http_status=failure.http_status,
    )
    if known and changed(known[-1], time=error.time) == error:
        return known
    return (*known, error)[-ERRORS_KEPT:]


def _numerical(item: tuple[str, str]) -> tuple[int, str]:
    return (int(item[0]) if item[0].isdigit() else 0, item[0])
