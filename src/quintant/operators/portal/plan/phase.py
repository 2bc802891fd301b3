"""The phase of a PortalExpose: one step function from what it was and what is seen.

The contract's "Failed" for whatever works in no way would flash at every start. So what never
worked is Pending until its deadline, and what worked and does no longer is Failed. The memory is
the phase in the status, so a restart of the controller changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.portal.api import Phase


@dataclass(frozen=True, slots=True)
class Observation:
    """What is seen of the tunnels of one PortalExpose."""

    blocked: bool = False
    """Its Service, its class or its spec is missing or wrong, or its Deployment is another's."""
    ready: int = 0
    total: int = 0
    connected: int = 0
    relays: int = 0
    overdue: bool = False
    """Its Deployment gave up making progress."""
    afresh: bool = False
    """Something that blocked it is there now, or its spec changed."""
    unheard: bool = False
    """A tunnel has become ready just now, and none has told of its relays yet."""
    created: bool = False
    """Its Deployment was made just now: nothing can work yet."""


def step(before: Phase | None, seen: Observation) -> Phase:
    """The phase that follows."""
    if seen.blocked:
        return "Failed"
    if seen.relays and seen.ready >= seen.total and seen.connected == seen.relays and seen.total:
        return "Ready"
    if seen.unheard and not seen.connected and before in (None, "Pending"):
        return "Pending"
    if seen.ready or seen.connected:
        return "Degraded"
    if seen.overdue or not (seen.total and seen.relays):
        return "Failed"
    if before in (None, "Pending") or seen.created or (before == "Failed" and seen.afresh):
        return "Pending"
    return "Failed"
