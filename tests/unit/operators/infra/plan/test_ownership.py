"""Which infrastructures may be claimed for a Cluster."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core import codec
from quintant.operators.infra.api import INFRASTRUCTURE, Cloud, Cluster, InfrastructureProvider
from quintant.operators.infra.api.cluster_status import CloudBinding
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import Binding, Holding, Observed
from quintant.operators.infra.observed.marks import InfrastructureMarks
from quintant.operators.infra.plan import plan, question
from quintant.operators.infra.plan.ownership import has_right, prove
from testbeds.infra import template

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OURS = Holding("default/one", "u-1", True)
OTHERS = Holding("far/two", "u-2", True)
GONE = Holding("far/two", "u-2", False)


def made(kind: Any, spec: dict[str, Any]) -> Any:
    body = {"metadata": {"name": "x", "namespace": "default"}, "spec": spec}
    return codec.decode(kind, codec.encode(body))


BINDING = Binding(
    made(Cloud, {"type": "dummy", "providerRef": {"name": "im"}}),
    made(
        InfrastructureProvider,
        {"type": "im", "im": {"url": "http://im", "credentialsSecretRef": {"name": "s"}}},
    ),
    CloudBinding(kind="Cloud", name="here"),
    "f-1",
)


def observed(noted: str = "", going: bool = False, **rest: Any) -> Observed:
    """A Cluster whose status names inf-1."""
    meta: dict[str, Any] = {"name": "one", "namespace": "default", "uid": "u-1"}
    meta["annotations"] = {INFRASTRUCTURE: noted} if noted else {}
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    status = {"clusterID": "inf-1", "operation": rest.pop("operation", None)}
    spec = {"tosca": template(), **rest.pop("spec", {})}
    body = {"metadata": meta, "spec": spec, "status": status}
    cluster = codec.decode(Cluster, codec.encode(body))
    return replace(Observed(cluster, NOW, binding=BINDING, instance="us"), **rest)


ADOPTS = {"spec": {"adoptInfrastructureID": "inf-1"}}
CREATES = {"operation": {"type": "Create", "phase": "Prepared", "token": "t-1"}}
DELETES = {"operation": {"type": "Delete", "phase": "Prepared", "token": "t-1"}}


@pytest.mark.parametrize(
    ("given", "marks", "expected"),
    [
        ({}, InfrastructureMarks("t-0", "u-1", "us"), True),
        ({}, InfrastructureMarks("u-1"), True),
        (CREATES, InfrastructureMarks("t-1"), True),
        (DELETES, InfrastructureMarks("t-1"), False),
        ({}, InfrastructureMarks("", "u-1", "others"), False),
        ({}, InfrastructureMarks("", "u-2", "us"), False),
        ({}, InfrastructureMarks(), False),
        (ADOPTS, InfrastructureMarks("", "u-9", "others"), True),
        ({"noted": "inf-1"}, InfrastructureMarks("", "u-0", "us"), True),
        ({"noted": "inf-1"}, InfrastructureMarks("", "u-0", "others"), False),
        ({"noted": "inf-1"}, InfrastructureMarks(), True),
        ({"noted": "inf-2"}, InfrastructureMarks(), False),
        ({}, InfrastructureMarks("t-5", name="default.one--t-5"), True),
        ({}, InfrastructureMarks("t-5", name="default.one-two--t-5"), False),
        ({}, InfrastructureMarks("", "u-2", "us", name="default.one--t-5"), False),
    ],
)
def test_right_to_an_infrastructure(
    given: dict[str, Any], marks: InfrastructureMarks, expected: bool
) -> None:
    assert has_right(observed(**given), "inf-1", marks) is expected


def test_what_is_ours_needs_no_proof_and_what_is_anothers_has_none() -> None:
    assert prove(observed(holdings={"inf-1": OURS})) is None
    marks = InfrastructureMarks("", "u-1", "us")
    refused = prove(observed(holdings={"inf-1": OTHERS}, marks=marks))
    assert refused is not None
    assert [each.reason for each in refused.change.claims] == ["AlreadyManaged"]
    taken = prove(observed(holdings={"inf-1": GONE}, marks=marks))
    assert taken is not None
    assert taken.claims_id == "inf-1"


HOLDINGS = st.sampled_from([None, OTHERS, GONE])
MARKS = st.sampled_from([
    None, InfrastructureMarks(), InfrastructureMarks("x", "u-2", "us", "far.two--x"),
    Failure(ErrorClass.NOT_FOUND, "NotFound", ""), Failure(ErrorClass.TRANSIENT, "Down", ""),
])  # fmt: skip
TYPES = st.sampled_from(["Create", "Update", "Reconfigure", "Delete"])
PHASES = st.sampled_from(["Prepared", "Submitted", "Verifying", "Waiting"])
STATES = st.sampled_from([
    None, Failure(ErrorClass.NOT_FOUND, "NotFound", ""),
    *(InfrastructureState(each, {"0": each.value}) for each in InfrastructureWord),
])  # fmt: skip


@given(HOLDINGS, MARKS, TYPES, PHASES, STATES, st.booleans())
def test_nothing_is_asked_for_about_what_is_not_claimed(
    holding: Any, marks: Any, type: str, phase: str, state: Any, going: bool
) -> None:
    operation = {"type": type, "phase": phase, "token": "inf-1", "attempt": 1}
    given = observed(going=going, operation=operation, marks=marks, state=state)
    given = replace(given, holdings={"inf-1": holding} if holding else {})
    wanted = question(given)
    assert wanted is None or wanted.name == "MARKS"
    assert plan(given, "t-9").act is None
