"""Whether the service that takes telemetry is wanted, and how it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from quintant.api.apps import Deployment
from quintant.api.meta import ConditionClaim, set_conditions
from quintant.core.object import Object
from quintant.operators.shifu.api.names import MANAGED_BY, MANAGER
from quintant.operators.shifu.api.telemetry import TelemetryService, TelemetryServiceStatus
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.kstatus import READY, reconciling, with_kstatus
from quintant.runtime.reconcile.result import Result
from quintant.wire.shifu import BadAddress, broker_name

LOOK_SECONDS = 30.0
"""Between two looks at the Deployment, which we may get but not watch."""
SOON_SECONDS = 2.0
PENDING, RUNNING, FAILED = "Pending", "Running", "Failed"
KSTATUS = (reconciling(READY, "False", PENDING),)
MESSAGES = {
    PENDING: "the service that takes telemetry is being made",
    RUNNING: "the service that takes telemetry is up",
    FAILED: "no pod of the service that takes telemetry is available",
}


@dataclass(frozen=True, slots=True)
class TelemetryPlan:
    """What is to be done."""

    wanted: bool
    phase: str = PENDING
    """Of every TelemetryService."""
    again: Result | None = None


def plan(services: Sequence[TelemetryService], existing: Deployment | None) -> TelemetryPlan:
    """What follows from all TelemetryServices, and the Deployment that there is."""
    if not services:
        return TelemetryPlan(False)
    if existing is None:
        return TelemetryPlan(True, PENDING, Result(after=SOON_SECONDS))
    if existing.status.available_replicas > 0:
        return TelemetryPlan(True, RUNNING, Result(after=LOOK_SECONDS))
    return TelemetryPlan(True, FAILED, Result(after=SOON_SECONDS))


def conclude(
    service: TelemetryService, decided: TelemetryPlan, now: datetime
) -> Conclusion[TelemetryServiceStatus]:
    """What is said of one TelemetryService."""
    before = service.status or TelemetryServiceStatus()
    phase, generation = decided.phase, service.metadata.generation
    claims = (ConditionClaim(READY, phase == RUNNING, phase, MESSAGES[phase]),)
    found = set_conditions(before.conditions, claims, generation=generation, now=now)
    found = with_kstatus(found, KSTATUS, generation=generation, now=now)
    status = TelemetryServiceStatus(phase=phase, observed_generation=generation, conditions=found)
    return Conclusion(status, again=decided.again)


def conclude_upstream(decided: TelemetryPlan) -> Conclusion[TelemetryServiceStatus]:
    """The same where upstream's definition is installed, which has nothing but the phase."""
    return Conclusion(TelemetryServiceStatus(phase=decided.phase), again=decided.again)


def named_brokers(services: Sequence[TelemetryService]) -> tuple[str, ...]:
    """The brokers that TelemetryServices name, as they are listed; what is no address is not."""
    found = set[str]()
    for each in services:
        settings = each.spec.service_settings
        address = settings.mqtt.server_address if settings and settings.mqtt else ""
        with suppress(BadAddress):
            found.add(broker_name(address))
    return tuple(sorted(each for each in found if "," not in each))


def is_ours(existing: Object) -> bool:
    """Whether we made it: upstream's own controller, and users, have theirs under the same name."""
    return existing.metadata.labels.get(MANAGED_BY) == MANAGER
