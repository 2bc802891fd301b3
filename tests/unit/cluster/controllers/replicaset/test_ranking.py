"""Promises of quintant.cluster.controllers.replicaset.ranking."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.meta import Condition
from quintant.cluster.controllers.pods.views import (
    PodState,
    PodStateContainerStatus,
    PodStateSpec,
    PodStateStatus,
)
from quintant.cluster.controllers.replicaset.ranking import COST, pods_to_delete
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def pod(
    name: str,
    *,
    node: str = "",
    phase: str = "Running",
    ready: float | None = 1000,
    cost: str = "",
    restarts: int = 0,
    age: float = 1000,
) -> PodState:
    """A pod; `ready` and `age` are seconds ago."""
    since = timestamp(NOW - timedelta(seconds=ready or 0))
    condition = Condition(type="Ready", status="True", last_transition_time=since)
    return PodState(
        metadata=ObjectMeta(
            name=name,
            uid=name,
            annotations={COST: cost} if cost else {},
            creation_timestamp=timestamp(NOW - timedelta(seconds=age)),
        ),
        spec=PodStateSpec(node_name=node or name),
        status=PodStateStatus(
            phase=phase,
            conditions=() if ready is None else (condition,),
            container_statuses=(PodStateContainerStatus(restart_count=restarts),),
        ),
    )


def first(*pods: PodState) -> str:
    """The name of the one that goes first, whatever the order they come in."""
    found = {pods_to_delete(order, pods, 1, NOW)[0].metadata.name for order in (pods, pods[::-1])}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize(
    ("goes", "stays"),
    [
        ({"phase": "Pending"}, {}),
        ({"phase": "Pending"}, {"phase": "Unknown"}),
        ({"phase": "Unknown"}, {}),
        ({"ready": None}, {}),
        ({"ready": None, "cost": "100"}, {"cost": "-100"}),
        ({"cost": "-1"}, {}),
        ({}, {"cost": "1"}),
        ({"cost": "5", "ready": 1}, {"cost": "5"}),
        ({"ready": 10}, {"ready": 10_000}),
        ({"restarts": 1}, {}),
        ({"age": 10}, {"age": 10_000}),
        ({"ready": 10, "restarts": 0}, {"ready": 10_000, "restarts": 9}),
    ],
)
def test_pod_whose_loss_hurts_least_goes_first(goes: dict[str, Any], stays: dict[str, Any]) -> None:
    assert first(pod("goes", **goes), pod("stays", **stays)) == "goes"
    assert first(pod("b-goes", **goes), pod("a-stays", **stays)) == "b-goes"


def test_pod_without_a_node_goes_first() -> None:
    loose = PodState(metadata=ObjectMeta(name="loose", uid="z"), status=PodStateStatus(phase="x"))
    assert first(loose, pod("a", phase="Pending", ready=None)) == "loose"


def test_crowded_node_is_relieved() -> None:
    one, two, alone = pod("one", node="n"), pod("two", node="n", ready=10_000), pod("alone")
    assert pods_to_delete([alone, one], [alone, one, two], 1, NOW) == [one]


@pytest.mark.parametrize("cost", ["x", "+1", "01", "1.5", "9999999999", "-"])
def test_cost_that_is_no_number_is_none(cost: str) -> None:
    assert first(pod("odd", cost=cost), pod("dear", cost="1")) == "odd"
    assert first(pod("odd", cost=cost), pod("cheap", cost="-1")) == "cheap"


def test_ages_of_the_same_magnitude_are_decided_by_chance() -> None:
    assert first(pod("b", ready=1000), pod("a", ready=1001)) == "a"
    assert first(pod("a", ready=1000), pod("b", ready=1001)) == "a"


@given(
    st.lists(
        st.builds(
            dict,
            phase=st.sampled_from(["Pending", "Running"]),
            ready=st.none() | st.sampled_from([1, 1000]),
            restarts=st.integers(0, 2),
            age=st.sampled_from([1, 1000]),
            node=st.sampled_from(["", "n"]),
        ),
        max_size=8,
    ),
    st.integers(0, 9),
    st.randoms(),
)
def test_choice_does_not_depend_on_the_order_of_pods(
    specs: list[dict[str, Any]], count: int, random: Any
) -> None:
    pods = [pod(f"p{at}", **spec) for at, spec in enumerate(specs)]
    mixed = random.sample(pods, len(pods))
    chosen = {it.metadata.name for it in pods_to_delete(pods, pods, count, NOW)}
    assert len(chosen) == min(count, len(pods))
    assert chosen == {it.metadata.name for it in pods_to_delete(mixed, mixed, count, NOW)}
