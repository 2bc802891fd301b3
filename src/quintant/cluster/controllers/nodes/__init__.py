"""The life of nodes: who is heard of, which taints follow, and which pods have to leave.

What the node-lifecycle and taint-eviction controllers of a real cluster do. `health` and `taints`
decide, `reconcile` acts. Not here: limits to how many nodes per second are given up.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.core import Node
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.controllers.nodes.reconcile import EVERYBODY, NAME, ON_NODE, NodeLifecycle
from quintant.cluster.controllers.nodes.views import LeaseState, NodeState
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import Object, Request
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.sources import SourceContext


def declare(manager: Manager, times: HeartbeatTimes = HeartbeatTimes()) -> None:
    """Add the node controller to a manager; `times` says how long nodes may be silent."""
    (
        manager.keyed(NAME)
        .watches(NodeState, to=lambda node: (node.key,), when=_is_relevant_change)
        .on(_round)
        .watches(LeaseState, to=_no_keys)
        .watches(PodState, to=_no_keys, index={ON_NODE: _node})
        .uses(Node, "patch")
        .uses(Node, "patch", sub="status")
        .uses(PodState, "delete")
        .uses(PodState, "patch", sub="status")
        .workers(1)
        .reconcile(NodeLifecycle(times))
    )


async def _round(feed: SourceContext) -> None:
    """Begin the rounds; each asks for the next."""
    feed.queue.add(EVERYBODY)


def _no_keys(obj: Object) -> Iterable[Request]:
    """For what is only looked up: heartbeats and pods are too many to be heard one by one."""
    return ()


def _node(pod: PodState) -> Iterable[str]:
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def _is_relevant_change(old: NodeState | None, new: NodeState | None) -> bool:
    """Whether a change of a node is more than a heartbeat."""
    if old is None or new is None or old.spec != new.spec:
        return True
    before = {each.type: each.status for each in old.status.conditions}
    return before != {each.type: each.status for each in new.status.conditions}
