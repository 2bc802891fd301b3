"""The status of a PortalExpose: phase and conditions from what was read and done. Pure.

Transition times move only when a condition flips, so that an unchanged world gives an equal status
and no write.
"""

from __future__ import annotations

from quintant.api.meta import condition_of
from quintant.operators.portal.api import (
    Phase,
    PortalExposeStatus,
    RelayConnection,
    RelayStatus,
    TunnelPods,
)
from quintant.operators.portal.observed import Observed, OperationResult, Outcome
from quintant.operators.portal.plan.conditions import BLOCKING, conditions, overdue
from quintant.operators.portal.plan.phase import Observation, step
from quintant.operators.portal.plan.relays import relays_of
from quintant.operators.portal.rules import public_url


def status_of(observed: Observed, outcome: Outcome) -> PortalExposeStatus:
    """The status that follows from what was read and done."""
    spec, relays = observed.expose.spec, relays_of(observed)
    phase = _phase(observed, outcome, relays)
    return PortalExposeStatus(
        phase=phase,
        public_url=public_url(spec.app.name, spec.relay.targets[0]) if spec.relay.targets else "",
        tunnel_pods=TunnelPods(ready=observed.ready, total=observed.total),
        relay=RelayStatus(connected=relays),
        observed_generation=observed.expose.metadata.generation,
        tunnel_class_name=observed.tunnel_class.metadata.name if observed.tunnel_class else "",
        conditions=conditions(observed, outcome, relays, phase),
    )


def _phase(observed: Observed, outcome: Outcome, relays: tuple[RelayConnection, ...]) -> Phase:
    before, result = observed.expose.status or PortalExposeStatus(), outcome.result
    if result is OperationResult.REFUSED and not outcome.creating and before.phase:
        return before.phase
    available = condition_of(before.conditions, "Available")
    unblocked = available is not None and available.reason in BLOCKING
    changed = before.observed_generation != observed.expose.metadata.generation
    observation = Observation(
        blocked=result in (OperationResult.NONE, OperationResult.CONFLICT),
        ready=observed.ready,
        total=observed.total,
        connected=sum(relay.status == "Connected" for relay in relays),
        relays=len(relays),
        overdue=overdue(observed.deployment) and result is OperationResult.UNCHANGED,
        unheard=observed.unheard,
        afresh=unblocked or changed,
        created=result
        in (OperationResult.CREATED, OperationResult.REFUSED, OperationResult.WAITING),
    )
    return step(before.phase, observation)
