"""ReadyCondition, MemoryPressureCondition: conditions of a node, and its faults. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from quintant.api.meta import condition_of
from quintant.api.node import NodeCondition, NodeStatus
from quintant.cluster.common.node_faults import NodeFault
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.object import replace

REPORT_SECONDS = 300.0
"""How often a node that is as it was says so again, in its status."""
ConditionFields = tuple[str, str, str, str]
"""Type, status, reason and message of a condition."""

# Type, status when all is well, reason and message then.
_WELL = (
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
_FAULTY = {
    NodeFault.NOT_READY: ("Ready", "False", "KubeletNotReady", "the node was told not to be ready"),
    NodeFault.FULL: (
        "MemoryPressure",
        "True",
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
    ),
}


def node_conditions(
    status: NodeStatus, fault: NodeFault, now: datetime, wrong: ConditionFields | None = None
) -> tuple[NodeCondition, ...]:
    """The conditions of a node with a fault, or with something else that is wrong.

    `status` is the one so far: a condition that stays as it was keeps the time of its transition.
    """
    found = wrong or _FAULTY.get(fault)
    return tuple(_condition(status, *each, now) for each in _with(found))


def seconds_until_report(
    status: NodeStatus, wanted: NodeStatus, now: datetime, every: float = REPORT_SECONDS
) -> float:
    """When a node has to say how it is; at once if that is not what it said."""
    if without_times(status) != without_times(wanted):
        return 0.0
    confirmed = [each.last_heartbeat_time for each in status.conditions]
    oldest = min((parse_timestamp(each) for each in confirmed if each), default=now)
    return max(0.0, (oldest + timedelta(seconds=every) - now).total_seconds())


def without_times(status: NodeStatus) -> NodeStatus:
    """A status that can be compared: what nodes say, whenever they last said it."""
    known = {each[0] for each in _WELL}
    conditions = sorted(
        (
            replace(each, last_heartbeat_time=None, last_transition_time=None)
            for each in status.conditions
            if each.type in known
        ),
        key=lambda each: each.type,
    )
    return replace(status, conditions=tuple(conditions))


def _with(wrong: ConditionFields | None) -> Iterator[ConditionFields]:
    for each in _WELL:
        yield wrong if wrong is not None and wrong[0] == each[0] else each


def _condition(
    node_status: NodeStatus, type: str, status: str, reason: str, message: str, now: datetime
) -> NodeCondition:
    known = condition_of(node_status.conditions, type)
    since = known.last_transition_time if known is not None and known.status == status else None
    return NodeCondition(
        type=type,
        status=status,
        reason=reason,
        message=message,
        last_heartbeat_time=timestamp(now),
        last_transition_time=since or timestamp(now),
    )
