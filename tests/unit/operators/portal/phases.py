"""PortalExposes and TunnelClasses as each phase leaves them behind."""

from __future__ import annotations

from typing import Any

from quintant.core.errors import Cause
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import PortalExpose, TunnelClass, TunnelClassSpec
from quintant.operators.portal.observed import OperationResult, Outcome
from quintant.operators.portal.plan.status import status_of
from quintant.operators.portal.tunnel_class.plan import plan
from testbeds.kstatus import PhaseRecord
from unit.operators.portal.observations import (
    NOW,
    deployed,
    exposing,
    observed,
    overdue,
    pod,
    report,
)

Result = OperationResult
BEFORE = status_of(observed(), Outcome(Result.UNCHANGED))
"""Of one that was Ready."""


def exposed(result: OperationResult = Result.UNCHANGED, **changes: Any) -> PortalExpose:
    """What is said of a PortalExpose after a pass that ended so."""
    outcome = Outcome(result, message="it is so", creating=changes.pop("creating", False))
    seen = observed(**changes)
    return replace(seen.expose, status=status_of(seen, outcome))


def classed(replicas: int) -> TunnelClass:
    """What is said of a TunnelClass."""
    spec = TunnelClassSpec(replicas=replicas, size="small")
    given = TunnelClass(metadata=ObjectMeta(name="small", generation=2), spec=spec)
    return replace(given, status=plan(given, [given], NOW).status)


WRONG = (Cause(field="spec.app.name", message="it is no name"),)
STARTING = (pod("p", ready=False), pod("q", ready=False))
PHASES = (
    PhaseRecord(
        "Pending-created",
        exposed(Result.CREATED, existing=None, pods=(), reports={}),
        "InProgress",
    ),
    PhaseRecord("Pending-starting", exposed(pods=STARTING, reports={}), "InProgress"),
    PhaseRecord("Ready", exposed(), "Current"),
    PhaseRecord("Ready-again", exposed(expose=exposing(exposed(pods=STARTING).status)), "Current"),
    PhaseRecord("Ready-updating", exposed(Result.UPDATED), "InProgress"),
    PhaseRecord(
        "Ready-rolling", exposed(existing=deployed(updated_replicas=1, replicas=3)), "InProgress"
    ),
    PhaseRecord(
        "Ready-update-refused", exposed(Result.REFUSED, expose=exposing(BEFORE)), "InProgress"
    ),
    PhaseRecord(
        "Degraded",
        exposed(reports={"p": report("a", down="b"), "q": report("a", down="b")}),
        "InProgress",
        "Degraded",
    ),
    PhaseRecord(
        "Failed-tunnels-gone",
        exposed(expose=exposing(BEFORE), pods=STARTING, reports={}),
        "InProgress",
    ),
    PhaseRecord("Failed-overdue", exposed(existing=overdue(), pods=STARTING, reports={}), "Failed"),
    PhaseRecord("Failed-invalid-spec", exposed(Result.NONE, errors=WRONG), "Failed"),
    PhaseRecord("Failed-invalid-class", exposed(Result.NONE, class_errors=WRONG), "Failed"),
    PhaseRecord("Failed-token", exposed(Result.NONE, unshared=("Secret a",)), "Failed"),
    PhaseRecord("Failed-conflict", exposed(Result.CONFLICT, existing=None), "Failed"),
    PhaseRecord("Failed-no-service", exposed(Result.NONE, service=None), "InProgress"),
    PhaseRecord("Failed-no-class", exposed(Result.NONE, tunnel_class=None), "InProgress"),
    PhaseRecord("Valid", classed(1), "Current"),
    PhaseRecord("Invalid", classed(0), "Failed"),
)
