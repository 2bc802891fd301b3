"""What is known of one edge node: its Node, its EdgeNode, how it is, and what is free on it.

Its phase steps with the loop's time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from quintant.api.core import Toleration
from quintant.api.meta import condition_of
from quintant.operators.shifu.api.names import LOCATION, REGION, ZONE
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.plan.node_phase import (
    NodePhaseState,
    NodeReadiness,
    first_state,
    step,
)
from quintant.operators.shifu.plan.placement import NodeOffer
from quintant.operators.shifu.plan.reading import SmoothedReading
from quintant.operators.shifu.rules.amounts import amount_of, whole_amount
from quintant.operators.shifu.rules.geo import GeoPoint, checked_point, parse_location
from quintant.operators.shifu.rules.hints import parse_duration
from quintant.operators.shifu.rules.limits import NodePhase, PhaseTimes
from quintant.operators.shifu.rules.moments import seconds_since
from quintant.operators.shifu.rules.tolerance import (
    MEMORY_PRESSURE,
    OUT_OF_SERVICE,
    UNSCHEDULABLE,
    untolerated,
)

SYSTEM_PODS = 10
"""Of the pods that a node takes, so many are not deviceShifus."""
METRICS, DECLARED = "metrics.k8s.io", "declared"
_UNBOUNDED = 10**9


class NodeFigures(NamedTuple):
    """What a node was last seen to use."""

    memory: int
    """Bytes."""
    cpu: int
    """Thousandths of a core."""
    at: datetime
    """When it was measured."""


@dataclass(slots=True)
class EdgeNodeRecord:
    """Everything that is known of one node."""

    name: str
    node: ShifuNode | None = None
    edge: EdgeNode | None = None
    state: NodePhaseState | None = None
    figures: NodeFigures | None = None
    reading: SmoothedReading | None = None
    fresh: bool = False
    """Whether the figures are of late."""

    @property
    def spec(self) -> EdgeNodeSpec:
        """What an administrator says of it."""
        return self.edge.spec if self.edge is not None else EdgeNodeSpec()

    @property
    def created(self) -> str:
        """When it came, as its object says."""
        for each in (self.node, self.edge):
            if each is not None and each.metadata.creation_timestamp:
                return each.metadata.creation_timestamp
        return ""

    @property
    def phase(self) -> NodePhase:
        """How it is."""
        return self.state.phase if self.state is not None else NodePhase.LOST

    @property
    def cordoned(self) -> bool:
        """Whether its Node takes no pods."""
        return self.node is not None and self.node.spec.unschedulable

    @property
    def reserved(self) -> int:
        """Bytes that are kept for others."""
        return whole_amount(self.spec.reserved_memory)

    @property
    def allocatable(self) -> int:
        """Bytes that pods may use."""
        return amount_of(self.node.status.allocatable, "memory") if self.node else 0

    @property
    def location(self) -> GeoPoint | None:
        """Where it is: as its EdgeNode says, or the annotation of its Node."""
        given = self.spec.location
        try:
            if given is not None and given.latitude is not None and given.longitude is not None:
                return checked_point(given.latitude, given.longitude)
            text = self.node.metadata.annotations.get(LOCATION, "") if self.node else ""
            return parse_location(text) if text else None
        except ValueError:
            return None

    @property
    def zone(self) -> str:
        """The zone, as its EdgeNode or its labels say."""
        given = self.spec.location
        return (given.zone if given else "") or self._label(ZONE)

    @property
    def region(self) -> str:
        """The region, likewise."""
        given = self.spec.location
        return (given.region if given else "") or self._label(REGION)

    @property
    def autonomy(self) -> float | None:
        """Seconds that its devices stay when it is lost; None if it does not say."""
        try:
            return parse_duration(self.spec.autonomy) if self.spec.autonomy else None
        except ValueError:
            return None

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """What deviceShifus on it tolerate besides."""
        return self.spec.tolerations

    @property
    def free(self) -> int:
        """Bytes that are free: as smoothed readings say, else all that there is."""
        if self.fresh and self.reading is not None:
            return max(0, int(self.reading.average))
        return max(0, self.allocatable - self.reserved)

    def refusal(self) -> str:
        """Why it takes no deviceShifu at all; empty if it does."""
        phase = self.phase
        if phase is not NodePhase.READY:
            return str(phase.value)
        if self.cordoned:
            return "Cordoned"
        if self.spec.schedulable is False:
            return "Unschedulable"
        taints = self.node.spec.taints if self.node is not None else ()
        keys = [taint.key for taint in untolerated(taints, self.tolerations)]
        if UNSCHEDULABLE in keys:
            return "Cordoned"
        return "MemoryPressure" if MEMORY_PRESSURE in keys else "Tainted" if keys else ""

    def offer(self) -> NodeOffer:
        """What it has to offer."""
        measured = self.fresh and self.reading is not None
        return NodeOffer(
            self.name,
            refusal=self.refusal(),
            free=self.free,
            deviation=self.reading.deviation if measured and self.reading else 0.0,
            settled=bool(measured and self.reading and self.reading.settled),
            most=self.most,
            location=self.location,
            zone=self.zone,
            region=self.region,
            labels=self.node.metadata.labels if self.node is not None else {},
            accepts=frozenset(self.spec.accept_protocols),
        )

    @property
    def most(self) -> int:
        """How many deviceShifus it takes."""
        if self.spec.max_device_shifus:
            return self.spec.max_device_shifus
        pods = amount_of(self.node.status.allocatable, "pods") if self.node else 0
        return max(1, pods - SYSTEM_PODS) if pods else _UNBOUNDED

    def readiness(self) -> NodeReadiness:
        """What is seen of it."""
        if self.node is None:
            return NodeReadiness(ready=False, crashed=True)
        gone = any(taint.key == OUT_OF_SERVICE for taint in self.node.spec.taints)
        ready = condition_of(self.node.status.conditions, "Ready")
        return NodeReadiness(ready is not None and ready.status == "True", crashed=gone)

    def advance(self, now: float, wall: datetime, times: PhaseTimes) -> bool:
        """Let its phase follow what is seen; whether it changed."""
        seen, before = self.readiness(), self.state
        if before is None:
            lasted, age = self._lasted(wall)
            self.state = first_state(seen, for_seconds=lasted, age=age, now=now, times=times)
        else:
            self.state = step(before, seen, now, times)
        return self.state != before

    def _lasted(self, wall: datetime) -> tuple[float, float]:
        """For how long it has been as it is, and how old it is, in seconds."""
        if self.node is None:
            return 0.0, 0.0
        ready = condition_of(self.node.status.conditions, "Ready")
        since = (ready.last_transition_time if ready else None) or ""
        made = self.node.metadata.creation_timestamp or ""
        age = seconds_since(made, wall) or 0.0
        # What became so before there was a node is nothing that its kubelet knows.
        return min(seconds_since(since, wall) or 0.0, age), age

    def _label(self, key: str) -> str:
        return self.node.metadata.labels.get(key, "") if self.node is not None else ""


def phase_word(record: EdgeNodeRecord) -> str:
    """How a node is, in one word."""
    ready = record.phase is NodePhase.READY
    return "Cordoned" if ready and record.cordoned else record.phase.value
