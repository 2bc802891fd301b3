"""The conditions of a pod, whatever its containers do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quintant.api.container import Container
from quintant.api.meta import Condition, ObjectMeta, condition_of
from quintant.api.pod import Pod, PodReadinessGate, PodSpec, PodStatus
from quintant.cluster.kubelet.container.lifecycle import (
    ContainerLifecycle,
    ExitStatus,
    LifecycleState,
)
from quintant.cluster.kubelet.pod.conditions import conditions_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAIN, INIT = Container(name="main"), Container(name="init")
SIDE = Container(name="side", restart_policy="Always")
UP = ContainerLifecycle(LifecycleState.RUNNING, "1", started=True, passed=True, ready=True)
DONE = ContainerLifecycle(LifecycleState.ENDED, "1", exit_status=ExitStatus(0, ""))


def pod(*init: Container, known: tuple[Condition, ...] = (), **spec: Any) -> Pod:
    made = PodSpec(containers=(MAIN,), init_containers=init, **spec)
    where = ObjectMeta(name="a", namespace="b")
    return Pod(metadata=where, spec=made, status=PodStatus(conditions=known))


def told(
    given: Pod, phase: str = "Running", **lifecycles: ContainerLifecycle
) -> dict[str, Condition]:
    found = conditions_of(given, lifecycles, phase, NOW, addressed=True)
    return {each.type: each for each in found}


def test_a_pod_whose_containers_are_ready_is_ready() -> None:
    found = told(pod(), main=UP)
    assert [*found] == [
        *("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"),
    ]
    assert {each.status for each in found.values()} == {"True"}


def test_a_container_that_is_not_ready_is_named() -> None:
    found = told(pod(SIDE), main=UP, side=ContainerLifecycle())
    assert found["Ready"].message == "containers with unready status: [side]"
    assert found["ContainersReady"].reason == "ContainersNotReady"


def test_what_prepares_a_pod_is_named_until_it_is_done() -> None:
    given = pod(INIT)
    waiting = told(given, "Pending", init=UP, main=ContainerLifecycle())["Initialized"]
    assert (waiting.status, waiting.reason) == ("False", "ContainersNotInitialized")
    assert waiting.message == "containers with incomplete status: [init]"
    assert told(given, init=DONE, main=UP)["Initialized"].status == "True"


@pytest.mark.parametrize(
    ("phase", "reason"), [("Succeeded", "PodCompleted"), ("Failed", "PodFailed")]
)
def test_a_pod_that_is_over_is_not_ready_to_start_anything(phase: str, reason: str) -> None:
    found = told(pod(), phase, main=DONE)
    assert (found["Ready"].status, found["Ready"].reason) == ("False", reason)
    assert found["PodReadyToStartContainers"].status == "False"


def test_gates_hold_back_the_pod_but_not_its_containers() -> None:
    gates = (PodReadinessGate(condition_type="x"), PodReadinessGate(condition_type="y"))
    shut = (Condition(type="y", status="False"),)
    found = told(pod(known=shut, readiness_gates=gates), main=UP)
    assert found["ContainersReady"].status == "True"
    assert found["Ready"].reason == "ReadinessGatesNotReady"
    assert found["Ready"].message == (
        '[corresponding condition of pod readiness gate "x" does not exist., '
        'the status of pod readiness gate "y" is not "True", but False]'
    )
    opened = tuple(Condition(type=name, status="True") for name in "xy")
    assert told(pod(known=opened, readiness_gates=gates), main=UP)["Ready"].status == "True"


def test_the_time_of_a_condition_moves_only_with_its_status() -> None:
    first = conditions_of(pod(), {"main": UP}, "Running", NOW, addressed=True)
    known = pod(known=first)
    later = NOW + timedelta(hours=1)
    assert conditions_of(known, {"main": UP}, "Running", later, addressed=True) == first
    changed = conditions_of(known, {"main": ContainerLifecycle()}, "Running", later, addressed=True)
    ready = condition_of(changed, "Ready")
    assert ready is not None
    assert ready.last_transition_time == "2026-01-01T01:00:00Z"
