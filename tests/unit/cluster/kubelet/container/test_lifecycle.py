"""A container's life: what each event makes of it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.kubelet.container.lifecycle import (
    LAST_SECONDS,
    ContainerLifecycle,
    LifecycleState,
    Moment,
    step,
)
from quintant.cluster.kubelet.container.lifecycle_events import (
    Exited,
    ImageChanged,
    Killed,
    LifecycleEvent,
    Probed,
    ProbeType,
    Restarting,
    RetryNow,
    Signalled,
    Started,
    StartFailed,
    StopRequested,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> Moment:
    return Moment(START + timedelta(seconds=seconds), seconds)


def lived(*events: LifecycleEvent, now: float = 0.0) -> ContainerLifecycle:
    lifecycle = ContainerLifecycle()
    for event in events:
        lifecycle = step(lifecycle, event, at(now))
    return lifecycle


def test_a_container_without_probes_is_up_and_ready_when_it_runs() -> None:
    lifecycle = lived(Started("1"))
    assert (lifecycle.state, lifecycle.started, lifecycle.ready) == (
        LifecycleState.RUNNING,
        True,
        True,
    )


def test_a_startup_probe_comes_first_then_readiness() -> None:
    lifecycle = lived(Started("1", up=False, ready=False))
    assert not lifecycle.started
    lifecycle = step(lifecycle, Probed(ProbeType.READINESS, True), at(0))
    assert not lifecycle.ready, "not up yet"
    lifecycle = step(lifecycle, Probed(ProbeType.STARTUP, True, ready=False), at(0))
    assert (lifecycle.started, lifecycle.ready) == (True, False)
    assert step(lifecycle, Probed(ProbeType.READINESS, True), at(0)).ready


def test_only_failed_liveness_and_startup_make_a_container_unwell() -> None:
    lifecycle = lived(Started("1"))
    assert step(lifecycle, Probed(ProbeType.READINESS, False), at(0)).failed_probe is None
    assert (
        step(lifecycle, Probed(ProbeType.LIVENESS, False), at(0)).failed_probe is ProbeType.LIVENESS
    )
    assert step(lifecycle, Probed(ProbeType.LIVENESS, True), at(0)).failed_probe is None


def test_the_shortest_deadline_counts() -> None:
    lifecycle = lived(Started("1"), StopRequested(30.0), StopRequested(5.0), StopRequested(60.0))
    assert (lifecycle.state, lifecycle.deadline, lifecycle.stop_until) == (
        LifecycleState.STOPPING,
        5.0,
        5.0,
    )


def test_a_late_signal_leaves_some_seconds() -> None:
    lifecycle = step(lived(Started("1"), StopRequested(5.0)), Signalled(), at(5.0))
    assert lifecycle.deadline == 5.0 + LAST_SECONDS
    early = step(lived(Started("1"), StopRequested(50.0)), Signalled(), at(5.0))
    assert early.deadline == 50.0


def test_an_end_by_a_signal_is_told_as_a_shell_tells_it() -> None:
    ending = lived(Started("1"), Killed(), Exited(-9)).exit_status
    assert ending is not None
    assert (ending.code, ending.signal, ending.reason) == (137, 9, "Error")


def test_a_reason_that_is_known_wins() -> None:
    ending = lived(Started("1"), Exited(-9, reason="OOMKilled")).exit_status
    assert ending is not None
    assert ending.reason == "OOMKilled"


def test_the_incarnation_before_is_remembered_and_restarts_are_counted_at_the_start() -> None:
    lifecycle = lived(Started("1"), Exited(3), Restarting())
    assert (lifecycle.state, lifecycle.restarts) == (LifecycleState.WAITING, 0)
    lifecycle = step(lifecycle, Started("2"), at(1))
    assert (lifecycle.restarts, lifecycle.id) == (1, "2")
    assert lifecycle.last_exit is not None
    assert (lifecycle.last_exit.code, lifecycle.last_exit.id) == (3, "1")


def test_who_could_not_be_started_is_tried_again_later_or_when_nudged() -> None:
    lifecycle = lived(StartFailed("Why", "because"))
    assert (lifecycle.state, lifecycle.reason, lifecycle.not_before) == (
        LifecycleState.WAITING,
        "Why",
        10.0,
    )
    assert step(lifecycle, StartFailed("Why", "because"), at(10)).not_before == 30.0
    assert step(lifecycle, RetryNow(), at(1)).not_before == -math.inf
    assert step(lifecycle, Started("1"), at(10)).reason == ""


EVENTS = st.one_of(
    st.builds(Started, st.text(min_size=1, max_size=2), st.booleans(), st.booleans()),
    st.builds(StartFailed, st.just("Why"), st.just("because")),
    st.builds(Probed, st.sampled_from(ProbeType), st.booleans(), st.booleans()),
    st.builds(StopRequested, st.floats(0, 100)),
    st.just(Signalled()),
    st.just(ImageChanged()),
    st.just(Killed()),
    st.builds(Exited, st.integers(-15, 255)),
    st.just(Restarting()),
    st.just(RetryNow()),
)


@given(st.lists(st.tuples(EVENTS, st.floats(0, 1000)), min_size=1, max_size=30))
def test_whatever_happens_a_life_makes_sense(
    happenings: list[tuple[LifecycleEvent, float]],
) -> None:
    lifecycle, now = ContainerLifecycle(), 0.0
    for event, passed in happenings:
        now += passed
        before, lifecycle = lifecycle, step(lifecycle, event, at(now))
        assert not lifecycle.ready or (lifecycle.state.alive and lifecycle.started)
        assert (lifecycle.exit_status is not None) == (lifecycle.state is LifecycleState.ENDED)
        assert before.restarts <= lifecycle.restarts <= before.restarts + 1
        assert 0 <= lifecycle.backoff <= 300
        assert lifecycle.not_before <= now + 300
        assert lifecycle.deadline == math.inf or lifecycle.state is LifecycleState.STOPPING
