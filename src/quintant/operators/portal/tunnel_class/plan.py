"""Which TunnelClass is in force, and what is said about each. Pure.

Of several defaults the newest wins, and of equally old ones the first by name, as Kubernetes does
it with storage classes: every restart chooses the same, and no annotation is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from quintant.api.meta import condition_of, set_condition
from quintant.operators.portal.api import DEFAULT_CLASS, TunnelClass, TunnelClassStatus
from quintant.operators.portal.api.claims import Claiming
from quintant.operators.portal.rules import listed, validate_class
from quintant.runtime.events.transitions import Transition, transition_events
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.kstatus import READY, stalled, with_kstatus

DEFAULT, CONFLICT, VALID = "Default", "DefaultConflict", "Valid"
TRANSITIONS = (
    Transition(CONFLICT, status="True", event="MultipleDefaults"),
    Transition(VALID, status="False", event="InvalidSpec"),
)
KSTATUS = (stalled(VALID, "False"),)


def plan(
    tunnel_class: TunnelClass, classes: Sequence[TunnelClass], now: datetime
) -> Conclusion[TunnelClassStatus]:
    """Where a class stands among all classes."""
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
        rivalling = ", ".join(names)
        conditions = set_condition(
            conditions, CONFLICT, status=rivals, generation=generation, now=now,
            reason="MultipleDefaults" if rivals else "OneDefault",
            message=f"Several classes want to be the default: {rivalling}; {names[0]} is in force"
            if rivals else "No other class wants to be the default",
        )  # fmt: skip
    errors = tuple(validate_class(tunnel_class.spec))
    if errors or condition_of(conditions, VALID) is not None:
        conditions = set_condition(
            conditions, VALID, status=not errors, generation=generation, now=now,
            reason="InvalidSpec" if errors else "ValidSpec",
            message=listed(errors) if errors else "It breaks no rule",
        )  # fmt: skip
    conditions = set_condition(
        conditions, READY, status=not errors, generation=generation, now=now,
        reason="InvalidSpec" if errors else "ValidSpec",
        message=listed(errors) if errors else "Tunnels can be made of it",
    )  # fmt: skip
    conditions = with_kstatus(conditions, KSTATUS, generation=generation, now=now)
    status = TunnelClassStatus(observed_generation=generation, conditions=conditions)
    events = transition_events(before.conditions, conditions, TRANSITIONS)
    return Conclusion(status, events=tuple(events))


def defaults(classes: Iterable[TunnelClass]) -> list[TunnelClass]:
    """The classes that want to be the default, the one in force first."""
    wanting = sorted(
        (each for each in classes if each.default), key=lambda each: each.metadata.name
    )
    return sorted(wanting, key=lambda each: each.metadata.creation_timestamp or "", reverse=True)


def resolve(expose: Claiming, classes: Sequence[TunnelClass]) -> TunnelClass | None:
    """The class of a PortalExpose, if there is one."""
    name = expose.spec.tunnel_class_name
    if name:
        return next((each for each in classes if each.metadata.name == name), None)
    return next(iter(defaults(classes)), None)


def missing_class(expose: Claiming) -> tuple[str, str]:
    """Reason and message when there is no class."""
    name = expose.spec.tunnel_class_name
    if name:
        return "TunnelClassNotFound", f"Referenced TunnelClass '{name}' not found"
    return (
        "NoDefaultTunnelClass",
        "No TunnelClass is named and none is the default: annotate one with "
        f'{DEFAULT_CLASS}="true"',
    )


def references(exposes: Iterable[Claiming], classes: Sequence[TunnelClass]) -> dict[str, int]:
    """How many PortalExposes each class is in force for."""
    counts = {each.metadata.name: 0 for each in classes}
    for expose in exposes:
        if (chosen := resolve(expose, classes)) is not None:
            counts[chosen.metadata.name] += 1
    return counts
