"""What a pass decides: what is written, which call is made, when to look again. Pure.

A pass makes at most one call that changes anything. What such a call needs to be found again after
a crash is in its `record`, which is written first, and must have been written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any

from quintant.api.events import PlannedEvent
from quintant.api.meta import ConditionClaim
from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import (
    Operation,
    OperationType,
)
from quintant.operators.infra.builders import template
from quintant.operators.infra.observed.answers import InfrastructureState
from quintant.operators.infra.observed.cluster import CallKind, ClusterMemory, LongCallId, Observed
from quintant.operators.infra.observed.moments import seconds_since
from quintant.operators.infra.plan.status import STALLED, StatusChange, claim, is_true

POLLS = (1.0, 1.5, 2.5, 4.0, 6.0, 10.0)
"""Waits between looks at something that does not change, in multiples of the shortest."""
MORE_THAN_ANY = 99.0
SOON = 0.05
"""Seconds: the next step follows at once, and others of the queue get their turn."""
RARELY = 300.0
"""Seconds between looks at what only the user can mend."""
LEAST_SECONDS = 60.0
"""What a long call may take at least, whatever a spec says."""
MOST_DOUBLINGS = 16
"""More than lead to the longest wait; without a limit a float ends after a thousand attempts."""
ADOPTED = "Adopted"
NOTHING = StatusChange()


class ProviderMethod(Enum):
    """What a provider is asked to do."""

    PLAN = auto()
    CREATE = auto()
    UPDATE = auto()
    RECONFIGURE = auto()
    REPLACE = auto()
    DELETE = auto()
    DELETE_NOW = auto()


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """A call of a provider, with everything that it takes."""

    method: ProviderMethod
    infrastructure: str = ""
    template: Mapping[str, Any] = field(default_factory=dict, repr=False)
    machines: tuple[str, ...] = ()
    force: bool = False
    seconds: float = 0.0
    """How long the provider may take; for calls that are answered when all is done."""
    id: LongCallId | None = None
    """Which long call it is; None for a call that is soon over."""


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
    new: bool = False
    """Whether no Secret of the kubeconfig's name is known."""
    besides: StatusChange = NOTHING
    """What is true already, and is written with what follows from the answer."""


@dataclass(frozen=True, slots=True)
class PassDecision:
    """What follows from what was observed."""

    change: StatusChange = NOTHING
    act: Act | None = None
    events: tuple[PlannedEvent, ...] = ()
    last_event: PlannedEvent | None = None
    """Written before the Cluster may go: nothing else will tell it."""
    after: float | None = None
    """Seconds until the next look; None leaves it to watches."""
    memory: ClusterMemory | None = None
    """What to remember from now on; None leaves it as it is."""
    claims_id: str = ""
    """The infrastructure that must be claimed for the Cluster before this is written."""
    releases: tuple[str, ...] = ()
    """Infrastructures that are the Cluster's no more."""
    finished: bool = False
    """Nothing is left at the provider: the Cluster may go."""

    def plus(self, before: StatusChange) -> PassDecision:
        """The same, with something that is changed besides."""
        if self.act is None:
            return replace(self, change=before + self.change)
        if self.act.record is None:
            return replace(self, act=replace(self.act, besides=before + self.act.besides))
        return replace(self, act=replace(self.act, record=before + self.act.record))

    @property
    def adopts(self) -> bool:
        """Whether an infrastructure becomes the Cluster's that was there already."""
        return any(each.reason == ADOPTED for each in self.events)

    def ended(self, operation: Operation | None) -> Operation | None:
        """The operation that was on record, if it is over by this decision."""
        over = self.change.fields.get("operation", operation) is None
        return operation if over else None


def provider_call(observed: Observed, act: Act) -> ProviderCall:
    """The call that an action is; `observed` has the record of it."""
    id, operation = observed.status.cluster_id, observed.status.operation
    match act.action:
        case Action.CREATE:
            assert operation is not None, "a creation is on record"
            sent = template(observed.cluster, operation.token, observed.instance)
            return ProviderCall(ProviderMethod.CREATE, template=sent)
        case Action.RECONFIGURE:
            return ProviderCall(ProviderMethod.RECONFIGURE, id)
        case Action.REPLACE:
            return ProviderCall(ProviderMethod.REPLACE, id, machines=act.machines)
        case Action.DELETE:
            return ProviderCall(ProviderMethod.DELETE, act.target or id, force=act.force)
    return _long_call(observed, act)


