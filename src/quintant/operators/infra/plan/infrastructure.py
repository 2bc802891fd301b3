"""What a status shows of an infrastructure, its machines and the last errors. Pure."""

from __future__ import annotations

from quintant.core.clock import timestamp
from quintant.core.object import replace as changed
from quintant.operators.infra.api.cluster_status import InfrastructureStatus, LastError, Machine
from quintant.operators.infra.observed.answers import Failure, InfrastructureState
from quintant.operators.infra.observed.cluster import Observed
from quintant.operators.infra.plan.verdict import wanted_by
from quintant.wire.digits import parse_digits

ERRORS_KEPT = 5


def infrastructure_status(observed: Observed, state: InfrastructureState) -> InfrastructureStatus:
    """What a status shows of an infrastructure; equal to what it shows if that is still so."""
    before = observed.status.infrastructure or InfrastructureStatus()
    known = {each.id: each for each in before.vms}
    vms = []
    for id, word in sorted(state.machines.items(), key=_numerical):
        details = (observed.details or {}).get(id)
        name = details.name if details else known[id].name if id in known else ""
        addresses = details.addresses if details else known[id].addresses if id in known else ()
        vms.append(Machine(id=id, name=name, state=word, addresses=addresses))
    message = observed.log or (before.message if state.settled.value == before.state else "")
    current = InfrastructureStatus(
        state=state.settled.value, last_observed=before.last_observed, wanted=wanted_by(observed),
        vms=tuple(vms), message=message,
    )  # fmt: skip
    return before if current == before else changed(current, last_observed=timestamp(observed.now))


def with_error(observed: Observed, failure: Failure) -> tuple[LastError, ...]:
    """The last errors, with one more if it is another than the last one."""
    known = observed.status.last_errors
    operation = observed.status.operation
    error = LastError(
        time=timestamp(observed.now),
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
    return (parse_digits(item[0]) or 0, item[0])
