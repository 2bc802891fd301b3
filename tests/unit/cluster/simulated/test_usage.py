"""Made-up figures are plausible and always the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quintant.api.quantity import Quantity
from quintant.cluster.apiserver.kubelet_client.meter import ResourceUsage
from quintant.cluster.common.labels import CPU_USAGE, MEMORY_USAGE
from quintant.cluster.common.node_faults import NodeFault
from quintant.cluster.simulated import usage

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = {"cpu": Quantity("1"), "memory": Quantity("1Gi")}


def test_container_uses_a_part_of_what_it_asks_for() -> None:
    for minute in range(20):
        used = usage.container_usage("a/b/c", ASKED, NOW + timedelta(minutes=minute))
        assert 0.2 < used.cores < 0.4
        assert 0.4 * 2**30 < used.memory < 0.8 * 2**30


def test_same_moment_gives_the_same_figures_and_another_gives_others() -> None:
    one = usage.container_usage("a/b/c", ASKED, NOW)
    assert usage.container_usage("a/b/c", ASKED, NOW) == one
    assert usage.container_usage("a/b/c", ASKED, NOW + timedelta(minutes=2)) != one
    assert usage.container_usage("a/b/d", ASKED, NOW) != one


def test_container_that_asks_for_nothing_uses_a_little() -> None:
    assert usage.container_usage("a/b/c", {}, NOW).memory > 0


def test_node_adds_up_and_a_full_one_is_full() -> None:
    has = {"memory": Quantity("10Gi")}
    whole = usage.node_usage([ResourceUsage(1.0, 2**30)], has, NodeFault.NONE)
    assert whole is not None
    assert whole.memory == 2**30 + usage.BASE_BYTES
    full = usage.node_usage([], has, NodeFault.FULL)
    assert full is not None
    assert full.memory > 9 * 2**30
    assert usage.node_usage([], has, NodeFault.DEAD) is None


@pytest.mark.parametrize(
    ("annotations", "cores", "memory"),
    [
        ({}, 0.5, 1000),
        ({CPU_USAGE: "900m"}, 0.9, 1000),
        ({MEMORY_USAGE: "1Gi"}, 0.5, 2**30),
        ({CPU_USAGE: "much", MEMORY_USAGE: ""}, 0.5, 1000),
        ({CPU_USAGE: "-1"}, 0.0, 1000),
    ],
)
def test_a_pod_says_what_its_containers_use_and_nonsense_says_nothing(
    annotations: dict[str, str], cores: float, memory: int
) -> None:
    found = usage.annotated_usage(ResourceUsage(0.5, 1000), annotations)
    assert (found.cores, found.memory) == (cores, memory)
