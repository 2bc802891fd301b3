"""Nodes: how they are, what they have, and what is asked of them by their pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from quintant.api.core import Node
from quintant.api.meta import condition_of
from quintant.console.boards.pods import PODS, CountedPod, amount
from quintant.console.links import cut, is_simulated, object_link
from quintant.console.publisher import Publisher
from quintant.console.sources import AnyChange, Sources
from quintant.console.topics import AccessScope, Topic, TopicRow
from quintant.core.resource import Resource, resource_of
from quintant.runtime.observe.system_panel import ObjectState, explain_condition

NODES = resource_of(Node)
FAULTS = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
"""Conditions that are bad when they are True."""


class NodesBoard:
    """The topic of nodes, and what their pods ask for."""

    def __init__(self, publisher: Publisher, sources: Sources) -> None:
        self.topic: Topic = publisher.add(Topic("nodes", AccessScope("", "nodes")))
        self.nodes: dict[str, Node] = {}
        self.memory: Counter[str] = Counter()
        self.cpu_millis: Counter[str] = Counter()
        self.pods: Counter[str] = Counter()
        self._publisher = publisher
        self._followers: list[Callable[[str], None]] = []
        self._changed: set[str] = set()
        sources.subscribe(NODES, self._heard_node)
        sources.subscribe(PODS, self._heard_pod)
        sources.follow(NODES, Node)
        sources.follow_view(CountedPod)
        publisher.mark(self)

    def follow(self, listener: Callable[[str], None]) -> None:
        """Hear whenever a node changes, or what is asked of one."""
        self._followers.append(listener)

    def flush(self) -> None:
        changed, self._changed = self._changed, set()
        rows = {name: self.row(self.nodes[name]) for name in changed if name in self.nodes}
        self.topic.publish(rows, [name for name in changed if name not in rows])

    def row(self, node: Node) -> TopicRow:
        """A node as a row."""
        state, sentence = judge_node(node)
        fields = {
            "name": node.metadata.name, "state": state, "sentence": cut(sentence),
            "simulated": is_simulated(node.metadata), **self.amounts(node),
            "pods": self.pods[node.metadata.name],
            "taints": [
                f"{each.key}={each.value}:{each.effect}" if each.value else
                f"{each.key}:{each.effect}"
                for each in node.spec.taints[:20]
            ],
            "link": object_link(NODES, node.metadata.name),
        }  # fmt: skip
        return TopicRow(fields, AccessScope("", "nodes"))

    def amounts(self, node: Node) -> dict[str, Any]:
        """What a node has, and what its pods ask for: bytes, and CPUs."""
        name, has = node.metadata.name, node.status.allocatable or node.status.capacity
        return {
            "memory": {"capacity": amount(has.get("memory")), "requested": self.memory[name]},
            "cpu": {
                "capacity": amount(has.get("cpu"), 1000) / 1000,
                "requested": self.cpu_millis[name] / 1000,
            },
        }

    def _heard_node(self, _resource: Resource, change: AnyChange) -> None:
        if change.new is not None:
            self.nodes[change.new.metadata.name] = change.new
            self._mark(change.new.metadata.name)
        elif change.old is not None:
            self.nodes.pop(change.old.metadata.name, None)
            self._mark(change.old.metadata.name)

    def _heard_pod(self, _resource: Resource, change: AnyChange) -> None:
        self._count(change.old, -1)
        self._count(change.new, 1)

    def _count(self, pod: CountedPod | None, sign: int) -> None:
        if pod is None or pod.over or not pod.node:
            return
        self.memory[pod.node] += sign * pod.memory
        self.cpu_millis[pod.node] += sign * pod.cpu_millis
        self.pods[pod.node] += sign
        self._mark(pod.node)

    def _mark(self, name: str) -> None:
        self._changed.add(name)
        self._publisher.mark(self)
        for listener in self._followers:
            listener(name)


def judge_node(node: Node) -> tuple[ObjectState, str]:
    """How a node is, and why."""
    ready = condition_of(node.status.conditions, "Ready")
    if ready is None:
        return "unknown", "its kubelet has not said how it is"
    if ready.status != "True":
        return "broken", explain_condition(ready)
    for type in FAULTS:
        fault = condition_of(node.status.conditions, type)
        if fault is not None and fault.status == "True":
            return "broken", f"{type}: {explain_condition(fault)}"
    if node.spec.unschedulable:
        return "working", "it takes no new pods: it is cordoned"
    return "well", "it takes pods"
