"""tryUpdateNodeHealth: whether a node still reports, and its conditions if it does not.

A sign of life is a lease that was renewed or a status that was confirmed. What counts is when the
sign was seen here, on the loop's clock: the clocks of nodes may be wrong. While nobody looked (the
process was stopped, or so busy that it comes to the same) nobody can have been silent.
"""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace as replaced

from quintant.api.core import NodeCondition
from quintant.api.meta import condition_of
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.controllers.nodes.views import READY, LeaseState, NodeState
from quintant.core.clock import timestamp
from quintant.core.object import replace

STARTUP_SECONDS = 60.0
"""How long a node may take until it is heard of for the first time."""
UNKNOWN = "Unknown"
_WATCHED = (READY, "MemoryPressure", "DiskPressure", "PIDPressure")


class NodeHealth(Struct, frozen=True):
    """The last sign of life of a node."""

    renewed: str | None
    confirmed: str | None
    at: float
    """When it was first seen here."""


class NodeHealthMap:
    """Remembers the last sign of life of every node."""

    def __init__(self, times: HeartbeatTimes = HeartbeatTimes()) -> None:
        self._times = times
        self._signs: dict[str, NodeHealth] = {}
        self._looked: float | None = None

    def begin_round(self, now: float) -> None:
        """Note that all nodes are looked at; what was missed since the last time does not count."""
        away = 0.0 if self._looked is None else now - self._looked
        self._looked = now
        if away > self._times.absent:
            self._signs = {
                uid: replaced(sign, at=sign.at + away) for uid, sign in self._signs.items()
            }

    def seconds_silent(self, node: NodeState, lease: LeaseState | None, now: float) -> float:
        """Seconds since a node was last heard of."""
        renewed = lease.spec.renew_time if lease is not None else None
        ready = condition_of(node.status.conditions, READY)
        confirmed = ready.last_heartbeat_time if isinstance(ready, NodeCondition) else None
        known = self._signs.get(node.metadata.uid)
        if known is None or (known.renewed, known.confirmed) != (renewed, confirmed):
            known = self._signs[node.metadata.uid] = NodeHealth(renewed, confirmed, now)
        return now - known.at

    def keep(self, uids: Container[str]) -> None:
        """Forget all nodes but these."""
        self._signs = {uid: sign for uid, sign in self._signs.items() if uid in uids}


def grace_period(node: NodeState, times: HeartbeatTimes) -> float:
    """How many seconds of silence a node is granted."""
    return times.grace if node.ready else max(STARTUP_SECONDS, times.grace)


def unreachable_conditions(node: NodeState, now: datetime) -> tuple[NodeCondition, ...]:
    """The conditions of a node that is not heard of any more."""
    return tuple(_unknown(node, type, now) for type in _WATCHED)


def _unknown(node: NodeState, type: str, now: datetime) -> NodeCondition:
    known = condition_of(node.status.conditions, type)
    if not isinstance(known, NodeCondition):
        return NodeCondition(
            type=type,
            status=UNKNOWN,
            reason="NodeStatusNeverUpdated",
            message="Kubelet never posted node status.",
            last_heartbeat_time=node.metadata.creation_timestamp,
            last_transition_time=timestamp(now),
        )
    if known.status == UNKNOWN:
        return known
    return replace(
        known,
        status=UNKNOWN,
        reason="NodeStatusUnknown",
        message="Kubelet stopped posting node status.",
        last_transition_time=timestamp(now),
    )
