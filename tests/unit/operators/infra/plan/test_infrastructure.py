"""What a status shows of an infrastructure, and which errors it keeps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from quintant.core import codec
from quintant.core.object import replace as changed
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
    MachineDetails,
)
from quintant.operators.infra.observed.cluster import Observed
from quintant.operators.infra.plan.infrastructure import (
    ERRORS_KEPT,
    infrastructure_status,
    with_error,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)
STATE = InfrastructureState(InfrastructureWord.CONFIGURED, {"10": "configured", "2": "configured"})
OBSERVED = Observed(
    codec.decode(Cluster, codec.encode({"metadata": {"name": "one"}, "spec": {}, "status": {}})),
    NOW,
)


def after(observed: Observed, **status: object) -> Observed:
    """The same half a minute later, with these fields written."""
    written = changed(observed.status, **status)
    return replace(observed, now=LATER, cluster=changed(observed.cluster, status=written))


def test_machines_are_listed_by_number() -> None:
    assert [each.id for each in infrastructure_status(OBSERVED, STATE).vms] == ["2", "10"]


def test_machines_whose_numbers_are_none_come_first() -> None:
    words = dict.fromkeys(["7", "\xb2", "9" * 5000], "configured")
    state = InfrastructureState(InfrastructureWord.CONFIGURED, words)
    listed = [each.id for each in infrastructure_status(OBSERVED, state).vms]
    assert listed == ["9" * 5000, "\xb2", "7"]


def test_status_stays_the_same_while_nothing_changes() -> None:
    first = infrastructure_status(OBSERVED, STATE)
    assert infrastructure_status(after(OBSERVED, infrastructure=first), STATE) is first


def test_names_and_addresses_stay_known() -> None:
    details = {"2": MachineDetails("front", ("10.0.0.1",))}
    first = infrastructure_status(replace(OBSERVED, details=details), STATE)
    stopped = InfrastructureState(InfrastructureWord.STOPPED, {"2": "stopped"})
    [front] = infrastructure_status(after(OBSERVED, infrastructure=first), stopped).vms
    assert (front.name, front.state, front.addresses) == ("front", "stopped", ("10.0.0.1",))


def test_message_of_a_state_goes_with_the_state() -> None:
    failed = InfrastructureState(InfrastructureWord.UNCONFIGURED)
    first = infrastructure_status(replace(OBSERVED, log="task failed"), failed)
    observed = after(OBSERVED, infrastructure=first)
    assert infrastructure_status(observed, failed).message == "task failed"
    assert infrastructure_status(observed, STATE).message == ""


def test_same_error_is_kept_once_and_only_the_last_few_are() -> None:
    failure = Failure(ErrorClass.INTERNAL, "InternalError", "oops", 500)
    once = with_error(OBSERVED, failure)
    assert with_error(after(OBSERVED, last_errors=once), failure) == once
    observed = OBSERVED
    for number in range(ERRORS_KEPT + 2):
        errors = with_error(observed, replace(failure, message=f"oops {number}"))
        observed = after(observed, last_errors=errors)
    assert [each.message for each in observed.status.last_errors] == [
        f"oops {number}" for number in range(2, ERRORS_KEPT + 2)
    ]
