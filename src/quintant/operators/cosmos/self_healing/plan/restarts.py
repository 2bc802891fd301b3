"""Which nodes are restarted, because they lag or stand still. Pure.

A node is restarted if that was seen twice, its pod is no newcomer, it was not restarted lately, and
the budget of the CosmosFullNode allows it. Times are those of our own clock: a chain's clock may be
wrong by a day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from quintant.api.events import PlannedEvent
from quintant.core.clock import parse_timestamp
from quintant.operators.cosmos.api import NODE_CONTAINER
from quintant.operators.cosmos.api.full_node import SelfHeal
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.observed.full_node import ChainNode, Observed
from quintant.operators.cosmos.plan.rollout import disruption_budget, max_unavailable
from quintant.operators.cosmos.self_healing.observed import FirstSeen, HealingMemory

COOLDOWN = timedelta(minutes=10)
"""After a restart a node is left alone for so long: it may be on its way back."""
NEWCOMER = timedelta(minutes=2)
DRIFT, STALL = "drift", "stall"
RESTART_EVENTS = {DRIFT: "HeightDriftMitigation", STALL: "StallRestart"}
"""The event that reports a restart, by what was wrong."""


@dataclass(frozen=True, slots=True)
class NodeTrouble:
    """What is wrong with a node, for a restart."""

    node: ChainNode
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class NodeRestart:
    """A pod to delete, and what is reported of it."""

    pod: NodePod
    reason: str
    event: PlannedEvent

    def refusal(self, message: str) -> PlannedEvent:
        """What is reported if the server refuses."""
        return PlannedEvent("Warning", f"{self.event.reason}DeletePod", message)


def node_restarts(observed: Observed, wanted: SelfHeal, memory: HealingMemory) -> list[NodeRestart]:
    """The pods to delete now."""
    due = plan_restarts(observed, wanted, memory.isolated, memory.troubles)
    return [
        NodeRestart(each.node.pod, each.reason, _event(each))
        for each in due
        if each.node.pod is not None
    ]


def _event(trouble: NodeTrouble) -> PlannedEvent:
    message = f"Restarted {trouble.node.name}: {trouble.message}"
    return PlannedEvent("Normal", RESTART_EVENTS[trouble.reason], message)


def troubles(
    observed: Observed, wanted: SelfHeal, alone: Mapping[str, datetime]
) -> Iterator[NodeTrouble]:
    """The nodes with which something is wrong; `alone` is since when those without peers are."""
    if wanted.height_drift_mitigation is not None:
        threshold = wanted.height_drift_mitigation.threshold
        for node in lagging(observed.nodes, threshold):
            yield NodeTrouble(node, DRIFT, f"{threshold} blocks behind or more")
    if wanted.stall is not None:
        yield from _stalled(observed, timedelta(seconds=wanted.stall.seconds), alone)


def lagging(nodes: Iterable[ChainNode], threshold: int) -> list[ChainNode]:
    """The nodes that say they are in sync, and are so many blocks behind, by ordinal."""
    heights = [(node, _height(node)) for node in nodes if node.in_sync]
    highest = max((height for _, height in heights), default=0)
    return [node for node, height in heights if highest - height >= threshold]


def _stalled(
    observed: Observed, limit: timedelta, alone: Mapping[str, datetime]
) -> Iterator[NodeTrouble]:
    highest = max(
        (_height(node) for node in observed.nodes if _advances(node, observed, limit)), default=0
    )
    for node in observed.nodes:
        if not node.present or node.halted or node.pod is None or node.item is None:
            continue
        silent = node.item.failing_since if node.item.error else None
        since = alone.get(node.pod.metadata.uid)
        if silent is not None and observed.now - silent >= limit and _runs(node):
            yield NodeTrouble(node, STALL, f"silent: {node.item.error}")
        elif node.reachable and not _advances(node, observed, limit) and _height(node) < highest:
            yield NodeTrouble(node, STALL, f"at height {_height(node)} while others advance")
        elif node.reachable and since is not None and observed.now - since >= limit:
            yield NodeTrouble(node, STALL, "without peers")


def plan_restarts(
    observed: Observed,
    wanted: SelfHeal,
    alone: Mapping[str, datetime],
    known: Mapping[str, FirstSeen],
) -> list[NodeTrouble]:
    """The nodes to restart now; `known` is what was first seen of each, by name."""
    due = [
        each
        for each in troubles(observed, wanted, alone)
        if confirmed(each, known.get(each.node.name)) and may_restart(each.node, observed)
    ]
    first = list({each.node.name: each for each in reversed(due)}.values())[::-1]
    working = [each for each in first if each.node.available]
    down = [each for each in first if not each.node.available]
    returning = observed.desired - observed.available - len(down)
    most = max_unavailable(observed.full_node.spec.strategy.max_unavailable, observed.desired)
    return [*down[: max(most - returning, 0)], *working[: disruption_budget(observed)]]


def confirmed(trouble: NodeTrouble, before: FirstSeen | None) -> bool:
    """Whether an earlier answer of the same pod said so, too."""
    node = trouble.node
    if before is None or node.pod is None or node.item is None:
        return False
    same = (before.uid, before.reason) == (node.pod.metadata.uid, trouble.reason)
    return same and node.item.asked_at > before.at


def may_restart(node: ChainNode, observed: Observed) -> bool:
    """Whether a node's pod is old enough, and was not restarted lately."""
    created = node.pod.metadata.creation_timestamp if node.pod is not None else None
    if created is None or observed.now - parse_timestamp(created) < NEWCOMER:
        return False
    last = observed.status.self_healing.restarted_at.get(node.name)
    return last is None or observed.now - parse_timestamp(last) >= COOLDOWN


def sightings(
    current: Iterable[NodeTrouble], before: Mapping[str, FirstSeen]
) -> dict[str, FirstSeen]:
    """What was first seen of each node, and is still so."""
    kept: dict[str, FirstSeen] = {}
    for each in current:
        node = each.node
        if node.pod is None or node.item is None or node.name in kept:
            continue
        known, uid = before.get(node.name), node.pod.metadata.uid
        same = known is not None and (known.uid, known.reason) == (uid, each.reason)
        first = FirstSeen(uid, each.reason, node.item.asked_at)
        kept[node.name] = known if known is not None and same else first
    return kept


def _advances(node: ChainNode, observed: Observed, limit: timedelta) -> bool:
    since = node.item.advanced_at if node.item is not None else None
    return node.reachable and since is not None and observed.now - since < limit


def _runs(node: ChainNode) -> bool:
    """Whether the node's program runs, though it does not answer."""
    statuses = node.pod.status.container_statuses if node.pod is not None else ()
    return any(each.name == NODE_CONTAINER and each.state.running is not None for each in statuses)


def _height(node: ChainNode) -> int:
    return (node.item.height if node.item is not None else None) or 0
