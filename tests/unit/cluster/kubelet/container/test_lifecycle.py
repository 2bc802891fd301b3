"""A container's life: what each event makes of it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.kubelet.container.lifecycle import (
    LAST_SECONDS,
    ContainerLifecycle,
    Moment,
    State,
    step,
)
from quintant.cluster.kubelet.container.lifecycle_events import (
    Asked,
    Check,
    Ended,
    Event,
    Killed,
    Nudged,
    Outdated,
    Probed,
    Refused,
    Renewed,
    Signalled,
    Started,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> Moment:
    return Moment(START + timedelta(seconds=seconds), seconds)


def lived(*events: Event, now: float = 0.0) -> ContainerLifecycle:
    life = ContainerLifecycle()
    for event in events:
        life = step(life, event, at(now))
    return life


def test_a_container_without_probes_is_up_and_ready_when_it_runs() -> None:
    life = lived(Started("1"))
    assert (life.state, life.started, life.ready) == (State.RUNNING, True, True)


def test_a_startup_probe_comes_first_then_readiness() -> None:
    life = lived(Started("1", up=False, ready=False))
    assert not life.started
    life = step(life, Probed(Check.READINESS, True), at(0))
    assert not life.ready, "not up yet"
    life = step(life, Probed(Check.STARTUP, True, ready=False), at(0))
    assert (life.started, life.ready) == (True, False)
    assert step(life, Probed(Check.READINESS, True), at(0)).ready


def test_only_failed_liveness_and_startup_make_a_container_unwell() -> None:
    life = lived(Started("1"))
    assert step(life, Probed(Check.READINESS, False), at(0)).unwell is None
    assert step(life, Probed(Check.LIVENESS, False), at(0)).unwell is Check.LIVENESS
    assert step(life, Probed(Check.LIVENESS, True), at(0)).unwell is None


def test_the_shortest_deadline_counts() -> None:
    life = lived(Started("1"), Asked(30.0), Asked(5.0), Asked(60.0))
    assert (life.state, life.deadline, life.asked) == (State.STOPPING, 5.0, 5.0)


def test_a_late_signal_leaves_some_seconds() -> None:
    life = step(lived(Started("1"), Asked(5.0)), Signalled(), at(5.0))
    assert life.deadline == 5.0 + LAST_SECONDS
    early = step(lived(Started("1"), Asked(50.0)), Signalled(), at(5.0))
    assert early.deadline == 50.0


def test_an_end_by_a_signal_is_told_as_a_shell_tells_it() -> None:
    ending = lived(Started("1"), Killed(), Ended(-9)).ending
    assert ending is not None
    assert (ending.code, ending.signal, ending.reason) == (137, 9, "Error")


def test_a_reason_that_is_known_wins() -> None:
    ending = lived(Started("1"), Ended(-9, reason="OOMKilled")).ending
    assert ending is not None
    assert ending.reason == "OOMKilled"


def test_the_incarnation_before_is_remembered_and_restarts_are_counted_at_the_start() -> None:
    life = lived(Started("1"), Ended(3), Renewed())
    assert (life.state, life.restarts) == (State.WAITING, 0)
    life = step(life, Started("2"), at(1))
    assert (life.restarts, life.id) == (1, "2")
    assert life.last is not None
    assert (life.last.code, life.last.id) == (3, "1")


def test_who_could_not_be_started_is_tried_again_later_or_when_nudged() -> None:
    life = lived(Refused("Why", "because"))
    assert (life.state, life.reason, life.again) == (State.WAITING, "Why", 10.0)
    assert step(life, Refused("Why", "because"), at(10)).again == 30.0
    assert step(life, Nudged(), at(1)).again == -math.inf
    assert step(life, Started("1"), at(10)).reason == ""


EVENTS = st.one_of(
    st.builds(Started, st.text(min_size=1, max_size=2), st.booleans(), st.booleans()),
    st.builds(Refused, st.just("Why"), st.just("because")),
    st.builds(Probed, st.sampled_from(Check), st.booleans(), st.booleans()),
    st.builds(Asked, st.floats(0, 100)),
    st.just(Signalled()),
    st.just(Outdated()),
    st.just(Killed()),
    st.builds(Ended, st.integers(-15, 255)),
    st.just(Renewed()),
    st.just(Nudged()),
)


@given(st.lists(st.tuples(EVENTS, st.floats(0, 1000)), max_size=30))
def test_whatever_happens_a_life_makes_sense(happenings: list[tuple[Event, float]]) -> None:
    life, now = ContainerLifecycle(), 0.0
    for event, passed in happenings:
        now += passed
        before, life = life, step(life, event, at(now))
        assert not life.ready or (life.state.alive and life.started)
        assert (life.ending is not None) == (life.state is State.ENDED)
        assert before.restarts <= life.restarts <= before.restarts + 1
        assert 0 <= life.backoff <= 300
        assert life.again <= now + 300
        assert life.deadline == math.inf or life.state is State.STOPPING
