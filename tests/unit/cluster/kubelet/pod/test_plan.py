"""What a pod needs next, whatever became of its containers."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from quintant.api.container import Container
from quintant.api.pod import PodSpec
from quintant.cluster.kubelet.container.lifecycle import ContainerLifecycle, Ending, State
from quintant.cluster.kubelet.container.lifecycle_events import Check
from quintant.cluster.kubelet.pod.plan import Kill, Renew, Stage, Start, Stop, Termination, plan

MAIN, OTHER = Container(name="main"), Container(name="other")
INIT, SIDE = Container(name="init"), Container(name="side", restart_policy="Always")
UP = ContainerLifecycle(State.RUNNING, "1", started=True, passed=True, ready=True)


def over(code: int, **more: float) -> ContainerLifecycle:
    return ContainerLifecycle(State.ENDED, "1", ending=Ending(code, ""), **more)  # type: ignore[arg-type]


def spec(policy: str = "Always", *init: Container) -> PodSpec:
    return PodSpec(containers=(MAIN, OTHER), init_containers=init, restart_policy=policy)


def test_all_containers_start_at_once() -> None:
    found = plan(spec(), {"main": ContainerLifecycle(), "other": ContainerLifecycle()}, None, 0)
    assert found.actions == (Start("main"), Start("other"))
    assert found.stage is Stage.RUNNING


def test_init_containers_hold_back_all_others() -> None:
    lives = {"init": UP, "main": ContainerLifecycle(), "other": ContainerLifecycle()}
    found = plan(spec("Always", INIT), lives, None, 0)
    assert (found.stage, found.actions) == (Stage.STARTING, ())


def test_a_sidecar_holds_the_others_back_until_it_is_up() -> None:
    lives = {
        "side": ContainerLifecycle(State.RUNNING, "1"),
        "main": ContainerLifecycle(),
        "other": ContainerLifecycle(),
    }
    assert plan(spec("Always", SIDE), lives, None, 0).actions == ()
    lives["side"] = UP
    assert plan(spec("Always", SIDE), lives, None, 0).actions == (Start("main"), Start("other"))


def test_a_sidecar_that_crashed_later_holds_nobody_back() -> None:
    crashed = ContainerLifecycle(State.ENDED, "1", passed=True, ending=Ending(1, ""))
    lives = {"side": crashed, "main": ContainerLifecycle(), "other": UP}
    found = plan(spec("Always", SIDE), lives, None, 0)
    assert found.actions == (Renew("side"), Start("main"))


def test_a_start_waits_for_its_time() -> None:
    lives = {"main": ContainerLifecycle(again=10.0), "other": UP}
    assert plan(spec(), lives, None, 5.0).actions == ()
    assert plan(spec(), lives, None, 5.0).wake == 10.0
    assert plan(spec(), lives, None, 10.0).actions == (Start("main"),)


def test_who_is_unwell_is_stopped_with_the_grace_of_the_probe() -> None:
    ill = ContainerLifecycle(State.RUNNING, "1", started=True, passed=True, unwell=Check.LIVENESS)
    note = "Container main failed liveness probe, will be restarted"
    lives = {"main": ill, "other": UP}
    assert plan(spec(), lives, None, 0).actions == (Stop("main", 30.0, note),)


def test_sidecars_end_one_by_one_after_the_others() -> None:
    second = Container(name="second", restart_policy="Always")
    whole = spec("Never", SIDE, second)
    lives = {"side": UP, "second": UP, "main": over(0), "other": UP}
    assert plan(whole, lives, None, 0).actions == ()
    lives["other"] = over(0)
    found = plan(whole, lives, None, 0)
    assert found.stage is Stage.FINISHING
    assert [each.name for each in found.actions] == ["second"]
    lives["second"] = over(0)
    assert [each.name for each in plan(whole, lives, None, 0).actions] == ["side"]
    lives["side"] = over(0)
    assert plan(whole, lives, None, 0).stage is Stage.OVER


def test_an_order_ends_everything_and_starts_nothing() -> None:
    found = plan(spec(), {"main": UP, "other": ContainerLifecycle()}, Termination(30.0), 0)
    assert found.actions == (Stop("main", 30.0, "Stopping container main"),)
    assert (
        plan(spec(), {"main": over(1), "other": ContainerLifecycle()}, Termination(30.0), 0).stage
        is Stage.OVER
    )


def test_who_was_asked_is_killed_at_the_deadline() -> None:
    stopping = ContainerLifecycle(State.STOPPING, "1", deadline=5.0, asked=5.0)
    lives = {"main": stopping, "other": over(0)}
    assert plan(spec(), lives, Termination(5.0), 4.0).wake == 5.0
    assert plan(spec(), lives, Termination(5.0), 5.0).actions == (Kill("main"),)


STATES = st.sampled_from(
    [
        ContainerLifecycle(),
        ContainerLifecycle(again=50.0),
        UP,
        ContainerLifecycle(State.RUNNING, "1"),
        ContainerLifecycle(State.RUNNING, "1", started=True, unwell=Check.LIVENESS),
        ContainerLifecycle(State.STOPPING, "1", deadline=20.0, asked=20.0),
        ContainerLifecycle(State.KILLED, "1"),
        over(0),
        over(1),
    ]
)


@given(
    st.sampled_from(["Always", "OnFailure", "Never"]),
    st.tuples(STATES, STATES, STATES, STATES),
    st.none() | st.just(Termination(30.0)),
    st.floats(0, 100),
)
def test_whatever_the_lives_a_plan_is_never_stuck(
    policy: str, given_lives: tuple[ContainerLifecycle, ...], order: Termination | None, now: float
) -> None:
    names = ("init", "side", "main", "other")
    lives = dict(zip(names, given_lives, strict=True))
    found = plan(spec(policy, INIT, SIDE), lives, order, now)
    names_acted = [each.name for each in found.actions]
    assert len(names_acted) == len(set(names_acted)), "one thing for each at a time"
    for action in found.actions:
        if isinstance(action, Start):
            assert lives[action.name].state is State.WAITING
            assert order is None
        if isinstance(action, Stop | Kill):
            assert lives[action.name].state.alive
    alive = any(life.state.alive for life in lives.values())
    waits = alive or found.wake < math.inf or found.stage is Stage.OVER
    assert found.actions or waits, "something is done, awaited, or everything is over"
