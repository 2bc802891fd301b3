"""A job waits ten seconds after a failure, and twice as long after each further one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quintant.api.meta import Condition
from quintant.api.pod import ContainerState, ContainerStateTerminated
from quintant.cluster.controllers.job.backoff import finish_time, remaining_backoff
from quintant.cluster.controllers.pods.views import (
    PodState,
    PodStateContainerStatus,
    PodStateStatus,
)
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ended(seconds: float) -> PodState:
    """A pod whose container ended so long ago."""
    at = timestamp(NOW - timedelta(seconds=seconds))
    state = ContainerState(terminated=ContainerStateTerminated(exit_code=1, finished_at=at))
    return PodState(
        status=PodStateStatus(container_statuses=(PodStateContainerStatus(state=state),))
    )


@pytest.mark.parametrize(
    ("failed", "wait"),
    [((), 0), ((0,), 10), ((4,), 6), ((11,), 0), ((9, 0), 20), ((9, 5, 0), 40), ((1,) * 99, 599)],
)
def test_patience_doubles_up_to_ten_minutes(failed: tuple[int, ...], wait: float) -> None:
    assert remaining_backoff((), [ended(each) for each in failed], NOW) == wait


def test_success_makes_up_for_the_failures_before_it() -> None:
    assert remaining_backoff([ended(5)], [ended(9), ended(8)], NOW) == 0
    assert remaining_backoff([ended(5)], [ended(9), ended(2)], NOW) == 8


def test_end_of_a_pod_is_told_by_whatever_tells_it() -> None:
    created = ObjectMeta(creation_timestamp=timestamp(NOW))
    assert finish_time(PodState(metadata=created)) == NOW
    going = ObjectMeta(
        deletion_timestamp=timestamp(NOW), deletion_grace_period_seconds=30,
        creation_timestamp=timestamp(NOW),
    )  # fmt: skip
    assert finish_time(PodState(metadata=going)) == NOW - timedelta(seconds=30)
    unready = Condition(type="Ready", status="False", last_transition_time=timestamp(NOW))
    assert (
        finish_time(PodState(metadata=going, status=PodStateStatus(conditions=(unready,)))) == NOW
    )
