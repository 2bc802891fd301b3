"""A tunnel of Portal's own at our relay: its connection, its leases, and visitors to them.

The relay is the visitor of such a tunnel: it reads requests from browsers, and carries them over a
stream on which it has agreed on keys with the tunnel. A connection may hold several leases, each of
them a name; tunnels of one key share it.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from quintant.agents.multiplex.connection import MultiplexConnection
from quintant.agents.multiplex.stream import ByteStream, MultiplexStream
from quintant.agents.portalv1.handshake import Ambient, VisitorHandshake
from quintant.agents.portalv1.handshake_queue import HandshakeQueue
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.lease import BadLease, LeaseClaim, claim_response, read_claim
from quintant.agents.portalv1.messages import (
    FrameBuffer,
    PacketType,
    PortalCode,
    PortalPacket,
    TooLong,
)
from quintant.agents.portalv1.records import RecordBudget
from quintant.agents.portalv1.secure_stream import SecureStream
from quintant.agents.portalv1.session import YamuxSession
from quintant.agents.relay.tunnel.tunnel_connection import TunnelConnection
from quintant.wire.portal import Fault
from quintant.wire.protobuf import Malformed

MOST_LEASES = 16
"""Of one connection."""
_CLAIMS = (PacketType.LEASE_UPDATE_REQUEST, PacketType.LEASE_DELETE_REQUEST)


class LeaseNames(Protocol):
    """Who knows which names may be had."""

    def lease(self, tunnel: PortalV1Tunnel, claim: LeaseClaim) -> PortalCode:
        """A tunnel wants a name that it does not have yet."""

    def release(self, tunnel: PortalV1Tunnel) -> None:
        """A tunnel does not have its name any more."""


class PortalV1Tunnel(TunnelConnection):
    """A lease: a name, and how its holder is reached."""

    def __init__(self, of: PortalV1Connection, lease: str) -> None:
        super().__init__(of.connection)
        self.lease = lease
        self._of = of
        self.session: YamuxSession = of.session
        self.until: float = 0.0
        """When the lease is over, on the loop's clock."""

    def open(self, peer: str, request: str) -> ByteStream:
        """A new stream to the Service, past a handshake that begins now."""
        return self._of.visit(self.lease, peer)

    def leave(self, retry_after_ms: int) -> None:
        """Such a tunnel comes back when the connection ends, and not before."""


class PortalV1Connection:
    """A connection of a tunnel of Portal's own."""

    def __init__(
        self,
        connection: MultiplexConnection,
        credential: PortalCredential,
        names: LeaseNames,
        ambient: Ambient = Ambient(),
    ) -> None:
        self.connection = connection
        self._names = names
        self._credential, self._ambient = credential, ambient
        self.session: YamuxSession = YamuxSession(self, client=False)
        self._budget, self._handshakes = RecordBudget(), HandshakeQueue()
        self.leases: dict[str, PortalV1Tunnel] = {}

    def visit(self, lease: str, visitor: str) -> ByteStream:
        """A new stream of a visitor to the holder of a lease."""
        handshake = VisitorHandshake(self._credential, lease, self._ambient)
        stream, budget = self.session.reserve(visitor), self._budget
        return SecureStream(stream, handshake, budget, lambda _: None, self._handshakes)

    def sweep(self, now: float) -> None:
        """Let go of the leases that nobody renewed."""
        for tunnel in [each for each in self.leases.values() if now >= each.until]:
            self._release(tunnel)

    def close(self) -> None:
        """The connection is over."""
        for tunnel in list(self.leases.values()):
            self._release(tunnel)

    def claimed(self, packet: PortalPacket) -> bytes:
        """What is answered to a packet about a lease; BadLease if nothing is."""
        claim = read_claim(packet, self._ambient)
        if claim.delete:
            held = self.leases.get(claim.id)
            if held is not None:
                self._release(held)
            code = PortalCode.ACCEPTED if held else PortalCode.INVALID_IDENTITY
        else:
            code = self._update(claim)
        return claim_response(claim, code)

    def _update(self, claim: LeaseClaim) -> PortalCode:
        if claim.seconds <= 0:
            return PortalCode.INVALID_EXPIRES
        tunnel = self.leases.get(claim.id)
        if tunnel is None:
            if len(self.leases) >= MOST_LEASES:
                return PortalCode.REJECTED
            tunnel = PortalV1Tunnel(self, claim.id)
            code = self._names.lease(tunnel, claim)
            if code is not PortalCode.ACCEPTED:
                return code
            self.leases[claim.id] = tunnel
            self.session.agree()
        elif tunnel.app != claim.name.lower():
            return PortalCode.REJECTED
        tunnel.until = asyncio.get_running_loop().time() + claim.seconds
        return PortalCode.ACCEPTED

    def _release(self, tunnel: PortalV1Tunnel) -> None:
        del self.leases[tunnel.lease]
        tunnel.pool.clear()
        self._names.release(tunnel)

    # What the session calls.

    def opened(self, stream: MultiplexStream) -> None:
        _ControlStream(stream, self)

    def leaving(self) -> None: ...

    def emptied(self) -> None: ...

    def ponged(self, payload: bytes) -> None:
        self.connection.ponged(payload)

    def wake(self) -> None:
        self.connection.wake()


class _ControlStream:
    """A stream that the tunnel opened: requests about leases, one after another."""

    def __init__(self, stream: MultiplexStream, of: PortalV1Connection) -> None:
        self._stream, self._of, self._frames = stream, of, FrameBuffer()
        stream.sink = self

    def accepted(self) -> None: ...

    def received(self, payload: bytes | memoryview) -> None:
        self._frames.feed(bytes(payload))
        self._stream.consumed(len(payload))
        try:
            while (message := self._frames.next()) is not None:
                found = PortalPacket.decode(message)
                if found.type not in _CLAIMS:
                    raise BadLease(f"a packet of type {found.type}")
                self._stream.send(self._of.claimed(found))
        except (BadLease, TooLong, Malformed) as error:
            self._stream.reset(Fault.PROTOCOL, str(error))

    def ended(self) -> None:
        self._stream.finish()

    def failed(self, code: int, text: str) -> None: ...

    def writable(self) -> None: ...
