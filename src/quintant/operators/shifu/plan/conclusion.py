"""What is said of a device when a pass over it is done: status, events, when to look again. Pure.

The status is laid over the newest one: what the agent says stays as it says it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quintant.api.events import PlannedEvent
from quintant.api.meta import Condition, condition_of
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.object import replace
from quintant.operators.shifu.api.device import (
    PENDING,
    REACHABLE,
    SCHEDULED,
    UNKNOWN,
    DeviceShifuStatus,
    EdgeDeviceStatus,
    PlacementStatus,
)
from quintant.operators.shifu.builders.names import base_name, config_name
from quintant.operators.shifu.observe.device_view import FOREIGN
from quintant.operators.shifu.observe.reader import Observed
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.conditions import (
    FOREIGN_SECONDS,
    TOLD,
    conditions,
    is_lost,
    quiet_seconds,
)
from quintant.operators.shifu.plan.device import (
    EVACUATED,
    PLACED,
    REJECTED,
    ROLLED_BACK,
    UNSCHEDULED_SECONDS,
    Choice,
    spec_digest,
    unscheduled_seconds,
)
from quintant.operators.shifu.rules.geo import distance
from quintant.runtime.controller.result import Result
from quintant.runtime.events.transitions import transition_events

FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = 5.0, 300.0
"""Between two looks for a place; in between as long as it has been looked for."""
MOVED = {EVACUATED: "Evacuated", REJECTED: "NodeRejected", ROLLED_BACK: "RolledBack"}
SUPERSEDED = "DeviceShifuSuperseded"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is to be said, and when to look again."""

    status: EdgeDeviceStatus
    events: tuple[PlannedEvent, ...]
    again: Result | None

    def over(self, newest: EdgeDeviceStatus | None) -> EdgeDeviceStatus:
        """The status with what we say laid over what others said meanwhile."""
        theirs, ours = newest or EdgeDeviceStatus(), self.status
        silent = theirs.phase in ("", UNKNOWN) or ours.phase == UNKNOWN
        return replace(
            ours,
            phase=ours.phase if silent else theirs.phase,
            telemetry=theirs.telemetry,
            busy=theirs.busy,
            conditions=_with(ours.conditions, condition_of(theirs.conditions, REACHABLE)),
        )


def conclude(observed: Observed, choice: Choice, options: Options) -> Conclusion:
    """What is to be said of a device after all was done for it."""
    generation = observed.device.metadata.generation if options.crd_flavor == "ours" else None
    status = EdgeDeviceStatus(
        phase=_phase(observed, choice),
        observed_generation=generation,
        spec_hash=spec_digest(observed.device),
        placement=_placement(observed, choice),
        device_shifu=_device_shifu(observed, choice, options),
        telemetry=observed.status.telemetry,
        busy=observed.status.busy,
        conditions=conditions(observed, choice, generation),
    )
    events = (*_decided(choice, observed), *transition_events(
        observed.status.conditions, status.conditions, TOLD
    ))  # fmt: skip
    return Conclusion(status, events, _again(observed, choice, options, status))


def _phase(observed: Observed, choice: Choice) -> str:
    """The agent's word, but where no agent can have one."""
    before = observed.status.phase
    if is_lost(observed, choice):
        return UNKNOWN
    return PENDING if before in ("", UNKNOWN) and not choice.yields else before or PENDING


def _placement(observed: Observed, choice: Choice) -> PlacementStatus | None:
    if choice.yields:
        return _adopted(observed)
    if not choice.node:
        return None
    if not choice.cause:
        return _kept(observed, choice)
    moves = observed.deployment.moves if observed.deployment is not None else 0
    decision = choice.decision
    return PlacementStatus(
        node_name=choice.node,
        kind=decision.kind if decision is not None else "",
        reason=decision.reason if decision is not None else "",
        distance_meters=_meters(decision.distance if decision is not None else None),
        since=timestamp(observed.now),
        previous_node=choice.previous,
        moves=moves + choice.moved,
    )


