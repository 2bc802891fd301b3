"""How many replicas follow from what pods use: with all samples, with some, with young pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from quintant.cluster.controllers.podautoscaler.replica_calculator import (
    AverageTarget,
    MetricsError,
    Tolerances,
    UtilizationTarget,
    calculate_requests,
    group_pods,
    milli_value,
    propose_replicas,
)
from quintant.cluster.controllers.podautoscaler.views import AutoscaledPod, AutoscaledPodSpec
from quintant.core.object import replace
from unit.cluster.controllers.podautoscaler.autoscaled_pods import (
    NOW,
    container,
    metrics,
    pod,
    pods,
)

NONE = None
"""A pod that has no sample."""


def by_utilization(
    found: Sequence[AutoscaledPod], values: Sequence[int | None], percent: int, current: int
) -> int:
    groups = group_pods(found, metrics(*values), "cpu", NOW)
    target = UtilizationTarget(percent, calculate_requests(found, "cpu"))
    return propose_replicas(current, groups, target, Tolerances()).replicas


@pytest.mark.parametrize(
    ("values", "percent", "replicas"),
    [
        ([500, 500, 500], 50, 3),
        ([900, 900, 900], 50, 6),
        # A tenth above or below changes nothing, a percent more does.
        ([550, 550, 550], 50, 3),
        ([560, 560, 560], 50, 4),
        ([450, 450, 450], 50, 3),
        ([440, 440, 440], 50, 3),
        ([100, 100, 100], 50, 1),
        ([100, 300, 200], 60, 1),
        ([1, 0, 0], 50, 0),
        # The percentage is whole before it is compared: 55.9 % is 55 %.
        ([559, 559, 559], 50, 3),
    ],
)
def test_the_average_is_brought_to_the_target(
    values: list[int], percent: int, replicas: int
) -> None:
    assert by_utilization(pods(3), values, percent, 3) == replicas


@pytest.mark.parametrize(
    ("values", "percent", "current", "replicas"),
    [
        # Too much is used: a pod without a sample counts as idle.
        ([900, 900, NONE], 50, 3, 4),
        ([600, 600, NONE], 50, 3, 3),
        # That it would shrink if they were idle is no reason to shrink.
        ([600, NONE, NONE], 50, 3, 3),
        # Too little is used: a pod without a sample uses all it is promised.
        ([100, 100, NONE], 50, 3, 3),
        ([100, 100, 100, 100, NONE], 50, 5, 3),
        # More than all, if more than all is the target.
        ([100, 100, 100, 100, NONE], 200, 5, 2),
        # On the target, it counts for nothing at all.
        ([500, 500, NONE], 50, 3, 3),
    ],
)
def test_a_pod_without_a_sample_makes_the_change_smaller(
    values: list[int | None], percent: int, current: int, replicas: int
) -> None:
    assert by_utilization(pods(len(values)), values, percent, current) == replicas


@pytest.mark.parametrize(
    ("values", "replicas"),
    [
        # Growth counts the new pods as idle, so that it does not go on while they begin.
        ([900, 900, 0], 4),
        ([700, 700, 0], 3),
        # Shrinking leaves them out: two pods that run are compared with the target.
        ([200, 200, 0], 1),
    ],
)
@pytest.mark.parametrize(
    "young",
    [
        pod("p2", phase="Pending"),
        pod("p2", ready=False, started=60, changed=30),
        pod("p2", started=60, changed=5),
        pod("p2", ready=False, started=3600, changed=3590),
    ],
    ids=["pending", "unready", "no whole window since it is ready", "never ready"],
)
def test_a_pod_that_begins_is_idle_for_growth_and_left_out_of_shrinking(
    young: AutoscaledPod, values: list[int], replicas: int
) -> None:
    assert by_utilization([*pods(2), young], values, 50, 3) == replicas


@pytest.mark.parametrize(
    "old",
    [
        pod("p2", ready=False, started=3600, changed=60),
        pod("p2", started=200, changed=11),
    ],
    ids=["became unready later", "ready for a whole window"],
)
def test_a_pod_that_has_begun_counts(old: AutoscaledPod) -> None:
    assert by_utilization([*pods(2), old], [900, 900, 900], 50, 3) == 6


def test_the_start_of_a_pod_matters_for_its_processor_time_alone() -> None:
    young = pod("p0", ready=False, started=60, changed=30)
    groups = group_pods([young], metrics(900), "memory", NOW)
    assert (groups.ready, groups.unready) == (1, frozenset())


@pytest.mark.parametrize(
    "gone", [{"phase": "Failed"}, {"deletion_timestamp": "2026-01-01T00:00:00Z"}]
)
def test_a_pod_that_goes_counts_for_nothing(gone: dict[str, Any]) -> None:
    assert by_utilization([*pods(2), pod("p2", **gone)], [500, 500, 5000], 50, 2) == 2


@pytest.mark.parametrize(
    ("values", "target", "current", "replicas"),
    [
        ([300, 500, 700], 500, 3, 3),
        ([900, 900, 900], 500, 3, 6),
        ([900, 900, NONE], 500, 3, 4),
        # What is not known is taken to be as it should.
        ([100, 100, NONE], 500, 3, 2),
    ],
)
def test_an_amount_per_pod_is_a_target_too(
    values: list[int | None], target: int, current: int, replicas: int
) -> None:
    groups = group_pods(pods(3), metrics(*values), "cpu", NOW)
    proposal = propose_replicas(current, groups, AverageTarget(target), Tolerances())
    assert proposal.replicas == replicas


@pytest.mark.parametrize(
    ("tolerances", "replicas"),
    [(Tolerances(), 4), (Tolerances(scale_up=0.3), 3), (Tolerances(scale_down=0.5), 4)],
)
def test_tolerance_has_a_side(tolerances: Tolerances, replicas: int) -> None:
    groups = group_pods(pods(3), metrics(600, 600, 600), "cpu", NOW)
    assert propose_replicas(3, groups, AverageTarget(500), tolerances).replicas == replicas


@pytest.mark.parametrize(
    ("found", "values", "words"),
    [
        ([], [], "no pods returned by selector while calculating replica count"),
        (
            [pod("p0", phase="Pending")],
            [5],
            "did not receive metrics for targeted pods (pods might be unready)",
        ),
        (
            [pod("p0", containers=(container(), container("side", "")))],
            [5],
            "missing request for cpu in container side of Pod p0",
        ),
        ([pod("p0", containers=(container(request="0"),))], [5],
         "no metrics returned matched known pods"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_has_a_reason(
    found: list[AutoscaledPod], values: list[int], words: str
) -> None:
    with pytest.raises(MetricsError) as refused:
        by_utilization(found, values, 50, 1)
    assert str(refused.value) == words


def test_requests_are_those_of_a_pod_its_containers_and_sidecars_or_of_one_container() -> None:
    sidecar = replace(container("side", "250m"), restart_policy="Always")
    spec = AutoscaledPodSpec(
        containers=(container(request="500m"),), init_containers=(container("init"), sidecar)
    )
    made = replace(pod("p0"), spec=spec)
    assert calculate_requests([made], "cpu") == {"p0": 750}
    assert calculate_requests([made], "cpu", "side") == {"p0": 250}
    whole = replace(spec, resources=container(request="2").resources)
    assert calculate_requests([replace(made, spec=whole)], "cpu") == {"p0": 2000}
    with pytest.raises(MetricsError, match="container init not found in Pod p0"):
        calculate_requests([made], "cpu", "init")


@pytest.mark.parametrize(
    ("quantity", "value"), [("1", 1000), ("1n", 1), ("0", 0), ("2Ki", 2_048_000)]
)
def test_thousandths_are_rounded_up(quantity: str, value: int) -> None:
    assert milli_value(quantity) == value
