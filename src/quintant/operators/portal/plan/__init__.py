"""What to do about a PortalExpose: its children first, then what follows from them. Pure.

Observed ──> children ──act──> Outcome ──> plan ──> Conclusion: status, events, when to look again
"""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.meta import condition_of
from quintant.core.clock import find_timestamp
from quintant.operators.portal.api import PortalExposeStatus
from quintant.operators.portal.builders import deployment
from quintant.operators.portal.observed import HEARING_SECONDS, Observed, OperationResult, Outcome
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan.events import status_events
from quintant.operators.portal.plan.status import status_of
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

# After a write to the Deployment; watches usually are faster.
_SOON_SECONDS = 1.0
# When a first word has not come: a moment after it should have.
_MISSED_SECONDS = HEARING_SECONDS + 0.1
# While the Deployment of an earlier namesake goes away.
_WAIT_SECONDS = 2.0
# While a relay is not connected: as long again as it has been so, within these bounds, which
# doubles. The tunnels themselves try again on their own, and report it.
_RELAY_SECONDS, _RELAY_CAP_SECONDS = 5.0, 300.0


def children(observed: Observed, options: Options) -> tuple[Deployment, ...]:
    """The children that there should be; none is taken away while something is missing."""
    if observed.blocked or observed.service is None or observed.tunnel_class is None:
        return ()
    return (deployment(observed.expose, observed.tunnel_class, observed.service, options.tunnels),)


def plan(observed: Observed, outcome: Outcome, options: Options) -> Conclusion[PortalExposeStatus]:
    """What follows from what was read, and from what became of the children."""
    status = status_of(observed, outcome)
    events = tuple(status_events(observed, outcome, status))
    again = _again(observed, outcome, status, options.status_check_interval)
    return Conclusion(status, events=events, again=again, error=outcome.error)


def _again(
    observed: Observed, outcome: Outcome, status: PortalExposeStatus, interval: float
) -> Result | None:
    match outcome.result:
        case OperationResult.CREATED | OperationResult.UPDATED | OperationResult.CORRECTED:
            return Result(after=_SOON_SECONDS)
        case OperationResult.WAITING:
            return Result(after=_WAIT_SECONDS)
        case OperationResult.NONE | OperationResult.CONFLICT:
            return None
    pods, relays = status.tunnel_pods, status.relay.connected if status.relay else ()
    waits = [_MISSED_SECONDS] if observed.unheard else []
    if pods is None or (pods.ready or 0) < (pods.total or 0):
        waits.append(interval)
    if any(relay.status != "Connected" for relay in relays):
        waits.append(_patience(observed, status))
    return Result(after=min(waits)) if waits else None


def _patience(observed: Observed, status: PortalExposeStatus) -> float:
    condition = condition_of(status.conditions, "RelayConnected")
    moment = condition.last_transition_time if condition is not None else None
    since = (find_timestamp(moment) if moment else None) or observed.now
    passed = (observed.now - since).total_seconds()
    return min(max(passed, _RELAY_SECONDS), _RELAY_CAP_SECONDS)
