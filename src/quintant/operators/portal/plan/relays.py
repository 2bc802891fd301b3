"""What tunnels report of their relays, and what that means for the relays of a PortalExpose.

A tunnel reports how each of its connections is; a crashed one reports nothing any more, so its last
report counts only while its pod is ready. Nothing is assumed: no report is Unknown. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintant.core.clock import find_timestamp, timestamp
from quintant.core.text import one_line
from quintant.operators.portal.api import (
    MOST_RELAYS,
    PortalExposeStatus,
    RelayConnection,
    RelayState,
    RelayStatus,
    RelayTarget,
)
from quintant.operators.portal.observed import Observed, Tunnel
from quintant.wire.portal import Close
from quintant.wire.tunnelreport import DialState, RelayReport


def relays_of(observed: Observed) -> tuple[RelayConnection, ...]:
    """How every relay of the spec is connected, as far as that is to be believed now."""
    before = observed.expose.status or PortalExposeStatus()
    targets = observed.expose.spec.relay.targets[:MOST_RELAYS]
    if observed.assume:
        return assumed(targets, observed.ready, before.relay, timestamp(observed.now))
    relays = connections(targets, observed.tunnels, before.relay)
    unchanged = before.observed_generation == observed.expose.metadata.generation
    return keep_known(relays, before.relay) if observed.expected and unchanged else relays


def connections(
    targets: Sequence[RelayTarget], tunnels: Iterable[Tunnel], before: RelayStatus | None
) -> tuple[RelayConnection, ...]:
    """How the tunnels are connected to each relay of the spec, in its order."""
    listed = tuple(tunnels)
    known = {each.name: each for each in before.connected} if before else {}
    return tuple(_connection(target, listed, known.get(target.name)) for target in targets)


def keep_known(
    now: Sequence[RelayConnection], before: RelayStatus | None
) -> tuple[RelayConnection, ...]:
    """What to believe while not every tunnel has reported: good news at once, other news later.

    An operator that was restarted has heard nothing yet; that is no reason to call relays lost.
    """
    known = {each.name: each for each in before.connected} if before else {}
    return tuple(_better(each, known.get(each.name)) for each in now)


def refusing(
    targets: Sequence[RelayTarget], tunnels: Iterable[Tunnel], code: Close = Close.HELD
) -> list[str]:
    """The relays that refuse a tunnel, by default since another has the name already."""
    listed = tuple(tunnels)
    return [
        target.name
        for target in targets
        if any(each.close_code == code for tunnel in listed for each in _about(target, tunnel))
    ]


def assumed(
    targets: Sequence[RelayTarget], ready: int, before: RelayStatus | None, now: str
) -> tuple[RelayConnection, ...]:
    """What the contract's simplification says: connected where any pod is ready."""
    known = {each.name: each.connected_at for each in before.connected} if before else {}
    if not ready:
        return tuple(RelayConnection(name=each.name, status="Disconnected") for each in targets)
    return tuple(
        RelayConnection(
            name=each.name, status="Connected", connected_at=known.get(each.name) or now
        )
        for each in targets
    )


def _connection(
    target: RelayTarget, tunnels: Sequence[Tunnel], before: RelayConnection | None
) -> RelayConnection:
    reports = [(tunnel.ready, relay) for tunnel in tunnels for relay in _about(target, tunnel)]
    up = [relay for ready, relay in reports if ready and relay.state == DialState.CONNECTED]
    down = [relay for _, relay in reports if relay.state != DialState.CONNECTED]
    errors = sorted((relay.since, one_line(relay.last_error)) for relay in down if relay.last_error)
    status: RelayState = "Connected" if up else "Disconnected" if reports else "Unknown"
    return RelayConnection(
        name=target.name,
        status=status,
        connected_at=_since(up, before),
        last_error=errors[-1][1] if errors else "",
        ready_tunnels=len(up),
        public_url=next((relay.public_url for relay in up if relay.public_url), ""),
    )


def _better(now: RelayConnection, before: RelayConnection | None) -> RelayConnection:
    if before is None or before.status == "Unknown":
        return now
    more = (now.ready_tunnels or 0) >= (before.ready_tunnels or 0)
    return now if now.status == "Connected" and more else before


def _about(target: RelayTarget, tunnel: Tunnel) -> Iterable[RelayReport]:
    """What a tunnel reports of this very relay; a report of its old address counts for nothing."""
    relays = tunnel.report.relays if tunnel.report else ()
    return [relay for relay in relays if (relay.name, relay.url) == (target.name, target.url)]


def _since(up: Sequence[RelayReport], before: RelayConnection | None) -> str | None:
    if not up:
        return None
    known = before.connected_at if before is not None and before.status == "Connected" else None
    if known and find_timestamp(known) is not None:
        return known
    return min((relay.since for relay in up if relay.since), default=None)
