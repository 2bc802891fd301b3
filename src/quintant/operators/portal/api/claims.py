"""What PortalExposes claim, without the rest of them: names at relays, a class, how they do.

Webhooks and gauges look at all PortalExposes there are. A member of shards holds its own
ones whole, and of all of them this view, which takes a third of the memory. One process alone has
them all anyway: it looks at those.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.core.object import Model, Object, Request
from quintant.core.resource import projection
from quintant.operators.portal.api import Phase, PortalExpose, RelayState


class ClaimedApp(Model):
    """The name before the relay's domain."""

    name: str = ""


class ClaimedRelay(Model):
    """A relay to be reachable through."""

    url: str = ""


class ClaimedRelays(Model):
    """All of them."""

    targets: tuple[ClaimedRelay, ...] = ()


class ClaimSpec(Model):
    """What is claimed."""

    app: ClaimedApp = ClaimedApp()
    relay: ClaimedRelays = ClaimedRelays()
    tunnel_class_name: str = ""


class ClaimedConnection(Model):
    """How the tunnels are connected to one relay."""

    status: RelayState | None = None


class ClaimedConnections(Model):
    """Every relay."""

    connected: tuple[ClaimedConnection, ...] = ()


class ClaimStatus(Model):
    """How it does."""

    phase: Phase | None = None
    relay: ClaimedConnections | None = None


@projection(of=PortalExpose)
class ExposeClaims(Object):
    """A PortalExpose, as far as all of them are looked at together."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus | None = None


Claiming = PortalExpose | ExposeClaims
"""What says what a PortalExpose claims."""


def nobody(_: ExposeClaims) -> Iterable[Request]:
    """The keys that a change of claims wakes: webhooks and gauges look when they are asked."""
    return ()


def claiming_kind(*, sharded: bool) -> type[PortalExpose] | type[ExposeClaims]:
    """The kind in which a process has the claims of all PortalExposes."""
    return ExposeClaims if sharded else PortalExpose
