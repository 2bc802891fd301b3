from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.lease import (
    MOST_TTL_SECONDS,
    TTL_SECONDS,
    BadLease,
    LeaseClaim,
    claim_response,
    read_claim,
    read_update_response,
    update_packet,
)
from quintant.agents.portalv1.messages import (
    LeaseDeleteRequest,
    LeaseUpdateRequest,
    PacketType,
    PortalCode,
    PortalLease,
    PortalPacket,
    SignedPayload,
)
from unit.agents.portalv1.yamux_ends import NOW, OTHER_SEED, SEED, ambient

TUNNEL = PortalCredential(SEED)


def claimed(packet: PortalPacket, now: float = NOW) -> LeaseClaim:
    return read_claim(packet, ambient(now))


def update(lease: PortalLease, by: PortalCredential = TUNNEL) -> PortalPacket:
    return PortalPacket(PacketType.LEASE_UPDATE_REQUEST, by.sign(LeaseUpdateRequest(lease)))


def test_a_claim_names_the_key_the_name_and_how_long() -> None:
    sent = PortalPacket.decode(update_packet(TUNNEL, "hello", ambient())[4:])
    assert claimed(sent) == LeaseClaim(TUNNEL.id, "hello", TTL_SECONDS)
    assert claimed(sent, NOW + TTL_SECONDS + 1).seconds < 0


def test_no_claim_is_believed_for_ever() -> None:
    lease = PortalLease(TUNNEL.identity, 2**62, "hello")
    assert claimed(update(lease)).seconds == MOST_TTL_SECONDS


def test_a_lease_of_another_key_cannot_be_claimed_or_given_back() -> None:
    other = PortalCredential(OTHER_SEED)
    with pytest.raises(BadLease):
        claimed(update(PortalLease(TUNNEL.identity, 2**33, "hello"), by=other))
    signed = other.sign(LeaseDeleteRequest(TUNNEL.identity))
    with pytest.raises(BadLease):
        claimed(PortalPacket(PacketType.LEASE_DELETE_REQUEST, signed))
    with pytest.raises(BadLease):
        claimed(update(PortalLease()))


def test_whoever_has_the_key_can_give_the_lease_back() -> None:
    signed = TUNNEL.sign(LeaseDeleteRequest(TUNNEL.identity))
    found = claimed(PortalPacket(PacketType.LEASE_DELETE_REQUEST, signed))
    assert found.delete
    assert found.id == TUNNEL.id


@given(st.sampled_from((PacketType.LEASE_UPDATE_REQUEST, PacketType.LEASE_DELETE_REQUEST)),
       st.binary(max_size=80), st.binary(max_size=80))  # fmt: skip
def test_whatever_comes_is_a_claim_or_is_refused(kind: int, raw: bytes, data: bytes) -> None:
    for payload in (raw, SignedPayload(data, raw).encode()):
        with pytest.raises(BadLease):
            claimed(PortalPacket(kind, payload))


@pytest.mark.parametrize("code", list(PortalCode))
def test_an_answer_is_read_as_it_was_written(code: PortalCode) -> None:
    raw = claim_response(LeaseClaim(TUNNEL.id, "hello", 1), code)
    assert read_update_response(raw[4:]) is code


@pytest.mark.parametrize(
    "raw", [b"", b"\xff", PortalPacket(3, b"\x08\x63").encode(), PortalPacket(5).encode()]
)
def test_an_answer_that_is_none_is_refused(raw: bytes) -> None:
    with pytest.raises(BadLease):
        read_update_response(raw)
