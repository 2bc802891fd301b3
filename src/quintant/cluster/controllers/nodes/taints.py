"""nodeConditionToTaintKeyStatusMap, tainteviction: node lifecycle taints, and evictions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from quintant.api.core import Taint, Toleration
from quintant.cluster.common.taints import NO_EXECUTE, NO_SCHEDULE, tolerates
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.core.clock import capped_timedelta, parse_timestamp, timestamp

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
# The taint that stands for a condition with a status.
_TAINT_OF_CONDITION = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
_DRIVING = (NOT_READY, UNREACHABLE)
_OURS = frozenset(
    [
        *((key, NO_SCHEDULE) for key in (*_TAINT_OF_CONDITION.values(), UNSCHEDULABLE)),
        *((key, NO_EXECUTE) for key in _DRIVING),
    ]
)


def desired_taints(node: NodeState, now: datetime, *, drive: bool) -> tuple[Taint, ...]:
    """The taints a node should have; those of others are kept.

    `drive` says whether pods may be driven out, too.
    """
    wanted = _wanted(node, drive=drive)
    kept = [
        taint
        for taint in node.spec.taints
        if (taint.key, taint.effect) not in _OURS or (taint.key, taint.effect) in wanted
    ]
    known = {(taint.key, taint.effect) for taint in kept}
    new = [
        Taint(key=key, effect=effect, time_added=timestamp(now))
        for key, effect in wanted
        if (key, effect) not in known
    ]
    return (*kept, *new)


def eviction_time(
    tolerations: Sequence[Toleration], taints: Iterable[Taint], now: datetime
) -> datetime | None:
    """When a pod has to leave a node with these taints; None means never."""
    moments = [_until(tolerations, taint, now) for taint in taints if taint.effect == NO_EXECUTE]
    return min((moment for moment in moments if moment is not None), default=None)


def _wanted(node: NodeState, *, drive: bool) -> list[tuple[str, str]]:
    found = []
    for condition in node.status.conditions:
        key = _TAINT_OF_CONDITION.get((condition.type, condition.status))
        if key is not None:
            found.append((key, NO_SCHEDULE))
            if drive and key in _DRIVING:
                found.append((key, NO_EXECUTE))
    if node.spec.unschedulable:
        found.append((UNSCHEDULABLE, NO_SCHEDULE))
    return found


def _until(tolerations: Sequence[Toleration], taint: Taint, now: datetime) -> datetime | None:
    since = parse_timestamp(taint.time_added) if taint.time_added else now
    accepted = [each for each in tolerations if tolerates(each, taint)]
    if not accepted:
        return since
    limits = [each.toleration_seconds for each in accepted if each.toleration_seconds is not None]
    return since + capped_timedelta(max(0, min(limits))) if limits else None