def _kept(observed: Observed, choice: Choice) -> PlacementStatus:
    """What is said of a place that was chosen before, perhaps by another process."""
    ours, node = observed.deployment, observed.node
    far = observed.hints.location and node and node.location
    meters = distance(observed.hints.location, node.location) if far else None  # type: ignore[arg-type, union-attr]
    return PlacementStatus(
        node_name=choice.node,
        kind=ours.kind if ours is not None else "",
        reason=ours.reason if ours is not None else "",
        distance_meters=_meters(meters),
        since=(ours.placed_at or None) if ours is not None else None,
        previous_node=ours.previous if ours is not None else "",
        moves=ours.moves if ours is not None else 0,
    )


def _adopted(observed: Observed) -> PlacementStatus | None:
    if observed.theirs is None:
        return None
    node = next((pod.node for pod in observed.pods if pod.node and not pod.managed), "")
    name = observed.theirs.metadata.name
    return PlacementStatus(node_name=node, kind="Adopted", reason=f"Deployment {name}")


def _device_shifu(observed: Observed, choice: Choice, options: Options) -> DeviceShifuStatus | None:
    config = observed.config.metadata.name if observed.config is not None else ""
    if choice.yields:
        if observed.theirs is None:
            return None
        name = observed.theirs.metadata.name
        return DeviceShifuStatus(
            deployment=name, config_map=config, managed=False, mode="standalone"
        )
    if not choice.node:
        return None
    base, place = base_name(observed.device.key), options.shifu_namespace
    return DeviceShifuStatus(
        deployment=base,
        service=base,
        config_map=config or config_name(observed.device.key),
        url=f"http://{base}.{place}.svc.{options.cluster_domain}",
        managed=True,
        mode="standalone",
    )


def _decided(choice: Choice, observed: Observed) -> Iterator[PlannedEvent]:
    if choice.yields and observed.deployment is not None:
        said = "a Deployment of the user's own serves it; ours is deleted"
        yield PlannedEvent("Normal", SUPERSEDED, said)
    decision = choice.decision
    if decision is None or not choice.cause:
        return
    if choice.cause == PLACED:
        yield PlannedEvent("Normal", "Scheduled", f"on {choice.node}: {decision.reason}")
        return
    reason = MOVED.get(choice.cause, "Rescheduled")
    kind = "Normal" if reason == "Rescheduled" else "Warning"
    came = f"from {choice.previous} " if choice.previous else ""
    yield PlannedEvent(kind, reason, f"{came}to {choice.node}: {decision.reason}")  # type: ignore[arg-type]


def _again(
    observed: Observed, choice: Choice, options: Options, status: EdgeDeviceStatus
) -> Result | None:
    """When time alone makes a difference."""
    waits = list(_waits(observed, choice, options, status))
    return Result(after=max(0.1, min(waits))) if waits else None


def _waits(
    observed: Observed, choice: Choice, options: Options, status: EdgeDeviceStatus
) -> Iterator[float]:
    if choice.settling:
        yield choice.settling
    if choice.refused is not None:
        yield _patience(observed, status)
    if 0 < (unscheduled := unscheduled_seconds(observed)) < UNSCHEDULED_SECONDS:
        yield UNSCHEDULED_SECONDS - unscheduled
    ours = observed.deployment
    if choice.moved or (ours is not None and ours.previous and not ours.available):
        yield options.move_timeout
    quiet = quiet_seconds(status, observed.now) if choice.yields else None
    if quiet is not None:
        yield FOREIGN_SECONDS - quiet


def _patience(observed: Observed, status: EdgeDeviceStatus) -> float:
    """As long as a place has been looked for already, within bounds."""
    told = condition_of(status.conditions, SCHEDULED)
    since = told.last_transition_time if told is not None else None
    passed = (observed.now - parse_timestamp(since)).total_seconds() if since else 0.0
    return min(max(passed, FIRST_RETRY_SECONDS), LAST_RETRY_SECONDS)


def _meters(distance: float | None) -> int | None:
    return None if distance is None else round(distance)


def _with(found: tuple[Condition, ...], told: Condition | None) -> tuple[Condition, ...]:
    """The conditions with the agent's newest word in its place, if it has said one."""
    ours = condition_of(found, REACHABLE)
    if told is None or told.reason == FOREIGN:
        return found
    if ours is None:
        return (*found, told)
    return tuple(told if each is ours else each for each in found)
