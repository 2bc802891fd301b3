"""Which TunnelClass is in force, and what is said about each. Pure.

Of several defaults the newest wins, and of equally old ones the first by name, as Kubernetes does
it with storage classes: every restart chooses the same, and nobody's annotations are changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from quintant.api.events import PlannedEvent
from quintant.api.meta import condition_of, set_condition
from quintant.operators.portal.api import (
    DEFAULT_CLASS,
    PortalExpose,
    TunnelClass,
    TunnelClassStatus,
)
from quintant.runtime.events.transitions import Transition, transition_events

DEFAULT, CONFLICT = "Default", "DefaultConflict"
TOLD = (Transition(CONFLICT, status="True", event="MultipleDefaults"),)


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """What is to be said about a class."""

    status: TunnelClassStatus
    events: tuple[PlannedEvent, ...]


def plan(tunnel_class: TunnelClass, classes: Sequence[TunnelClass], now: datetime) -> ClassPlan:
    """What is to be said about a class among all classes."""
    before = tunnel_class.status or TunnelClassStatus()
    wanting, generation = defaults(classes), tunnel_class.metadata.generation
    names = [each.metadata.name for each in wanting]
    chosen = names[:1] == [tunnel_class.metadata.name]
    rivals = len(names) > 1 and tunnel_class.metadata.name in names
    conditions = set_condition(
        before.conditions, DEFAULT, status=chosen, generation=generation, now=now,
        reason="InForce" if chosen else "AnotherIsNewer" if rivals else "NotAsked",
        message="In force for those who name no class" if chosen else "In force by name only",
    )  # fmt: skip
    if rivals or condition_of(conditions, CONFLICT) is not None:
        listed = ", ".join(names)
        conditions = set_condition(
            conditions, CONFLICT, status=rivals, generation=generation, now=now,
            reason="MultipleDefaults" if rivals else "OneDefault",
            message=f"Several classes want to be the default: {listed}; {names[0]} is in force"
            if rivals else "No other class wants to be the default",
        )  # fmt: skip
    status = TunnelClassStatus(observed_generation=generation, conditions=conditions)
    return ClassPlan(status, tuple(transition_events(before.conditions, conditions, TOLD)))


def defaults(classes: Iterable[TunnelClass]) -> list[TunnelClass]:
    """The classes that want to be the default, the one in force first."""
    wanting = sorted(
        (each for each in classes if each.default), key=lambda each: each.metadata.name
    )
    return sorted(wanting, key=lambda each: each.metadata.creation_timestamp or "", reverse=True)


def resolve(expose: PortalExpose, classes: Sequence[TunnelClass]) -> TunnelClass | None:
    """The class of a PortalExpose, if there is one."""
    name = expose.spec.tunnel_class_name
    if name:
        return next((each for each in classes if each.metadata.name == name), None)
    return next(iter(defaults(classes)), None)


def missing_class(expose: PortalExpose) -> tuple[str, str]:
    """Reason and message when there is no class."""
    name = expose.spec.tunnel_class_name
    if name:
        return "TunnelClassNotFound", f"Referenced TunnelClass '{name}' not found"
    return (
        "NoDefaultTunnelClass",
        "No TunnelClass is named and none is the default: annotate one with "
        f'{DEFAULT_CLASS}="true"',
    )


def references(exposes: Iterable[PortalExpose], classes: Sequence[TunnelClass]) -> dict[str, int]:
    """How many PortalExposes each class is in force for."""
    counts = {each.metadata.name: 0 for each in classes}
    for expose in exposes:
        if (found := resolve(expose, classes)) is not None:
            counts[found.metadata.name] += 1
    return counts
