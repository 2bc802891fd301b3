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
from quintant.operators.infra.api.cluster_status import MadeNode, MadeNodes
from quintant.operators.infra.observe.answers import NodeLook, TargetLook
from quintant.operators.infra.plan.status import (
    API_SERVER_REACHABLE,
    DEGRADED,
    NODES_HEALTHY,
    NODES_NOT_READY,
    RECONNECTED,
    StatusChange,
    claim,
)

MOST_NODES = 200
"""Nodes that a status lists; all of them are counted."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class TargetNews:
    """What is known of a made cluster after some looks."""

    look: TargetLook
    failures: int = 0
    """Looks in a row that failed; no more than the threshold are counted."""
    threshold: int = 3
    back: bool = False
    """Whether it is the first answer after it was out of reach."""


def news(before: TargetNews | None, look: TargetLook, threshold: int) -> TargetNews:
    """What is known after another look."""
    if not look.failure:
        lost = before is not None and before.failures >= threshold
        return TargetNews(look, 0, threshold, back=lost)
    failures = min((before.failures if before is not None else 0) + 1, threshold)
    return TargetNews(look, failures, threshold)


def plan(told: TargetNews, *, require_nodes: bool) -> StatusChange:
    """What is said about a Cluster after this."""
    look = told.look
    if look.failure and told.failures >= told.threshold:
        said = f"its API server was asked {told.threshold} times: {look.message}"
        return StatusChange(
            claims=(claim(API_SERVER_REACHABLE, False, look.failure, said), _unseen())
        )
    if look.failure:
        said = f"its API server failed {told.failures} of {told.threshold} times: {look.message}"
        return StatusChange(claims=(claim(API_SERVER_REACHABLE, None, DEGRADED, said), _unseen()))
    reason = RECONNECTED if told.back else "Reachable"
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
