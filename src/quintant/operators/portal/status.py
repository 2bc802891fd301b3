"""The status of a PortalExpose: phase and conditions from what was read and done. Pure.

Transition times move only when a condition flips, so that an unchanged world gives an equal status
and no write.
"""

from __future__ import annotations

from quintant.api.meta import Condition, condition_of, set_condition
from quintant.core.clock import timestamp
from quintant.operators.portal import reports
from quintant.operators.portal.api import (
    Phase,
    PortalExposeStatus,
    RelayConnection,
    RelayStatus,
    TunnelPods,
)
from quintant.operators.portal.conditions import BLOCKING, claims, overdue
from quintant.operators.portal.deed import Deed, Outcome
from quintant.operators.portal.phase import Sighting, step
from quintant.operators.portal.rules import public_url
from quintant.operators.portal.world import World


def judged(world: World, deed: Deed) -> PortalExposeStatus:
    """The status that follows from what was read and done."""
    before = world.expose.status or PortalExposeStatus()
    relays = _relays(world, before)
    phase = _phase(world, deed, before, relays)
    conditions: tuple[Condition, ...] = before.conditions
    generation = world.expose.metadata.generation
    for claim in claims(world, deed, relays, phase):
        conditions = set_condition(
            conditions, claim.type, status=claim.status, reason=claim.reason,
            message=claim.message, generation=generation, now=world.now,
        )  # fmt: skip
    spec = world.expose.spec
    return PortalExposeStatus(
        phase=phase,
        public_url=public_url(spec.app.name, spec.relay.targets[0]) if spec.relay.targets else "",
        tunnel_pods=TunnelPods(ready=world.ready, total=world.total),
        relay=RelayStatus(connected=relays),
        observed_generation=generation,
        tunnel_class_name=world.tunnel_class.metadata.name if world.tunnel_class else "",
        conditions=conditions,
    )


def _relays(world: World, before: PortalExposeStatus) -> tuple[RelayConnection, ...]:
    targets = world.expose.spec.relay.targets
    if world.assume:
        return reports.assumed(targets, world.ready, before.relay, timestamp(world.now))
    found = reports.connections(targets, world.tunnels, before.relay)
    unchanged = before.observed_generation == world.expose.metadata.generation
    return reports.patient(found, before.relay) if world.expected and unchanged else found


def _phase(
    world: World, deed: Deed, before: PortalExposeStatus, relays: tuple[RelayConnection, ...]
) -> Phase:
    blocked = deed.outcome in (Outcome.NONE, Outcome.CONFLICT)
    if deed.outcome is Outcome.REFUSED and not deed.first and before.phase:
        return before.phase
    available = condition_of(before.conditions, "Available")
    unblocked = available is not None and available.reason in BLOCKING
    changed = before.observed_generation != world.expose.metadata.generation
    seen = Sighting(
        blocked=blocked,
        ready=world.ready,
        total=world.total,
        connected=sum(relay.status == "Connected" for relay in relays),
        relays=len(relays),
        overdue=overdue(world.deployment) and deed.outcome is Outcome.LEFT,
        unheard=world.unheard,
        afresh=unblocked or changed,
        created=deed.outcome in (Outcome.CREATED, Outcome.REFUSED, Outcome.WAITING),
    )
    return step(before.phase, seen)
