"""Promises of quintant.cluster.controllers.statefulset.members."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quintant.api.apps import (
    RollingUpdateStatefulSetStrategy,
    StatefulSet,
    StatefulSetOrdinals,
    StatefulSetSpec,
    StatefulSetStatus,
    StatefulSetUpdateStrategy,
)
from quintant.api.meta import Condition
from quintant.cluster.controllers.history import HASH
from quintant.cluster.controllers.pods.views import PodState, PodStateStatus
from quintant.cluster.controllers.statefulset.identity import POD_NAME, pod_ordinal
from quintant.cluster.controllers.statefulset.members import (
    Members,
    StatefulSetPlan,
    plan,
    revision_of,
)
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, replace

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROLLING = StatefulSetUpdateStrategy(
    type="RollingUpdate", rolling_update=RollingUpdateStatefulSetStrategy(partition=0)
)
ON_DELETE = StatefulSetUpdateStrategy(type="OnDelete")


def sets(replicas: int, **spec: Any) -> StatefulSet:
    spec = {"update_strategy": ROLLING, **spec}
    return StatefulSet(
        metadata=ObjectMeta(name="a", namespace="n", uid="a"),
        spec=StatefulSetSpec(replicas=replicas, **spec),
    )


def pod(
    number: int,
    *,
    phase: str = "Running",
    ready: float | None = 100,
    revision: str = "new",
    deleted: bool = False,
    named: bool = True,
) -> PodState:
    name = f"a-{number}"
    since = timestamp(NOW - timedelta(seconds=ready or 0))
    condition = Condition(type="Ready", status="True", last_transition_time=since)
    return PodState(
        metadata=ObjectMeta(
            name=name,
            labels={HASH: revision, **({POD_NAME: name} if named else {})},
            deletion_timestamp=since if deleted else None,
        ),
        status=PodStateStatus(phase=phase, conditions=() if ready is None else (condition,)),
    )


def told(it: StatefulSet, *pods: PodState) -> StatefulSetPlan:
    return plan(Members.of(it, pods), "new", NOW)


def deleted(it: StatefulSet, *pods: PodState) -> list[str]:
    return [each.metadata.name for each in told(it, *pods).delete]


@pytest.mark.parametrize(
    ("name", "number"),
    [("a-0", 0), ("a-12", 12), ("a", None), ("b-0", None), ("a-x", None), ("a-b-0", None)],
)
def test_number_is_read_from_the_name(name: str, number: int | None) -> None:
    assert pod_ordinal("a", name) == number


def test_first_missing_pod_is_made() -> None:
    assert told(sets(3)).create == (0,)
    assert told(sets(3), pod(0)).create == (1,)
    assert told(sets(3), pod(0), pod(2)).create == (1,)
    assert told(sets(2, ordinals=StatefulSetOrdinals(start=5)), pod(5)).create == (6,)


@pytest.mark.parametrize(
    "unwell", [{"ready": None}, {"phase": "Pending"}, {"deleted": True}, {"phase": "Unknown"}]
)
def test_next_pod_waits_for_one_that_is_not_well(unwell: dict[str, Any]) -> None:
    it = told(sets(3), pod(0, **unwell))
    assert (it.create, it.delete) == ((), ())


def test_next_pod_waits_until_one_has_been_ready_for_long_enough() -> None:
    it = sets(2, min_ready_seconds=50)
    assert told(it, pod(0, ready=49)).create == ()
    assert told(it, pod(0, ready=50)).create == (1,)


def test_all_missing_pods_are_made_at_once_in_parallel() -> None:
    it = sets(3, pod_management_policy="Parallel")
    assert told(it, pod(1, ready=None)).create == (0, 2)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_pod_that_ended_is_deleted_and_made_anew_later(policy: str, phase: str) -> None:
    it = sets(1, pod_management_policy=policy)
    assert deleted(it, pod(0, phase=phase)) == ["a-0"]
    assert told(it, pod(0, phase=phase, deleted=True)) == StatefulSetPlan()


def test_surplus_pods_go_one_by_one_from_the_last() -> None:
    assert deleted(sets(1), pod(0), pod(1), pod(2)) == ["a-2"]
    assert deleted(sets(1), pod(0), pod(1), pod(2, deleted=True)) == []
    assert deleted(sets(1, pod_management_policy="Parallel"), pod(0), pod(1), pod(2)) == [
        "a-2", "a-1",
    ]  # fmt: skip


def test_surplus_pod_waits_for_another_that_is_not_well() -> None:
    assert deleted(sets(1), pod(0), pod(1, ready=None), pod(2)) == ["a-2"]
    assert deleted(sets(1), pod(0), pod(1, ready=None), pod(2, ready=None)) == []
    assert deleted(sets(1), pod(0), pod(1), pod(2, ready=None)) == ["a-2"]
    assert deleted(sets(1), pod(0, ready=None), pod(1)) == []


def test_rollout_goes_from_the_last_and_waits_for_each() -> None:
    old = [pod(at, revision="old") for at in range(3)]
    assert deleted(sets(3), *old) == ["a-2"]
    assert deleted(sets(3), old[0], old[1], pod(2)) == ["a-1"]
    assert deleted(sets(3), old[0], old[1], pod(2, ready=None)) == []
    assert deleted(sets(3), old[0], pod(1), pod(2)) == ["a-0"]
    assert deleted(sets(3), pod(0), pod(1), pod(2)) == []


def test_partition_holds_pods_back() -> None:
    strategy = StatefulSetUpdateStrategy(
        type="RollingUpdate", rolling_update=RollingUpdateStatefulSetStrategy(partition=1)
    )
    it = sets(2, update_strategy=strategy)
    assert deleted(it, pod(0, revision="old"), pod(1)) == []
    assert revision_of(it, 0, "old", "new") == "old"
    assert revision_of(it, 1, "old", "new") == "new"
    later = replace(it, spec=replace(it.spec, ordinals=StatefulSetOrdinals(start=5)))
    assert revision_of(later, 5, "old", "new") == "old"
    assert revision_of(later, 6, "old", "new") == "new"


def test_nothing_is_replaced_unless_deleted_if_so_asked() -> None:
    it = sets(1, update_strategy=ON_DELETE)
    assert deleted(it, pod(0, revision="old")) == []
    assert revision_of(it, 0, "old", "new") == "new"


def test_current_revision_counts_where_no_partition_is_given() -> None:
    bare = sets(3, update_strategy=StatefulSetUpdateStrategy(type="RollingUpdate"))
    it = replace(bare, status=StatefulSetStatus(current_replicas=2))
    assert [revision_of(it, at, "old", "new") for at in range(3)] == ["old", "old", "new"]


def test_pod_that_does_not_know_its_name_is_told() -> None:
    ((number, found),) = told(sets(1), pod(0, named=False)).label
    assert (number, found.metadata.name) == (0, "a-0")


def test_claims_of_a_pod_that_waits_are_looked_after() -> None:
    assert told(sets(1), pod(0, phase="Pending", ready=None)).claim == (0,)
    assert told(sets(1), pod(0, ready=None)).claim == ()