def _long_call(observed: Observed, act: Act) -> ProviderCall:
    id, operation = observed.status.cluster_id, observed.status.operation
    assert operation is not None, "a long call is on record"
    assert act.call is not None, "it says which call it is"
    if act.call is CallKind.DELETE:
        return ProviderCall(
            ProviderMethod.DELETE_NOW, act.target or id, force=act.force,
            seconds=max(observed.timeout("delete"), LEAST_SECONDS),
            id=LongCallId(act.call, operation.token, operation.attempt),
        )  # fmt: skip
    token = operation.token or observed.cluster.metadata.uid
    sent = template(observed.cluster, token, observed.instance)
    named = LongCallId(act.call, operation.hash, operation.attempt)
    if act.call is CallKind.DRY_RUN:
        return ProviderCall(ProviderMethod.PLAN, template=sent, id=named)
    seconds = max(observed.timeout("update"), LEAST_SECONDS)
    return ProviderCall(ProviderMethod.UPDATE, id, sent, seconds=seconds, id=named)


def note(reason: str, text: str, *, warning: bool = False) -> PlannedEvent:
    """An event about a Cluster."""
    return PlannedEvent("Warning" if warning else "Normal", reason, text)


def begin(observed: Observed, kind: OperationType, **fields: object) -> Operation:
    """The record of an operation that begins now."""
    now = timestamp(observed.now)
    return Operation(type=kind, phase="Prepared", started_at=now, **fields)  # type: ignore[arg-type]


def advance(observed: Observed, **fields: object) -> Operation:
    """The record of the operation under way, with some fields changed."""
    assert observed.status.operation is not None, "an operation is under way"
    return changed(observed.status.operation, **fields)


def elapsed(observed: Observed, moment: str | None) -> float:
    """Seconds since a moment; 0 if there was none, or none that can be read."""
    return seconds_since(observed.now, moment) or 0.0


def due(observed: Observed) -> float:
    """Seconds until the operation may be tried again; 0 if it may now."""
    operation = observed.status.operation
    if operation is None or operation.not_before is None or other_binding(observed):
        return 0.0
    return max(-elapsed(observed, operation.not_before), 0.0)


def other_binding(observed: Observed) -> bool:
    """Whether the cloud, the provider or a Secret changed since something failed."""
    failed = observed.memory.failed_with
    return bool(failed) and observed.binding is not None and observed.binding.fingerprint != failed


def later(now: datetime, seconds: float) -> str:
    """A moment from now, as it is written."""
    return timestamp(now + timedelta(seconds=seconds))


def backoff(attempt: int, first: float, longest: float) -> float:
    """Seconds before the next attempt after so many."""
    doublings = min(max(attempt - 1, 0), MOST_DOUBLINGS)
    return float(min(first * 2.0**doublings, longest))


def poll(observed: Observed, memory: ClusterMemory) -> float:
    """Seconds until the next look: ever longer while nothing changes."""
    at = max(memory.looks - 1, 0)
    factor = POLLS[at] if at < len(POLLS) else MORE_THAN_ANY
    return min(observed.poll_min * factor, observed.poll_max)


def remember(memory: ClusterMemory, state: InfrastructureState, now: datetime) -> ClusterMemory:
    """The memory after the provider said this."""
    same = memory.state == state
    return replace(
        memory,
        state=state,
        since=memory.since if same else now,
        looks=memory.looks + 1 if same else 1,
        looked=now,
        missing=0,
        missing_since=None,
        failures=0,
    )


def unstalled(observed: Observed) -> tuple[ConditionClaim, ...]:
    """What is said once something works that did not."""
    if not is_true(observed.status.conditions, STALLED):
        return ()
    return (claim(STALLED, False, "Working", ""),)
