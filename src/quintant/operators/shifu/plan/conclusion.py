"""What follows when a pass over a device is done: status, events, when to look again. Pure.

The status is laid over the newest one: what the agent writes stays as it wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.events import PlannedEvent
from quintant.api.meta import Condition, condition_of
from quintant.core.clock import timestamp
from quintant.core.object import replace
from quintant.operators.shifu.api.device import (
    PENDING,
    REACHABLE,
    UNKNOWN,
    DeviceShifuStatus,
    EdgeDeviceStatus,
    PlacementStatus,
)
from quintant.operators.shifu.builders.names import base_name, config_name
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.device_view import OUR_WORDS
from quintant.operators.shifu.observed.instruction_names import usable_names
from quintant.operators.shifu.observed.outcome import WriteOutcome
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.conditions import TRANSITIONS, conditions, silences
from quintant.operators.shifu.plan.device import PLACED, Choice, spec_digest
from quintant.operators.shifu.plan.kstatus import with_verdict
from quintant.operators.shifu.plan.move_report import merge_unreported, waits_for_others
from quintant.operators.shifu.plan.reachable import is_lost
from quintant.operators.shifu.plan.waits import next_look
from quintant.operators.shifu.rules.geo import distance
from quintant.runtime.events.transitions import transition_events
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

LATER = Result(after=1.0, priority=0)
"""Behind every evacuation: those are urgent."""
SUPERSEDED = "DeviceShifuSuperseded"


def conclude(
    observed: Observed, choice: Choice, options: Options, outcome: WriteOutcome = WriteOutcome()
) -> Conclusion[EdgeDeviceStatus]:
    """What follows for a device after all was done for it that could be.

    The status of one that leaves a lost node is written in a later pass: others wait to leave. That
    of an exclusive one is what the agent that it leaves lets go by, and is written at once.
    """
    status = _status(observed, choice, options, outcome)
    events = (*_decided(choice, observed), *transition_events(
        observed.status.conditions, status.conditions, TRANSITIONS
    ))  # fmt: skip
    if waits_for_others(observed, choice):
        return Conclusion(events=events, again=LATER)
    again = next_look(observed, choice, options, status, outcome)
    silenced = silences(observed, choice, outcome)
    generation = observed_generation(observed, options)

    def change(newest: EdgeDeviceStatus | None) -> EdgeDeviceStatus:
        merged = merge_status(status, newest, silenced=silenced, reported=outcome.reported)
        return with_verdict(merged, generation, observed.now)

    return Conclusion(change=change, events=events, again=again)


def merge_status(
    ours: EdgeDeviceStatus,
    newest: EdgeDeviceStatus | None,
    *,
    silenced: bool = False,
    reported: frozenset[str] = frozenset(),
) -> EdgeDeviceStatus:
    """Our status laid over the newest one: the words of a device's agent stay as they are there.

    Where there is no agent any more, we take back what it said.
    """
    theirs = newest or EdgeDeviceStatus()
    ours = replace(ours, unreported_moves=merge_unreported(ours, theirs, reported))
    if silenced:
        return replace(ours, telemetry=theirs.telemetry, busy=None)
    silent = theirs.phase in ("", UNKNOWN)
    return replace(
        ours,
        phase=ours.phase if silent else theirs.phase,
        telemetry=theirs.telemetry,
        busy=theirs.busy,
        conditions=_with(ours.conditions, condition_of(theirs.conditions, REACHABLE)),
    )


def _status(
    observed: Observed, choice: Choice, options: Options, outcome: WriteOutcome
) -> EdgeDeviceStatus:
    generation = observed_generation(observed, options)
    return EdgeDeviceStatus(
        phase=_phase(observed, choice, silenced=silences(observed, choice, outcome)),
        observed_generation=generation,
        spec_hash=spec_digest(observed.device),
        placement=_placement(observed, choice),
        device_shifu=_device_shifu(observed, choice, options),
        telemetry=observed.status.telemetry,
        busy=observed.status.busy,
        unreported_moves=outcome.unreported,
        conditions=conditions(observed, choice, outcome, generation),
    )


def observed_generation(observed: Observed, options: Options) -> int | None:
    """The generation that the status is about; none where a write of the status moves it."""
    return observed.device.metadata.generation if options.crd_flavor == "ours" else None


def _phase(observed: Observed, choice: Choice, *, silenced: bool) -> str:
    """The agent's word, but where no agent can have one."""
    before, lost = observed.status.phase, is_lost(observed, choice)
    if silenced or not before:
        return UNKNOWN if lost else PENDING
    return PENDING if before == UNKNOWN and not lost and not choice.yields else before


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
            deployment=name,
            config_map=config,
            instructions=_instructions(observed),
            managed=False,
            mode="standalone",
        )
    if not choice.node:
        return None
    base, namespace = base_name(observed.device.key), options.shifu_namespace
    return DeviceShifuStatus(
        deployment=base,
        service=base,
        config_map=config or config_name(observed.device.key),
        url=f"http://{base}.{namespace}.svc.{options.cluster_domain}",
        instructions=_instructions(observed),
        managed=True,
        mode="standalone",
    )


def _instructions(observed: Observed) -> tuple[str, ...]:
    """What can be asked of a device: the user's ConfigMap counts, else its own."""
    if observed.config is not None:
        return observed.config.names
    shifu = observed.device.spec.device_shifu
    return usable_names(shifu.instructions) if shifu is not None else ()


def _decided(choice: Choice, observed: Observed) -> Iterator[PlannedEvent]:
    if choice.yields and observed.deployment is not None:
        message = "a Deployment of the user's own serves it; ours is deleted"
        yield PlannedEvent("Normal", SUPERSEDED, message)
    decision = choice.decision
    if decision is not None and choice.cause == PLACED:
        yield PlannedEvent("Normal", "Scheduled", f"on {choice.node}: {decision.reason}")


def _meters(distance: float | None) -> int | None:
    return None if distance is None else round(distance)


def _with(known: tuple[Condition, ...], condition: Condition | None) -> tuple[Condition, ...]:
    """The conditions with the agent's newest instead of ours, if it has written one."""
    ours = condition_of(known, REACHABLE)
    if condition is None or (ours and {ours.reason, condition.reason} <= set(OUR_WORDS)):
        return known
    if ours is None:
        return (*known, condition)
    return tuple(condition if each is ours else each for each in known)
