from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.portalv1.messages import (
    PACKET_BYTES,
    FrameBuffer,
    Identity,
    LeaseUpdateRequest,
    PacketType,
    PortalLease,
    PortalPacket,
    TooLong,
    framed,
    packet,
)


def test_a_lease_is_written_as_portal_writes_it() -> None:
    lease = PortalLease(Identity("ID", b"\x01"), 7, "hello", ("http/1.1", "h2"))
    assert lease.encode() == (
        b"\x0a\x07\x0a\x02ID\x12\x01\x01" + b"\x10\x07" + b"\x1a\x05hello\x22\x08http/1.1\x22\x02h2"
    )


def test_a_packet_has_its_length_before_it() -> None:
    request = LeaseUpdateRequest(nonce=b"n")
    raw = packet(PacketType.LEASE_UPDATE_REQUEST, request)
    assert raw == b"\x00\x00\x00\x07\x08\x02\x12\x03\x12\x01n"
    assert PortalPacket.decode(raw[4:]) == PortalPacket(2, b"\x12\x01n")


@given(st.lists(st.binary(max_size=50), max_size=6), st.integers(1, 20))
def test_messages_come_whole_wherever_the_bytes_are_cut(sent: list[bytes], piece: int) -> None:
    raw, frames, got = b"".join(map(framed, sent)), FrameBuffer(), []
    for at in range(0, len(raw), piece):
        frames.feed(raw[at : at + piece])
        while (message := frames.next()) is not None:
            got.append(message)
    assert got == sent
    assert frames.rest() == b""


def test_a_message_of_any_length_is_not_waited_for() -> None:
    frames = FrameBuffer()
    frames.feed((PACKET_BYTES + 1).to_bytes(4, "big"))
    with pytest.raises(TooLong):
        frames.next()
