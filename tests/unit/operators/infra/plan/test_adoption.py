"""An infrastructure that is there becomes the Cluster's, and only one does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from quintant.core import codec
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import Observed
from quintant.operators.infra.plan.adoption import adopt, adopt_by_id, taken, wanted_hash
from testbeds.infra import template

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STATE = InfrastructureState(InfrastructureWord.CONFIGURED)


def observed(hash: str = "", **spec: Any) -> Observed:
    """A Cluster whose creation is on record, of the template with this hash."""
    operation = {"type": "Create", "phase": "Prepared", "token": "t-1", "hash": hash}
    body = {
        "metadata": {"name": "one", "namespace": "default", "uid": "u-1"},
        "spec": {"tosca": template(), **spec},
        "status": {"operation": operation},
    }
    return Observed(codec.decode(Cluster, codec.encode(body)), NOW)


def test_template_that_was_sent_is_known_to_be_applied() -> None:
    sent = observed(wanted_hash(observed()))
    fields = taken(sent, "inf-1", hash=wanted_hash(sent)).change.fields
    assert fields["cluster_id"] == "inf-1"
    assert fields["last_applied_hash"] == wanted_hash(sent)
    assert fields["operation"].phase == "Submitted"


def test_template_that_was_changed_meanwhile_is_not() -> None:
    fields = taken(observed("sha256:other"), "inf-1", hash="sha256:other").change.fields
    assert fields["last_applied_tosca"] is None
    assert fields["last_applied_hash"] == ""


def test_first_is_adopted_and_the_others_are_on_record_to_be_deleted() -> None:
    decision = adopt(observed(), "inf-1", ("inf-2",), hash="")
    assert decision.adopts
    assert decision.change.fields["cluster_id"] == "inf-1"
    assert decision.change.fields["duplicates"] == ("inf-2",)
    assert [each.reason for each in decision.events] == ["Adopted", "DuplicateInfrastructure"]


def test_infrastructure_is_taken_over_by_its_id() -> None:
    named = replace(observed(adoptInfrastructureID="inf-7"), state=STATE)
    decision = adopt_by_id(named)
    assert decision.adopts
    assert decision.change.fields["cluster_id"] == "inf-7"


def test_infrastructure_of_another_cluster_or_of_none_is_not_taken_over() -> None:
    named = observed(adoptInfrastructureID="inf-7")
    managed = adopt_by_id(replace(named, state=STATE, rivals=("default/two",)))
    assert [each.reason for each in managed.change.claims] == ["AlreadyManaged"]
    missing = Failure(ErrorClass.NOT_FOUND, "NotFound", "no such infrastructure", 404)
    unknown = adopt_by_id(replace(named, state=missing))
    assert [each.reason for each in unknown.change.claims] == ["InfrastructureNotFound"]
    assert not managed.adopts
    assert not unknown.adopts
