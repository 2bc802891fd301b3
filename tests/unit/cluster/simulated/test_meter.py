"""The simulator's meter tells figures of what says that it is simulated, and of nothing else."""

from __future__ import annotations

from quintant.cluster.apiserver.kubelet_client.meter import (
    MeasuredContainer,
    MeasuredMeta,
    MeasuredNode,
    MeasuredPod,
)
from quintant.cluster.common.labels import FAULT, POD, SIMULATED
from quintant.cluster.simulated.meter import SimulatedMeter
from quintant.core.clock import LoopClock


def pod(name: str, *, simulated: bool) -> MeasuredPod:
    notes = {POD: "true"} if simulated else {}
    made = MeasuredPod(MeasuredMeta(name, "default", annotations=notes))
    made.spec.containers = (MeasuredContainer("c"),)
    made.spec.node_name = "n"
    return made


def node(name: str, *, simulated: bool, fault: str = "") -> MeasuredNode:
    labels = {SIMULATED: "true"} if simulated else {}
    return MeasuredNode(MeasuredMeta(name, labels=labels, annotations={FAULT: fault}))


async def test_only_simulated_pods_have_figures() -> None:
    meter, mine, other = (
        SimulatedMeter(LoopClock()),
        pod("a", simulated=True),
        pod("b", simulated=False),
    )
    (key,) = meter.pods([mine, other])
    assert key == mine.key


async def test_only_simulated_nodes_that_are_heard_of_have_figures() -> None:
    nodes = [
        node("n", simulated=True),
        node("silent", simulated=True, fault="dead"),
        node("real", simulated=False),
    ]
    assert set(SimulatedMeter(LoopClock()).nodes(nodes, [])) == {"n"}


async def test_a_nodes_figures_hold_those_of_its_simulated_pods() -> None:
    meter, nodes = SimulatedMeter(LoopClock()), [node("n", simulated=True)]
    idle = meter.nodes(nodes, [pod("b", simulated=False)])["n"].usage.memory
    assert meter.nodes(nodes, [pod("a", simulated=True)])["n"].usage.memory > idle
