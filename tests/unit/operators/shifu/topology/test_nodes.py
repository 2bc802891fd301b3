"""Which nodes are edge nodes, and which of them are unwell, whatever changes."""

from __future__ import annotations

import asyncio

from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.names import CONTROL_PLANE, EDGE_NODE_LABEL
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.plan.node_phase import NodePhaseState
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.topology.nodes import EdgeNodes
from quintant.testing.loop import settle


def node(name: str, **labels: str) -> ShifuNode:
    return ShifuNode(metadata=ObjectMeta(name=name, uid=f"uid {name}", labels=labels))


def edge(name: str) -> EdgeNode:
    return EdgeNode(metadata=ObjectMeta(name=name), spec=EdgeNodeSpec())


def names(nodes: EdgeNodes) -> list[str]:
    return [each.name for each in nodes]


def add(nodes: EdgeNodes, *found: ShifuNode) -> None:
    for each in found:
        nodes.set_node(each.metadata.name, each)


def set_phase(nodes: EdgeNodes, name: str, phase: NodePhase) -> None:
    record = nodes.find(name)
    assert record is not None
    record.state = NodePhaseState(phase, 0.0)
    nodes.note_phase(name)


def test_who_comes_goes_or_is_labelled_otherwise_is_seen_at_the_next_look() -> None:
    nodes = EdgeNodes()
    add(nodes, node("a"), node("b"))
    assert names(nodes) == ["a", "b"]
    add(nodes, node("a", **{EDGE_NODE_LABEL: "false"}))
    assert names(nodes) == ["b"]
    nodes.set_edge(edge("a"))
    assert names(nodes) == ["a", "b"]
    nodes.set_edge(edge("a"), gone=True)
    add(nodes, node("a"))
    nodes.set_node("b", None)
    assert names(nodes) == ["a"]


def test_a_control_plane_is_an_edge_node_as_long_as_it_is_alone() -> None:
    nodes = EdgeNodes()
    control = {CONTROL_PLANE: ""}
    add(nodes, node("control", **control))
    assert names(nodes) == ["control"]
    add(nodes, node("worker"))
    assert names(nodes) == ["worker"]
    nodes.set_node("worker", None)
    assert names(nodes) == ["control"]


async def test_trouble_is_waited_for_until_a_node_is_unwell() -> None:
    nodes = EdgeNodes()
    add(nodes, node("a"), node("b"))
    set_phase(nodes, "a", NodePhase.READY)
    set_phase(nodes, "b", NodePhase.READY)
    waiting = asyncio.ensure_future(nodes.trouble())
    await settle()
    assert not waiting.done()
    set_phase(nodes, "b", NodePhase.SUSPECT)
    await waiting
    assert nodes.unwell == ("b",)


async def test_trouble_is_over_when_the_last_unwell_node_is_ready_or_gone() -> None:
    nodes = EdgeNodes()
    add(nodes, node("a"), node("b"))
    set_phase(nodes, "a", NodePhase.LOST)
    set_phase(nodes, "b", NodePhase.RECOVERING)
    set_phase(nodes, "b", NodePhase.READY)
    assert list(nodes.unwell) == ["a"]
    nodes.set_node("a", None)
    nodes.note_phase("a")
    assert list(nodes.unwell) == []
    waiting = asyncio.ensure_future(nodes.trouble())
    await settle()
    assert not waiting.done()
    waiting.cancel()
