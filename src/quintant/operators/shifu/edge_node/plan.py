"""What is said of an edge node, and when it is worth a write. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from quintant.api.meta import Condition, condition_of, set_condition
from quintant.api.quantity import Quantity
from quintant.core.clock import timestamp
from quintant.core.object import replace
from quintant.operators.shifu.api.node import (
    AVAILABLE,
    FRESH,
    LOCATED,
    PRESSURE,
    DeviceShifuCounts,
    EdgeNodeStatus,
    FreeMemory,
    NodeLocation,
    NodeResources,
    UsedResources,
)
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.rules.moments import seconds_since
from quintant.operators.shifu.topology.node_record import (
    DECLARED,
    METRICS,
    EdgeNodeRecord,
    phase_word,
)
from quintant.runtime.events.transitions import Transition, transition_events
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.kstatus import READY

MASS_LOSS = "MassNodeLoss"
FREE_SHARE = 0.05
"""Of what is allocatable: free memory is written again when it has moved by more."""
LONGEST_SECONDS = 300.0
"""And after so long, if it has moved at all."""
MOST_NAMES = 50
TRANSITIONS = (Transition(AVAILABLE, status="False", reason=MASS_LOSS),)


@dataclass(frozen=True, slots=True)
class NodeDevices:
    """The devices of a node."""

    names: tuple[str, ...] = ()
    bound: int = 0
    running: int = 0
    failed: int = 0


def plan(
    record: EdgeNodeRecord,
    before: EdgeNodeStatus,
    devices: NodeDevices,
    now: datetime,
    *,
    held: bool = False,
) -> Conclusion[EdgeNodeStatus]:
    """What follows for a node; nothing if no change is worth a write."""
    status = _status(record, before, devices, now, held)
    if not _worthwhile(record, before, status, now):
        return Conclusion()
    events = transition_events(before.conditions, status.conditions, TRANSITIONS)
    return Conclusion(status, events=tuple(events))


def _status(
    record: EdgeNodeRecord, before: EdgeNodeStatus, devices: NodeDevices, now: datetime, held: bool
) -> EdgeNodeStatus:
    node = record.node
    return EdgeNodeStatus(
        phase=phase_word(record),
        observed_generation=_generation(record),
        capacity=_resources(node.status.capacity if node else {}),
        allocatable=_resources(node.status.allocatable if node else {}),
        free=_free(record, now),
        used=_used(record),
        device_shifus=DeviceShifuCounts(
            bound=devices.bound, running=devices.running, failed=devices.failed
        ),
        devices=devices.names[:MOST_NAMES],
        addresses=tuple(each.address for each in node.status.addresses) if node else (),
        location=_location(record),
        last_heartbeat=before.last_heartbeat,
        conditions=_conditions(record, before, now, held),
    )


def _worthwhile(
    record: EdgeNodeRecord, before: EdgeNodeStatus, after: EdgeNodeStatus, now: datetime
) -> bool:
    """Whether something changed that people wait for, or memory by much, or for long."""
    if _apart(before) != _apart(after):
        return True
    old, new = before.free or FreeMemory(), after.free or FreeMemory()
    if (old.memory_bytes is None) != (new.memory_bytes is None) or old.source != new.source:
        return True
    moved = abs((old.memory_bytes or 0) - (new.memory_bytes or 0))
    if moved > FREE_SHARE * record.allocatable:
        return True
    passed = seconds_since(old.observed_at, now)
    return bool(moved) and (passed is None or passed >= LONGEST_SECONDS)


def _apart(status: EdgeNodeStatus) -> EdgeNodeStatus:
    """A status without the figures that change all the time."""
    return replace(status, free=None, used=None, last_heartbeat=None)


def _resources(amounts: Mapping[str, Quantity]) -> NodeResources | None:
    if not amounts:
        return None
    return NodeResources(
        cpu=amounts.get("cpu"), memory=amounts.get("memory"), pods=amounts.get("pods")
    )


def _free(record: EdgeNodeRecord, now: datetime) -> FreeMemory:
    figures = record.figures
    if not record.fresh or figures is None:
        return FreeMemory(memory_bytes=record.free, source=DECLARED)
    raw = max(0, record.allocatable - figures.memory - record.reserved)
    return FreeMemory(
        memory_bytes=record.free,
        raw_memory_bytes=raw,
        observed_at=timestamp(figures.at),
        source=METRICS,
    )


def _used(record: EdgeNodeRecord) -> UsedResources | None:
    if not record.fresh or record.figures is None:
        return None
    return UsedResources(memory_bytes=record.figures.memory, cpu_millis=record.figures.cpu)


def _location(record: EdgeNodeRecord) -> NodeLocation | None:
    given, location = record.spec.location, record.location
    found = NodeLocation(
        latitude=location.latitude if location else None,
        longitude=location.longitude if location else None,
        altitude_meters=given.altitude_meters if given else None,
        site=given.site if given else "",
        zone=record.zone,
        region=record.region,
    )
    return found if found != NodeLocation() else None


def _conditions(
    record: EdgeNodeRecord, before: EdgeNodeStatus, now: datetime, held: bool
) -> tuple[Condition, ...]:
    node = record.node
    condition = condition_of(node.status.conditions, "MemoryPressure") if node else None
    available = record.phase in (NodePhase.READY, NodePhase.RECOVERING)
    reason = MASS_LOSS if held and not available else record.phase.value
    verdicts = (
        (AVAILABLE, available, reason),
        (READY, available, reason),
        (PRESSURE, condition is not None and condition.status == "True", "AsItsNodeSays"),
        (LOCATED, record.location is not None, "Given" if record.location else "NotGiven"),
        (FRESH, record.fresh, METRICS.replace(".", "_") if record.fresh else "NoFigures"),
    )
    found = before.conditions
    for kind, status, why in verdicts:
        found = set_condition(
            found, kind, status=status, reason=why, generation=_generation(record), now=now
        )
    return found


def _generation(record: EdgeNodeRecord) -> int | None:
    return record.edge.metadata.generation if record.edge is not None else None
