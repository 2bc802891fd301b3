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
    """A tunnel has become ready just now, and none has reported its relays yet."""
    created: bool = False
    """Its Deployment was made just now: nothing can work yet."""

    @property
    def complete(self) -> bool:
        """Whether every tunnel and every relay is there."""
        if not self.total or not self.relays:
            return False
        return self.ready >= self.total and self.connected == self.relays


def step(before: Phase | None, observation: Observation) -> Phase:
    """The phase that follows."""
    if observation.blocked:
        return "Failed"
    if observation.complete:
        return "Ready"
    if observation.unheard and not observation.connected and before in (None, "Pending"):
        return "Pending"
    if observation.ready or observation.connected:
        return "Degraded"
    if observation.overdue or not (observation.total and observation.relays):
        return "Failed"
    if (
        before in (None, "Pending")
        or observation.created
        or (before == "Failed" and observation.afresh)
    ):
        return "Pending"
    return "Failed"
