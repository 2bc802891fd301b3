"""Promises of quintant.cluster.controllers.pods.views."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quintant.api.core import PersistentVolumeClaimVolumeSource
from quintant.api.meta import Condition
from quintant.cluster.common.views import VolumeView
from quintant.cluster.controllers.pods.views import (
    PodState,
    PodStateContainer,
    PodStateContainerStatus,
    PodStateSpec,
    PodStateStatus,
    claim_names,
    max_restarts,
    next_available,
    pod_active,
    pod_available,
    pod_finished,
    pod_ready,
    pod_terminating,
    ready_since,
)
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, Opaque

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def pod(
    phase: str = "Running", *, since: int | None = None, status: str = "True", deleted: bool = False
) -> PodState:
    """A pod that has been ready for so many seconds."""
    at = timestamp(NOW - timedelta(seconds=since or 0))
    condition = Condition(type="Ready", status=status, last_transition_time=at)
    conditions = () if since is None else (condition,)
    return PodState(
        metadata=ObjectMeta(name="a", deletion_timestamp=at if deleted else None),
        status=PodStateStatus(phase=phase, conditions=conditions),
    )


@pytest.mark.parametrize("phase", ["Pending", "Running", "Unknown", "Succeeded", "Failed"])
@pytest.mark.parametrize("deleted", [False, True])
def test_pod_is_active_terminating_or_over(phase: str, deleted: bool) -> None:
    it = pod(phase, deleted=deleted)
    assert pod_active(it) + pod_terminating(it) + pod_finished(it) == 1
    assert pod_finished(it) == (phase in ("Succeeded", "Failed"))
    assert pod_terminating(it) == (deleted and not pod_finished(it))


def test_only_a_true_condition_makes_a_pod_ready() -> None:
    assert pod_ready(pod(since=0))
    assert not pod_ready(pod())
    assert not pod_ready(pod(since=0, status="Unknown"))
    assert ready_since(pod(since=5)) == NOW - timedelta(seconds=5)
    assert ready_since(pod()) is None


def test_pod_becomes_available_by_being_ready_for_long_enough() -> None:
    assert pod_available(pod(since=0), 0, NOW)
    assert pod_available(pod(since=5), 5, NOW)
    assert not pod_available(pod(since=4), 5, NOW)
    assert not pod_available(pod(), 5, NOW)


def test_next_check_is_when_the_next_pod_becomes_available() -> None:
    assert next_available([pod(since=1), pod(since=4), pod(since=9), pod()], 5, NOW) == 1.0
    assert next_available([pod(since=9)], 5, NOW) is None
    assert next_available([pod(since=0)], 0, NOW) is None


def test_restarts_of_sidecars_count_apart_and_those_of_init_containers_do_not() -> None:
    counts = {"main": 2, "other": 1}
    inits = {"side": 3, "once": 9}
    it = PodState(
        spec=PodStateSpec(
            init_containers=(
                PodStateContainer(name="side", restart_policy="Always"),
                PodStateContainer(name="once"),
            )
        ),
        status=PodStateStatus(
            container_statuses=_statuses(counts), init_container_statuses=_statuses(inits)
        ),
    )
    assert max_restarts(it) == (2, 3)
    assert max_restarts(PodState()) == (0, 0)


def _statuses(counts: dict[str, int]) -> tuple[PodStateContainerStatus, ...]:
    return tuple(PodStateContainerStatus(name=n, restart_count=c) for n, c in counts.items())


def test_claims_are_named_or_of_the_pods_own() -> None:
    volumes = (
        VolumeView(name="x"),
        VolumeView(
            name="y", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name="c")
        ),
        VolumeView(name="z", ephemeral=Opaque(b"{}")),
    )
    it = PodState(metadata=ObjectMeta(name="a"), spec=PodStateSpec(volumes=volumes))
    assert claim_names(it) == ["c", "a-z"]
