"""What a pod needs next, whatever became of its containers."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from quintant.api.container import Container, EphemeralContainer
from quintant.api.pod import PodSpec
from quintant.cluster.kubelet.container.lifecycle import (
    ContainerLifecycle,
    ExitStatus,
    LifecycleState,
)
from quintant.cluster.kubelet.container.lifecycle_events import ProbeType
from quintant.cluster.kubelet.pod.plan import (
    KillContainer,
    PodStage,
    RestartContainer,
    StartContainer,
    StopContainer,
    Termination,
    compute_pod_actions,
)
from quintant.core.object import replace

MAIN, OTHER = Container(name="main"), Container(name="other")
INIT, SIDE = Container(name="init"), Container(name="side", restart_policy="Always")
UP = ContainerLifecycle(LifecycleState.RUNNING, "1", started=True, passed=True, ready=True)


def over(code: int, **more: float) -> ContainerLifecycle:
    return ContainerLifecycle(LifecycleState.ENDED, "1", exit_status=ExitStatus(code, ""), **more)  # type: ignore[arg-type]


def spec(policy: str = "Always", *init: Container) -> PodSpec:
    return PodSpec(containers=(MAIN, OTHER), init_containers=init, restart_policy=policy)


def test_all_containers_start_at_once() -> None:
    found = compute_pod_actions(
        spec(), {"main": ContainerLifecycle(), "other": ContainerLifecycle()}, None, 0
    )
    assert found.actions == (StartContainer("main"), StartContainer("other"))
    assert found.stage is PodStage.RUNNING


def debugged(policy: str = "Always", *init: Container) -> PodSpec:
    return replace(spec(policy, *init), ephemeral_containers=(EphemeralContainer(name="debugger"),))


def test_a_debugger_starts_even_before_init_containers_have_ended() -> None:
    lifecycles = {each: ContainerLifecycle() for each in ("main", "other", "debugger")} | {
        "init": UP
    }
    found = compute_pod_actions(debugged("Always", INIT), lifecycles, None, 0)
    assert found.actions == (StartContainer("debugger"),)


def test_a_debugger_is_never_started_again() -> None:
    lifecycles = {"main": UP, "other": UP, "debugger": over(1)}
    assert compute_pod_actions(debugged(), lifecycles, None, 0).actions == ()


def test_a_debugger_keeps_no_pod_alive() -> None:
    lifecycles = {"main": over(0), "other": over(0), "debugger": UP}
    found = compute_pod_actions(debugged("Never"), lifecycles, None, 0)
    assert found.stage is PodStage.FINISHING
    assert [type(each) for each in found.actions] == [StopContainer]


def test_a_debugger_ends_with_its_pod() -> None:
    lifecycles = {"main": UP, "other": UP, "debugger": UP}
    found = compute_pod_actions(debugged(), lifecycles, Termination(10), 0)
    stopped = [each.name for each in found.actions if isinstance(each, StopContainer)]
    assert stopped == ["main", "other", "debugger"]


def test_init_containers_hold_back_all_others() -> None:
    lifecycles = {"init": UP, "main": ContainerLifecycle(), "other": ContainerLifecycle()}
    found = compute_pod_actions(spec("Always", INIT), lifecycles, None, 0)
    assert (found.stage, found.actions) == (PodStage.STARTING, ())


def test_a_sidecar_holds_the_others_back_until_it_is_up() -> None:
    lifecycles = {
        "side": ContainerLifecycle(LifecycleState.RUNNING, "1"),
        "main": ContainerLifecycle(),
        "other": ContainerLifecycle(),
    }
    assert compute_pod_actions(spec("Always", SIDE), lifecycles, None, 0).actions == ()
    lifecycles["side"] = UP
    assert compute_pod_actions(spec("Always", SIDE), lifecycles, None, 0).actions == (
        StartContainer("main"),
        StartContainer("other"),
    )


def test_a_sidecar_that_crashed_later_holds_nobody_back() -> None:
    crashed = ContainerLifecycle(
        LifecycleState.ENDED, "1", passed=True, exit_status=ExitStatus(1, "")
    )
    lifecycles = {"side": crashed, "main": ContainerLifecycle(), "other": UP}
    found = compute_pod_actions(spec("Always", SIDE), lifecycles, None, 0)
    assert found.actions == (RestartContainer("side"), StartContainer("main"))


def test_a_start_waits_for_its_time() -> None:
    lifecycles = {"main": ContainerLifecycle(not_before=10.0), "other": UP}
    assert compute_pod_actions(spec(), lifecycles, None, 5.0).actions == ()
    assert compute_pod_actions(spec(), lifecycles, None, 5.0).wake_at == 10.0
    assert compute_pod_actions(spec(), lifecycles, None, 10.0).actions == (StartContainer("main"),)


def test_who_is_unwell_is_stopped_with_the_grace_of_the_probe() -> None:
    ill = ContainerLifecycle(
        LifecycleState.RUNNING, "1", started=True, passed=True, failed_probe=ProbeType.LIVENESS
    )
    note = "Container main failed liveness probe, will be restarted"
    lifecycles = {"main": ill, "other": UP}
    assert compute_pod_actions(spec(), lifecycles, None, 0).actions == (
        StopContainer("main", 30.0, note),
    )


def test_sidecars_end_one_by_one_after_the_others() -> None:
    second = Container(name="second", restart_policy="Always")
    whole = spec("Never", SIDE, second)
    lifecycles = {"side": UP, "second": UP, "main": over(0), "other": UP}
    assert compute_pod_actions(whole, lifecycles, None, 0).actions == ()
    lifecycles["other"] = over(0)
    found = compute_pod_actions(whole, lifecycles, None, 0)
    assert found.stage is PodStage.FINISHING
    assert [each.name for each in found.actions] == ["second"]
    lifecycles["second"] = over(0)
    assert [each.name for each in compute_pod_actions(whole, lifecycles, None, 0).actions] == [
        "side"
    ]
    lifecycles["side"] = over(0)
    assert compute_pod_actions(whole, lifecycles, None, 0).stage is PodStage.OVER


def test_an_order_ends_everything_and_starts_nothing() -> None:
    found = compute_pod_actions(
        spec(), {"main": UP, "other": ContainerLifecycle()}, Termination(30.0), 0
    )
    assert found.actions == (StopContainer("main", 30.0, "Stopping container main"),)
    assert (
        compute_pod_actions(
            spec(), {"main": over(1), "other": ContainerLifecycle()}, Termination(30.0), 0
        ).stage
        is PodStage.OVER
    )


def test_who_was_asked_is_killed_at_the_deadline() -> None:
    stopping = ContainerLifecycle(LifecycleState.STOPPING, "1", deadline=5.0, stop_until=5.0)
    lifecycles = {"main": stopping, "other": over(0)}
    assert compute_pod_actions(spec(), lifecycles, Termination(5.0), 4.0).wake_at == 5.0
    assert compute_pod_actions(spec(), lifecycles, Termination(5.0), 5.0).actions == (
        KillContainer("main"),
    )


STATES = st.sampled_from(
    [
        ContainerLifecycle(),
        ContainerLifecycle(not_before=50.0),
        UP,
        ContainerLifecycle(LifecycleState.RUNNING, "1"),
        ContainerLifecycle(
            LifecycleState.RUNNING, "1", started=True, failed_probe=ProbeType.LIVENESS
        ),
        ContainerLifecycle(LifecycleState.STOPPING, "1", deadline=20.0, stop_until=20.0),
        ContainerLifecycle(LifecycleState.KILLED, "1"),
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
    policy: str,
    given_lives: tuple[ContainerLifecycle, ...],
    termination: Termination | None,
    now: float,
) -> None:
    names = ("init", "side", "main", "other")
    lifecycles = dict(zip(names, given_lives, strict=True))
    found = compute_pod_actions(spec(policy, INIT, SIDE), lifecycles, termination, now)
    names_acted = [each.name for each in found.actions]
    assert len(names_acted) == len(set(names_acted)), "one thing for each at a time"
    for action in found.actions:
        if isinstance(action, StartContainer):
            assert lifecycles[action.name].state is LifecycleState.WAITING
            assert termination is None
        if isinstance(action, StopContainer | KillContainer):
            assert lifecycles[action.name].state.alive
    alive = any(lifecycle.state.alive for lifecycle in lifecycles.values())
    waits = alive or found.wake_at < math.inf or found.stage is PodStage.OVER
    assert found.actions or waits, "something is done, awaited, or everything is over"
