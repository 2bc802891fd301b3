"""Promises of quintant.cluster.controllers.daemonset.plan."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quintant.api.apps import (
    DaemonSet,
    DaemonSetSpec,
    DaemonSetUpdateStrategy,
    RollingUpdateDaemonSet,
)
from quintant.api.core import Taint
from quintant.api.meta import Condition
from quintant.api.quantity import IntOrString
from quintant.cluster.common.views import NodeSpecView
from quintant.cluster.controllers.daemonset.plan import (
    DaemonSetPlan,
    DaemonSetState,
    plan_pods,
    plan_rolling_update,
)
from quintant.cluster.controllers.daemonset.status import report
from quintant.cluster.controllers.history import HASH
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState, PodStateSpec, PodStateStatus
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, Opaque

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def daemons(
    missing: IntOrString = 1, surge: IntOrString = 0, kind: str = "RollingUpdate"
) -> DaemonSet:
    rolling = RollingUpdateDaemonSet(max_unavailable=missing, max_surge=surge)
    strategy = DaemonSetUpdateStrategy(type=kind, rolling_update=rolling)
    template = Opaque.of({"spec": {"nodeSelector": {"meant": "yes"}}})
    return DaemonSet(
        metadata=ObjectMeta(name="a", namespace="n", uid="a", generation=3),
        spec=DaemonSetSpec(template=template, update_strategy=strategy),
    )


def node(name: str, *, meant: bool = True, effect: str = "") -> NodeState:
    taints = (Taint(key="t", effect=effect),) if effect else ()
    labels = {"meant": "yes" if meant else "no"}
    return NodeState(
        metadata=ObjectMeta(name=name, labels=labels), spec=NodeSpecView(taints=taints)
    )


def pod(
    on: str,
    *,
    new: bool = True,
    ready: bool = True,
    phase: str = "Running",
    deleted: bool = False,
    suffix: str = "",
) -> PodState:
    at = timestamp(NOW - timedelta(seconds=100))
    condition = Condition(type="Ready", status="True", last_transition_time=at)
    return PodState(
        metadata=ObjectMeta(
            name=f"{on}-{'new' if new else 'old'}{suffix}",
            labels={HASH: "h" if new else "g"},
            deletion_timestamp=at if deleted else None,
        ),
        spec=PodStateSpec(node_name=on),
        status=PodStateStatus(phase=phase, conditions=(condition,) if ready else ()),
    )


def world(it: DaemonSet, nodes: list[NodeState], *pods: PodState) -> DaemonSetState:
    return DaemonSetState.of(it, nodes, pods, "h", NOW)


def names(plan: DaemonSetPlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return plan.create, tuple(pod.metadata.name for pod in plan.delete)


def test_nodes_that_are_meant_get_a_pod_and_others_lose_theirs() -> None:
    nodes = [node("a"), node("b"), node("c", meant=False)]
    it = world(daemons(), nodes, pod("b"), pod("c"))
    assert names(plan_pods(it, ())) == (("a",), ("c-new",))


@pytest.mark.parametrize(
    ("effect", "created", "deleted"),
    [("NoSchedule", (), ()), ("NoExecute", (), ("a-new",)), ("PreferNoSchedule", ("b",), ())],
)
def test_taint_keeps_pods_away_or_drives_them_off(
    effect: str, created: tuple[str, ...], deleted: tuple[str, ...]
) -> None:
    nodes = [node("a", effect=effect), node("b", effect=effect)]
    assert names(plan_pods(world(daemons(), nodes, pod("a")), ())) == (created, deleted)


def test_pod_that_goes_is_waited_for_unless_the_set_may_surge() -> None:
    going = pod("a", deleted=True)
    assert names(plan_pods(world(daemons(), [node("a")], going), ())) == ((), ())
    assert names(plan_pods(world(daemons(0, 1), [node("a")], going), ())) == (("a",), ())


def test_pod_that_ended_is_deleted_unless_it_is_spared() -> None:
    ended = pod("a", phase="Failed")
    it = world(daemons(), [node("a")], ended)
    assert names(plan_pods(it, ())) == ((), ("a-new",))
    assert names(plan_pods(it, [ended])) == ((), ())


def test_all_but_one_pod_of_a_node_go() -> None:
    it = world(daemons(), [node("a")], pod("a", suffix="1"), pod("a", suffix="2"))
    assert names(plan_pods(it, ())) == ((), ("a-new2",))


def test_pods_for_nodes_that_are_gone_are_deleted() -> None:
    lost = PodState(metadata=ObjectMeta(name="lost"), spec=PodStateSpec())
    it = DaemonSetState(daemons(), (), (lost,), "h", NOW)
    assert names(plan_pods(it, ())) == ((), ("lost",))


def test_rollout_deletes_as_many_as_may_be_missing() -> None:
    nodes = [node(name) for name in "abcd"]
    old = [pod(name, new=False) for name in "abcd"]
    assert names(plan_rolling_update(world(daemons(2), nodes, *old))) == ((), ("a-old", "b-old"))
    assert names(plan_rolling_update(world(daemons("50%"), nodes, *old))) == (
        (),
        ("a-old", "b-old"),
    )
    fresh = [pod("a", ready=False), *old[1:]]
    assert names(plan_rolling_update(world(daemons(2), nodes, *fresh))) == ((), ("b-old",))
    assert names(plan_rolling_update(world(daemons(1), nodes, *fresh))) == ((), ())
    assert names(plan_rolling_update(world(daemons(1), nodes, *old[1:]))) == ((), ())


def test_outdated_pods_that_do_not_work_are_replaced_at_once() -> None:
    nodes = [node(name) for name in "abc"]
    old = [pod(name, new=False, ready=name == "c") for name in "abc"]
    assert names(plan_rolling_update(world(daemons(1), nodes, *old))) == ((), ("a-old", "b-old"))


def test_nothing_is_replaced_unless_deleted_if_so_asked() -> None:
    assert (
        plan_rolling_update(world(daemons(kind="OnDelete"), [node("a")], pod("a", new=False)))
        == DaemonSetPlan()
    )


def test_surge_makes_the_new_pod_beside_the_old_one() -> None:
    nodes = [node(name) for name in "abc"]
    old = [pod(name, new=False) for name in "abc"]
    assert names(plan_rolling_update(world(daemons(0, 1), nodes, *old))) == (("a",), ())
    beside = pod("a", ready=False)
    assert names(plan_rolling_update(world(daemons(0, 1), nodes, beside, *old))) == ((), ())
    assert names(plan_pods(world(daemons(0, 1), nodes, beside, *old), ())) == ((), ())
    assert names(plan_pods(world(daemons(0, 1), nodes, pod("a"), *old), ())) == ((), ("a-old",))


def test_both_limits_may_not_be_nothing() -> None:
    it = world(daemons(0, 0), [node("a")], pod("a", new=False))
    assert names(plan_rolling_update(it)) == ((), ("a-old",))


def test_oldest_pod_of_each_node_is_counted() -> None:
    nodes = [node("a"), node("b"), node("c"), node("d", meant=False)]
    it = world(daemons(), nodes, pod("a"), pod("b", new=False, ready=False), pod("d"))
    status = report(it, None)
    assert (status.desired_number_scheduled, status.current_number_scheduled) == (3, 2)
    assert (status.number_ready, status.number_available, status.number_unavailable) == (1, 1, 2)
    assert (status.updated_number_scheduled, status.number_misscheduled) == (1, 1)
    assert status.observed_generation == 3
