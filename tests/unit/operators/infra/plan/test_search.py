"""What is looked for when the id of an infrastructure is not known."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from quintant.core import codec
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.cluster import Observed
from quintant.operators.infra.observed.marks import InfrastructureMarks
from quintant.operators.infra.plan.search import perhaps_created, sought_marks

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def observed(operation: dict[str, Any] | None, *, deleting: bool = False) -> Observed:
    meta = {"name": "one", "namespace": "default", "uid": "u-1"}
    if deleting:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    body = {"metadata": meta, "spec": {}, "status": {"operation": operation}}
    return Observed(codec.decode(Cluster, codec.encode(body)), NOW, instance="us")


def operation(type: str, **fields: Any) -> dict[str, Any]:
    return {"type": type, "phase": "Prepared", **fields}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, False),
        (operation("Create", token="t"), False),
        (operation("Create", token="t", lastAttemptAt="2026-01-01T00:00:00Z"), True),
        (operation("Update"), True),
        (operation("Delete", token="inf-1"), True),
    ],
)
def test_infrastructure_may_be_there(given: Any, expected: bool) -> None:
    assert perhaps_created(observed(given)) is expected


def test_request_is_looked_for_by_its_token_and_by_the_mark_of_its_cluster() -> None:
    for deleting in (False, True):
        marks = sought_marks(observed(operation("Create", token="t"), deleting=deleting))
        assert marks == InfrastructureMarks("t", "u-1", "us")


def test_record_of_anything_else_has_no_token_that_is_looked_for() -> None:
    going = sought_marks(observed(operation("Delete", token="inf-1"), deleting=True))
    assert going == InfrastructureMarks("", "u-1", "us")
