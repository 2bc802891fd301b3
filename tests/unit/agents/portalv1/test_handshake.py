from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.portalv1.handshake import (
    SKEW_SECONDS,
    HandshakeFailed,
    TunnelHandshake,
    VisitorHandshake,
    derive_key,
)
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.messages import FrameBuffer
from unit.agents.portalv1.yamux_ends import NOW, OTHER_SEED, SEED, ambient

TUNNEL, VISITOR = PortalCredential(SEED), PortalCredential(OTHER_SEED)


def messages(raw: bytes) -> list[bytes]:
    frames, found = FrameBuffer(), []
    frames.feed(raw)
    while (message := frames.next()) is not None:
        found.append(message)
    return found


def ends(
    lease: str = TUNNEL.id, visitor_now: float = NOW
) -> tuple[VisitorHandshake, TunnelHandshake]:
    visitor = VisitorHandshake(VISITOR, lease, ambient(visitor_now, seed=1))
    return visitor, TunnelHandshake(TUNNEL, ambient(seed=2))


def agree(visitor: VisitorHandshake, tunnel: TunnelHandshake) -> None:
    answers = b"".join(tunnel.answer(message) for message in messages(visitor.start()))
    for message in messages(answers):
        assert visitor.answer(message) == b""


def test_both_ends_have_the_same_keys_one_for_each_direction() -> None:
    visitor, tunnel = ends()
    agree(visitor, tunnel)
    assert visitor.keys is not None
    assert tunnel.keys is not None
    assert visitor.keys.write == tunnel.keys.read
    assert visitor.keys.read == tunnel.keys.write
    assert visitor.keys.read != visitor.keys.write
    assert visitor.keys.read.hex() not in repr(visitor.keys)


def test_other_visitors_have_other_keys() -> None:
    first, second = ends(), ends()
    agree(*first)
    second[1].answer(messages(second[0].start())[0])
    other = VisitorHandshake(VISITOR, TUNNEL.id, ambient(seed=3))
    agree(other, TunnelHandshake(TUNNEL, ambient(seed=4)))
    assert first[0].keys != other.keys


@given(st.data())
def test_a_byte_that_the_relay_changes_fails_the_handshake(draw: st.DataObject) -> None:
    visitor, tunnel = ends()
    request, init = messages(visitor.start())
    at = draw.draw(st.integers(0, len(init) - 1))
    changed = bytearray(init)
    changed[at] ^= draw.draw(st.integers(1, 255))
    tunnel.answer(request)
    with pytest.raises(HandshakeFailed):
        tunnel.answer(bytes(changed))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_handshake_or_fail_it(raw: bytes) -> None:
    visitor, tunnel = ends()
    for end in (visitor, tunnel):
        with contextlib.suppress(HandshakeFailed):
            end.answer(raw)


@pytest.mark.parametrize("off", [SKEW_SECONDS, -SKEW_SECONDS])
def test_clocks_may_be_half_a_minute_apart_and_no_more(off: float) -> None:
    agree(*ends(visitor_now=NOW + off))
    with pytest.raises(HandshakeFailed, match="clock"):
        agree(*ends(visitor_now=NOW + off * 1.1))


def test_a_visitor_of_another_lease_is_refused() -> None:
    with pytest.raises(HandshakeFailed, match="another lease"):
        agree(*ends(lease=VISITOR.id))


def test_whoever_answers_in_the_place_of_the_tunnel_is_found_out() -> None:
    visitor, tunnel = ends()
    request, init = messages(visitor.start())
    accepted = tunnel.answer(request)
    impostor = TunnelHandshake(PortalCredential(b"\x07" * 32), ambient())
    forged = VisitorHandshake(VISITOR, PortalCredential(b"\x07" * 32).id, ambient(seed=1))
    impostor.answer(messages(forged.start())[0])
    (answer,) = messages(impostor.answer(init))
    (code,) = messages(accepted)
    visitor.answer(code)
    with pytest.raises(HandshakeFailed, match="does not hold the lease"):
        visitor.answer(answer)


def test_a_tunnel_that_says_no_is_told_apart() -> None:
    visitor, _ = ends()
    with pytest.raises(HandshakeFailed) as failed:
        visitor.answer(b"\x08\x07\x12\x02\x08\x06")
    assert failed.value.refused


def test_a_key_depends_on_every_part_of_what_it_is_made_from() -> None:
    keys = {
        derive_key(shared, nonces, info)
        for shared in (b"a", b"b")
        for nonces in ((b"1", b"2"), (b"2", b"1"))
        for info in (b"x", b"y")
    }
    assert len(keys) == 8
