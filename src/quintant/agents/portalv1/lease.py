"""A lease: a signed claim to a name that has to be renewed, on both sides of it. Pure.

A tunnel claims a name for 30 s and claims it again every 5; a relay releases it when no tunnel
renews it. A name belongs to a key: a tunnel with the same key shares it.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.agents.portalv1.handshake import ALPN, NONCE_BYTES, Ambient
from quintant.agents.portalv1.identity import PortalCredential, verified
from quintant.agents.portalv1.messages import (
    CodeResponse,
    LeaseDeleteRequest,
    LeaseUpdateRequest,
    PacketType,
    PortalCode,
    PortalLease,
    PortalPacket,
    SignedPayload,
    packet,
)
from quintant.wire.protobuf import Malformed

TTL_SECONDS = 30
RENEW_SECONDS = 5.0
"""Six chances before a lease is over, and how soon another tunnel of the same key takes over."""
MOST_TTL_SECONDS = 300
"""No claim is believed for longer, whatever it says."""


class BadLease(Exception):
    """A request that is not answered: it is not signed, or it is none."""


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """What a tunnel asks for, believed: its signature is the one of its key."""

    id: str
    name: str
    seconds: float
    """How long it is to last; 0 or less if it is over."""
    delete: bool = False


def update_packet(credential: PortalCredential, name: str, ambient: Ambient) -> bytes:
    """The packet that claims a name, or claims it again."""
    now = int(ambient.now())
    lease = PortalLease(credential.identity, now + TTL_SECONDS, name, ALPN)
    request = LeaseUpdateRequest(lease, ambient.random(NONCE_BYTES), now)
    signed = SignedPayload.decode(credential.sign(request))
    return packet(PacketType.LEASE_UPDATE_REQUEST, signed)


def read_update_response(message: bytes) -> PortalCode:
    """What a relay says to it; BadLease if it says something else."""
    try:
        found = PortalPacket.decode(message)
        code = CodeResponse.decode(found.payload).code
        if found.type != PacketType.LEASE_UPDATE_RESPONSE:
            raise BadLease(f"a packet of type {found.type} for the response to a lease")
        return PortalCode(code)
    except ValueError as error:
        raise BadLease(str(error)) from None


def read_claim(packet: PortalPacket, ambient: Ambient) -> LeaseClaim:
    """What a packet asks for; BadLease if its signature does not hold."""
    try:
        signed = SignedPayload.decode(packet.payload)
        if packet.type == PacketType.LEASE_DELETE_REQUEST:
            return _delete(signed)
        return _update(signed, ambient)
    except Malformed as error:
        raise BadLease(str(error)) from None


def claim_response(claim: LeaseClaim, code: PortalCode) -> bytes:
    """The packet that answers a claim."""
    kind = PacketType.LEASE_DELETE_RESPONSE if claim.delete else PacketType.LEASE_UPDATE_RESPONSE
    return packet(kind, CodeResponse(code))


def _update(signed: SignedPayload, ambient: Ambient) -> LeaseClaim:
    lease = LeaseUpdateRequest.decode(signed.data).lease or PortalLease()
    if lease.identity is None or not verified(signed, lease.identity):
        raise BadLease("a lease that its key did not sign")
    left = lease.expires - ambient.now()
    return LeaseClaim(lease.identity.id, lease.name, min(left, MOST_TTL_SECONDS))


def _delete(signed: SignedPayload) -> LeaseClaim:
    identity = LeaseDeleteRequest.decode(signed.data).identity
    if identity is None or not verified(signed, identity):
        raise BadLease("a lease that its key did not sign")
    return LeaseClaim(identity.id, "", 0.0, delete=True)
