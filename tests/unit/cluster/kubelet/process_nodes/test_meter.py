"""The figures of a node beside `local`: those of its pods, while it is heard of."""

from __future__ import annotations

import asyncio

import pytest

from quintant.api.quantity import Quantity
from quintant.cluster.apiserver.kubelet_client.meter import MeasuredMeta, MeasuredNode
from quintant.cluster.common.labels import FAULT
from quintant.cluster.kubelet.process.proc_stats import ProcStat, UsageSampler
from quintant.cluster.kubelet.process_nodes.meter import ProcessNodeMeter
from unit.cluster.kubelet.world import World, container

CAPACITY = {"memory": Quantity("1000")}


@pytest.fixture
async def sampler(world: World) -> UsageSampler:
    """What measures a node with one pod that takes a hundred bytes."""
    await world.run("a", container())
    pid = world.processes.newest.pid
    table = {pid: ProcStat(1, pid, 0.0, 100)}
    made = UsageSampler(
        "paris", world.kubelet.sandboxes, world.node.now, lambda: table, whole=False
    )
    made.sample()
    await asyncio.sleep(2)
    made.sample()
    return made


def node(name: str, fault: str = "") -> MeasuredNode:
    meta = MeasuredMeta(name, annotations={FAULT: fault} if fault else {})
    found = MeasuredNode(meta)
    found.status.capacity = CAPACITY
    return found


@pytest.mark.parametrize(("fault", "memory"), [("", 100), ("not-ready", 100), ("full", 970)])
async def test_a_node_uses_what_its_pods_use_unless_it_is_full(
    sampler: UsageSampler, fault: str, memory: int
) -> None:
    meter = ProcessNodeMeter("paris", sampler, lambda: True)
    found = meter.nodes((node("local"), node("paris", fault)), ())
    assert {name: each.usage.memory for name, each in found.items()} == {"paris": memory}


async def test_nothing_is_known_of_a_node_that_is_cut_off(sampler: UsageSampler) -> None:
    meter = ProcessNodeMeter("paris", sampler, lambda: False)
    assert meter.nodes((node("paris"),), ()) == {}
    assert meter.pods(()) == {}
