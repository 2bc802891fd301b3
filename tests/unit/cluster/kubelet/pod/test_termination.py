"""When a pod has to end: never later than it was told before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quintant.api.pod import Pod, PodSpec
from quintant.cluster.kubelet.container.lifecycle import Moment
from quintant.cluster.kubelet.pod.plan import Termination
from quintant.cluster.kubelet.pod.termination import (
    DEADLINE_EXCEEDED,
    FORCED_SECONDS,
    forced_termination,
    termination_for,
)
from quintant.core.object import ObjectMeta

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> Moment:
    return Moment(START + timedelta(seconds=seconds), seconds)


def pod(grace: int | None = None, **spec: int) -> Pod:
    meta = ObjectMeta(
        name="a",
        deletion_timestamp=None if grace is None else "2026-01-01T00:00:00Z",
        deletion_grace_period_seconds=grace,
    )
    return Pod(metadata=meta, spec=PodSpec(**spec))  # type: ignore[arg-type]


def test_a_pod_that_nobody_deletes_goes_on() -> None:
    assert termination_for(pod(), None, START, at(1000)) is None


def test_a_deletion_counts_from_when_it_was_seen() -> None:
    first = termination_for(pod(30), None, START, at(5))
    assert first == Termination(35.0, 30)
    assert termination_for(pod(30), first, START, at(20)) == first


def test_a_shorter_grace_makes_it_sooner_and_a_longer_one_does_not() -> None:
    first = termination_for(pod(30), None, START, at(0))
    assert termination_for(pod(2), first, START, at(10)) == Termination(12.0, 2)
    assert termination_for(pod(60), first, START, at(10)) == first
    late = termination_for(pod(29), first, START, at(20))
    assert late is not None
    assert late.until == 30.0


def test_a_pod_whose_time_is_up_is_told_why_and_keeps_the_reason() -> None:
    limited = pod(None, active_deadline_seconds=10, termination_grace_period_seconds=4)
    assert termination_for(limited, None, START, at(9)) is None
    told = termination_for(limited, None, START, at(10))
    assert told == Termination(14.0, 4, *DEADLINE_EXCEEDED)
    assert termination_for(pod(1), told, START, at(11)) == Termination(12.0, 1, *DEADLINE_EXCEEDED)


def test_who_is_gone_by_force_gets_two_seconds_at_most() -> None:
    assert forced_termination(pod(), None, at(0)) == Termination(FORCED_SECONDS, FORCED_SECONDS)
    assert (
        forced_termination(pod(None, termination_grace_period_seconds=1), None, at(0)).until == 1.0
    )
    assert forced_termination(pod(), Termination(1.0, 1.0), at(0)) == Termination(1.0, 1.0)
