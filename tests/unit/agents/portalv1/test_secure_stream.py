from __future__ import annotations

import asyncio

import pytest

from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.portalv1.handshake import TunnelHandshake, VisitorHandshake
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.records import SHORT_BYTES, RecordBudget, RecordSealer
from quintant.agents.portalv1.secure_stream import HANDSHAKE_SECONDS, SecureStream
from quintant.wire.portal import Fault
from unit.agents.multiplex.ends import Ear
from unit.agents.portalv1.yamux_ends import OTHER_SEED, SEED, ambient, joined, pump

TUNNEL, VISITOR = PortalCredential(SEED), PortalCredential(OTHER_SEED)


class Pair:
    """A visitor and a tunnel, with a relay's yamux between them."""

    def __init__(self, budget: int = 1 << 26) -> None:
        self.tunnel, self.relay = joined()
        self.budget = RecordBudget(budget)
        self.tunnel.take = self._visited
        self.far: Ear[SecureStream] | None = None

    def _visited(self, inner: MultiplexStream) -> None:
        handshake = TunnelHandshake(TUNNEL, ambient(seed=2))
        SecureStream(inner, handshake, self.budget, self._opened)

    def _opened(self, stream: SecureStream) -> None:
        self.far = Ear(stream)

    def visit(self, lease: str = TUNNEL.id) -> Ear[SecureStream]:
        handshake = VisitorHandshake(VISITOR, lease, ambient(seed=1))
        inner = self.relay.session.open()
        stream = SecureStream(inner, handshake, RecordBudget(), lambda _: None)
        return Ear(stream)

    def pump(self, piece: int = 1 << 20) -> None:
        pump(self.tunnel, self.relay, piece)

    @property
    def reached(self) -> Ear[SecureStream]:
        assert self.far is not None
        return self.far


@pytest.mark.parametrize("piece", [1, 13, 1 << 20])
async def test_what_is_sent_before_the_keys_are_there_arrives_behind_them(piece: int) -> None:
    pair = Pair()
    near = pair.visit()
    near.stream.send(b"GET / HTTP/1.1\r\n\r\n")
    pair.pump(piece)
    assert pair.reached.got == b"GET / HTTP/1.1\r\n\r\n"
    pair.reached.stream.send(b"answer")
    pair.reached.stream.finish()
    pair.pump(piece)
    assert near.got == b"answer"
    assert near.over


async def test_the_relay_between_them_sees_nothing_of_it() -> None:
    pair = Pair()
    near = pair.visit()
    pair.pump()
    near.stream.send(b"a secret of the visitor")
    raw = b""
    while (parts := pair.relay.session.outgoing.emit()) is not None:
        message = b"".join(parts)
        raw += message
        pair.tunnel.session.receive(message)
    assert pair.reached.got == b"a secret of the visitor"
    assert b"secret" not in raw


async def test_a_slow_reader_holds_a_window_and_no_more() -> None:
    pair = Pair()
    near, total = pair.visit(), 3_000_000
    pair.pump()
    near.stream.send(b"x" * total)
    pair.pump()
    held: list[int] = []
    while len(pair.reached.got) < total:
        held.append(pair.reached.held)
        pair.reached.consume(100_000)
        pair.pump()
    assert max(held) < 2 * 1024 * 1024
    assert pair.reached.got == b"x" * total


@pytest.mark.parametrize("size", [SHORT_BYTES + 1, 1_000_000, 5_000_000])
async def test_a_record_that_is_longer_than_the_window_passes(size: int) -> None:
    pair = Pair()
    handshake = VisitorHandshake(VISITOR, TUNNEL.id, ambient(seed=1))
    inner = pair.relay.session.open()
    stream = SecureStream(inner, handshake, RecordBudget(), lambda _: None)
    pair.pump()
    assert handshake.keys is not None
    inner.send(RecordSealer(handshake.keys).seal(b"x" * size))
    pair.pump()
    assert pair.reached.got == b"x" * size
    assert pair.budget.left < 1 << 26
    pair.reached.consume(size)
    assert pair.budget.left == 1 << 26
    stream.send(b"and on")
    pair.pump()
    assert pair.reached.got.endswith(b"and on")


async def test_more_long_records_than_the_budget_end_their_stream_only() -> None:
    pair = Pair(budget=1_000_000)
    handshake = VisitorHandshake(VISITOR, TUNNEL.id, ambient(seed=1))
    inner = pair.relay.session.open()
    stream = Ear(SecureStream(inner, handshake, RecordBudget(), lambda _: None))
    pair.pump()
    assert handshake.keys is not None
    inner.send(RecordSealer(handshake.keys).seal(b"x" * 2_000_000))
    pair.pump()
    assert stream.failure is not None
    assert pair.budget.left == 1_000_000
    other = pair.visit()
    other.stream.send(b"hello")
    pair.pump()
    assert pair.reached.got == b"hello"


async def test_whoever_does_not_agree_on_keys_is_given_up() -> None:
    pair = Pair()
    silent = pair.relay.open()
    pair.pump()
    await asyncio.sleep(HANDSHAKE_SECONDS + 1)
    pair.pump()
    assert silent.failure is not None
    assert not pair.tunnel.session.streams


async def test_a_visitor_of_another_lease_is_told_and_the_tunnel_goes_on() -> None:
    pair = Pair()
    lost = pair.visit(lease=VISITOR.id)
    pair.pump()
    assert lost.failure is not None
    pair.visit().stream.send(b"hello")
    pair.pump()
    assert pair.reached.got == b"hello"


async def test_bytes_that_nobody_sealed_end_the_stream() -> None:
    pair = Pair()
    handshake = VisitorHandshake(VISITOR, TUNNEL.id, ambient(seed=1))
    inner = pair.relay.session.open()
    SecureStream(inner, handshake, RecordBudget(), lambda _: None)
    pair.pump()
    inner.send((100).to_bytes(4, "big") + bytes(100))
    pair.pump()
    assert pair.reached.failure is not None
    assert pair.reached.failure[0] == Fault.PROTOCOL
    assert not pair.tunnel.session.streams
