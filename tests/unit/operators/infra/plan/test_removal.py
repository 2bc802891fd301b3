"""What may be done to an infrastructure that is to go, and to a duplicate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quintant.core import codec
from quintant.core.clock import timestamp
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
)
from quintant.operators.infra.observed.cluster import Observed
from quintant.operators.infra.plan.decision import Action
from quintant.operators.infra.plan.removal import (
    LAUNCH_PAUSE,
    Removal,
    delete_duplicate,
    removal,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GRACE = 600.0
EMPTY = InfrastructureState(InfrastructureWord.PENDING)
LISTED = InfrastructureState(InfrastructureWord.PENDING, {"0": "pending"})
GOING = InfrastructureState(InfrastructureWord.DELETING)
GONE = Failure(ErrorClass.NOT_FOUND, "NotFound", "no such infrastructure", 404)


@pytest.mark.parametrize(
    ("state", "age", "expected"),
    [
        (EMPTY, 1.0, Removal.WAIT),
        (EMPTY, GRACE, Removal.RISK),
        (LISTED, 1.0, Removal.DELETE),
        (InfrastructureState(InfrastructureWord.CONFIGURED), 1.0, Removal.DELETE),
        (GOING, 1.0, Removal.GOING),
    ],
)
def test_nothing_is_deleted_that_may_be_about_to_launch(
    state: InfrastructureState, age: float, expected: Removal
) -> None:
    assert removal(state, age, GRACE) is expected


def observed(state: Any, age: float = 1.0) -> Observed:
    """A Cluster with two duplicates, the first of which is in this state."""
    created = timestamp(NOW - timedelta(seconds=age))
    status = {"clusterID": "inf-1", "created": created, "duplicates": ["inf-2", "inf-3"]}
    body = {"metadata": {"name": "one", "namespace": "default"}, "spec": {}, "status": status}
    return Observed(codec.decode(Cluster, codec.encode(body)), NOW, state=state)


def test_duplicate_is_deleted_by_its_own_id() -> None:
    act = delete_duplicate(observed(LISTED)).act
    assert act is not None
    assert (act.action, act.target) == (Action.DELETE, "inf-2")


def test_duplicate_that_is_gone_leaves_the_record() -> None:
    assert delete_duplicate(observed(GONE)).change.fields == {"duplicates": ("inf-3",)}


@pytest.mark.parametrize("state", [EMPTY, GOING])
def test_duplicate_that_may_launch_or_is_going_is_waited_for(state: InfrastructureState) -> None:
    decision = delete_duplicate(observed(state))
    assert decision.act is None
    assert decision.after == LAUNCH_PAUSE


def test_duplicate_that_never_listed_a_machine_is_deleted_with_a_warning() -> None:
    decision = delete_duplicate(observed(EMPTY, 2 * GRACE))
    assert decision.act is not None
    assert [each.reason for each in decision.events] == ["PossibleLeak"]
