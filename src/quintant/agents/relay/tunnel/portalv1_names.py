"""Which names tunnels of Portal's own get: those of the registry, one group per key."""

from __future__ import annotations

import asyncio

from quintant.agents.multiplex.program import say
from quintant.agents.portalv1.lease import LeaseClaim
from quintant.agents.portalv1.messages import PortalCode
from quintant.agents.relay.hosts import LABEL
from quintant.agents.relay.tunnel.name_registry import NameDenied, NameRegistry
from quintant.agents.relay.tunnel.portalv1_tunnel import PortalV1Tunnel
from quintant.agents.relay.tunnel.tokens import Principal
from quintant.agents.relay.tunnel.tunnel_connection import TunnelConnection


class PortalV1Names:
    """The names of one connection, by the rights of the token that it came with."""

    def __init__(self, names: NameRegistry[TunnelConnection], who: Principal) -> None:
        self._names, self._who = names, who

    def lease(self, tunnel: PortalV1Tunnel, claim: LeaseClaim) -> PortalCode:
        """A tunnel wants a name that it does not have yet."""
        name, now = claim.name.lower(), asyncio.get_running_loop().time()
        if not LABEL.fullmatch(name):
            return PortalCode.INVALID_NAME
        try:
            self._names.join(name, f"portal-v1 {claim.id}", self._who, tunnel, now)
        except NameDenied as denied:
            say("refused", app=name, lease=claim.id, code=denied.code, because=str(denied))
            return PortalCode.REJECTED
        tunnel.app = name
        say("joined", app=name, lease=claim.id, agent="portal v1")
        return PortalCode.ACCEPTED

    def release(self, tunnel: PortalV1Tunnel) -> None:
        """A tunnel does not have its name any more."""
        self._names.leave(tunnel.app, tunnel, asyncio.get_running_loop().time())
        say("left", app=tunnel.app, lease=tunnel.lease)
