"""Which call an action is, by what is on record."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from quintant.core import codec
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.builders import CREATE_TOKEN, OWNER
from quintant.operators.infra.observed.cluster import CallKind, LongCallId, Observed
from quintant.operators.infra.plan.decision import (
    LEAST_SECONDS,
    Act,
    Action,
    PassDecision,
    ProviderMethod,
    backoff,
    note,
    provider_call,
)
from quintant.operators.infra.plan.status import StatusChange
from testbeds.infra import template

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = {"type": "Create", "phase": "Prepared", "token": "t-1", "hash": "h-1", "attempt": 3}


def observed(**spec: Any) -> Observed:
    """A Cluster with an infrastructure and an operation on record."""
    body = {
        "metadata": {"name": "one", "namespace": "default", "uid": "u-1"},
        "spec": {"tosca": template(), **spec},
        "status": {"clusterID": "inf-1", "operation": RECORD},
    }
    return Observed(codec.decode(Cluster, codec.encode(body)), NOW, instance="here")


def test_waits_double_up_to_the_longest_however_many_attempts_there_were() -> None:
    waits = [backoff(attempt, 5.0, 30.0) for attempt in (-1, 0, 1, 2, 3, 4, 1025, 10**18)]
    assert waits == [5, 5, 5, 10, 20, 30, 30, 30]


def test_what_is_created_can_be_found_by_the_token_on_record() -> None:
    call = provider_call(observed(), Act(Action.CREATE))
    assert call.method is ProviderMethod.CREATE
    assert call.template["metadata"][CREATE_TOKEN] == "t-1"
    assert call.template["metadata"][OWNER] == "here"
    assert call.id is None


def test_calls_are_about_the_infrastructure_of_the_cluster() -> None:
    again = provider_call(observed(), Act(Action.RECONFIGURE))
    assert (again.method, again.infrastructure) == (ProviderMethod.RECONFIGURE, "inf-1")
    replaced = provider_call(observed(), Act(Action.REPLACE, machines=("2",)))
    assert (replaced.infrastructure, replaced.machines) == ("inf-1", ("2",))
    deleted = provider_call(observed(), Act(Action.DELETE, force=True))
    assert (deleted.infrastructure, deleted.force) == ("inf-1", True)


def test_one_that_should_not_be_is_deleted_by_its_own_id() -> None:
    call = provider_call(observed(), Act(Action.DELETE, target="inf-2"))
    assert call.infrastructure == "inf-2"


@pytest.mark.parametrize(
    ("kind", "method", "hash"),
    [
        (CallKind.DRY_RUN, ProviderMethod.PLAN, "h-1"),
        (CallKind.UPDATE, ProviderMethod.UPDATE, "h-1"),
        (CallKind.DELETE, ProviderMethod.DELETE_NOW, "t-1"),
    ],
)
def test_long_call_has_an_id_of_its_attempt(
    kind: CallKind, method: ProviderMethod, hash: str
) -> None:
    call = provider_call(observed(), Act(Action.LONG_CALL, call=kind))
    assert call.method is method
    assert call.id == LongCallId(kind, hash, 3)


def test_long_call_may_take_what_the_spec_says_and_never_less_than_a_minute() -> None:
    act = Act(Action.LONG_CALL, call=CallKind.UPDATE)
    assert provider_call(observed(), act).seconds == 3600.0
    assert provider_call(observed(timeouts={"update": "1s"}), act).seconds == LEAST_SECONDS


def test_decision_says_which_operation_it_ends() -> None:
    operation = observed().status.operation
    assert PassDecision().ended(operation) is None
    assert PassDecision(StatusChange({"operation": operation})).ended(operation) is None
    assert PassDecision(StatusChange({"operation": None})).ended(operation) == operation
    assert PassDecision(StatusChange({"operation": None})).ended(None) is None


def test_decision_with_an_event_adopted_adopts() -> None:
    assert PassDecision(events=(note("Adopted", "found"),)).adopts
    assert not PassDecision(events=(note("Created", "made"),)).adopts
