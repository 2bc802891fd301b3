"""What a look at a made cluster means for its Cluster. Pure.

no answer, fewer times than the threshold   DEGRADED
no answer, as often as that                 OFFLINE
an answer after OFFLINE                     CONNECTING, until the next one
a node is not ready                         NOTREADY
a node complains of pressure                UNHEALTHY
otherwise                                   ONLINE
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.meta import ConditionClaim
from quintant.operators.infra.api import ClusterStatus
from quintant.operators.infra.api.cluster_status import MadeNode, MadeNodes
from quintant.operators.infra.observed.answers import NodeLook, TargetLook
from quintant.operators.infra.observer.observed import TargetNews, TargetObserved
from quintant.operators.infra.plan.decision import NOTHING
from quintant.operators.infra.plan.status import (
    API_SERVER_REACHABLE,
    DEGRADED,
    NODES_HEALTHY,
    NODES_NOT_READY,
    RECONNECTED,
    StatusChange,
    claim,
)
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

AGAIN_SECONDS = 60.0
"""Secrets of users that are not watched are read again so often."""
MOST_NODES = 200
"""Nodes that a status lists; all of them are counted."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """What is written about a made cluster, and how the pass ends."""

    change: StatusChange
    conclusion: Conclusion[ClusterStatus]


def news(before: TargetNews | None, look: TargetLook, threshold: int) -> TargetNews:
    """What is known after another look."""
    if not look.failure:
        lost = before is not None and before.failures >= threshold
        return TargetNews(look, 0, threshold, back=lost)
    failures = min((before.failures if before is not None else 0) + 1, threshold)
    return TargetNews(look, failures, threshold)


def plan(observed: TargetObserved) -> TargetPlan:
    """What follows from what is known; nothing before the first look."""
    spec, news = observed.cluster.spec, observed.news
    require_nodes = spec.observer is not None and spec.observer.require_nodes
    change = news_change(news, require_nodes=require_nodes) if news is not None else NOTHING
    given = spec.tosca is None and observed.followed
    return TargetPlan(change, Conclusion(again=Result(after=AGAIN_SECONDS) if given else None))


def news_change(news: TargetNews, *, require_nodes: bool) -> StatusChange:
    """What is said about a Cluster after some looks."""
    look = news.look
    if look.failure and news.failures >= news.threshold:
        message = f"its API server was asked {news.threshold} times: {look.message}"
        return StatusChange(
            claims=(claim(API_SERVER_REACHABLE, False, look.failure, message), _unseen())
        )
    if look.failure:
        message = f"its API server failed {news.failures} of {news.threshold} times: {look.message}"
        return StatusChange(
            claims=(claim(API_SERVER_REACHABLE, None, DEGRADED, message), _unseen())
        )
    reason = RECONNECTED if news.back else "Reachable"
    reached = claim(API_SERVER_REACHABLE, True, reason, "its API server answers")
    return StatusChange(
        {"nodes": counted(look.nodes)}, (reached, _health(look.nodes, require_nodes))
    )


def counted(nodes: tuple[NodeLook, ...]) -> MadeNodes:
    """What a status shows of nodes."""
    listed = sorted(nodes, key=lambda each: each.name)[:MOST_NODES]
    return MadeNodes(
        total=len(nodes),
        ready=sum(each.ready for each in nodes),
        pid_pressure=_pressed(nodes, "PIDPressure"),
        memory_pressure=_pressed(nodes, "MemoryPressure"),
        disk_pressure=_pressed(nodes, "DiskPressure"),
        items=tuple(
            MadeNode(name=each.name, ready=each.ready, conditions=each.pressures) for each in listed
        ),
    )


def _pressed(nodes: tuple[NodeLook, ...], pressure: str) -> int:
    return sum(pressure in each.pressures for each in nodes)


def _health(nodes: tuple[NodeLook, ...], require_nodes: bool) -> ConditionClaim:
    unready = [each.name for each in nodes if not each.ready]
    if unready:
        return claim(NODES_HEALTHY, False, NODES_NOT_READY, f"not ready: {_names(unready)}")
    if not nodes and require_nodes:
        return claim(NODES_HEALTHY, False, NODES_NOT_READY, "it has no nodes")
    pressed = [f"{each.name} ({', '.join(each.pressures)})" for each in nodes if each.pressures]
    if pressed:
        return claim(NODES_HEALTHY, False, "Pressure", _names(pressed))
    return claim(NODES_HEALTHY, True, "Healthy", f"{len(nodes)} of {len(nodes)} nodes are ready")


def _names(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(sorted(names)[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _unseen() -> ConditionClaim:
    return claim(NODES_HEALTHY, None, "NotSeen", "its nodes cannot be seen")
