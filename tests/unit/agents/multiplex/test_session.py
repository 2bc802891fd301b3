from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.agents.multiplex.session import (
    LOST,
    MultiplexSession,
    ProtocolViolation,
    SessionEvent,
    SessionState,
    step,
)
from quintant.agents.multiplex.stream import GROWTH
from quintant.agents.multiplex.window import GROWTH_BYTES, MEMORY_BYTES
from quintant.wire.portal import (
    CHUNK_BYTES,
    Close,
    Farewell,
    Fault,
    Frame,
    FrameKind,
    Hello,
    Opening,
    credit_frame,
    data,
    decode,
    encode,
    open_frame,
    telling,
)
from unit.agents.multiplex.ends import End, joined, pump


def test_bytes_arrive_in_order_and_the_end_behind_them() -> None:
    relay, tunnel = joined(window=1 << 20)
    near = relay.open()
    near.stream.send(b"a" * 100_000)
    near.stream.send(b"b")
    near.stream.finish()
    pump(relay, tunnel)
    far = tunnel.ears[near.stream.id]
    assert far.got == b"a" * 100_000 + b"b"
    assert far.over


@settings(max_examples=60)
@given(st.data())
def test_no_schedule_loses_reorders_or_oversteps_the_credit(draw: st.DataObject) -> None:
    """Slow readers, many streams, frames held back: what is sent is what arrives, in the end."""
    relay, tunnel = joined(window=draw.draw(st.integers(1, 200)), limit=8)
    ears = [relay.open() for _ in range(draw.draw(st.integers(1, 4)))]
    sent = {handler.stream.id: b"" for handler in ears}
    for turn in range(draw.draw(st.integers(1, 40))):
        handler = draw.draw(st.sampled_from(ears))
        payload = bytes([turn % 256]) * draw.draw(st.integers(0, 300))
        handler.stream.send(payload)
        sent[handler.stream.id] += payload
        for _ in range(draw.draw(st.integers(0, 5))):
            if (parts := relay.session.outgoing.emit()) is not None:
                tunnel.session.receive(b"".join(parts))
        for far in tunnel.ears.values():
            assert far.held <= far.stream.window
            far.consume(draw.draw(st.integers(0, 300)))
    for handler in ears:
        handler.stream.finish()
    for _ in range(10_000):
        pump(relay, tunnel)
        if all(far.over for far in tunnel.ears.values()):
            break
        for far in tunnel.ears.values():
            far.consume(far.held)
    assert {id: far.got for id, far in tunnel.ears.items()} == sent
    assert all(far.over for far in tunnel.ears.values())


def test_a_reader_that_takes_nothing_gets_no_more_than_its_window() -> None:
    relay, tunnel = joined(window=1000)
    near = relay.open()
    near.stream.send(b"x" * 5000)
    pump(relay, tunnel)
    assert len(tunnel.ears[1].got) == 1000
    tunnel.ears[1].consume(499)
    pump(relay, tunnel)
    assert len(tunnel.ears[1].got) == 1000
    tunnel.ears[1].consume(1)
    pump(relay, tunnel)
    assert len(tunnel.ears[1].got) == 1500


def test_the_window_of_a_reader_that_keeps_up_grows_to_its_limit() -> None:
    relay, tunnel = joined(window=1000)
    near = relay.open()
    near.stream.send(b"x" * 100_000)
    for _ in range(20):
        pump(relay, tunnel)
        tunnel.ears[1].consume(100_000)
    before = len(tunnel.ears[1].got)
    pump(relay, tunnel)
    assert tunnel.ears[1].stream.window == 1000 * GROWTH
    assert len(tunnel.ears[1].got) - before <= 1000 * GROWTH


def test_windows_grow_only_as_far_as_the_memory_of_a_session_goes() -> None:
    relay, tunnel = joined(window=1000, limit=6)
    ears = [relay.open() for _ in range(6)]
    tunnel.session.spare(GROWTH_BYTES - 2500)
    for _ in range(4):
        for handler in ears:
            handler.stream.send(bytes(2000))
        pump(relay, tunnel)
        for far in tunnel.ears.values():
            far.consume(2000)
    assert sum(far.stream.window for far in tunnel.ears.values()) == 6 * 1000 + 2500
    for handler in ears:
        handler.stream.reset(Fault.CANCEL)
    pump(relay, tunnel)
    assert tunnel.session.spare(GROWTH_BYTES) == 2500


def test_streams_that_nobody_reads_hold_no_more_than_the_memory_of_a_session() -> None:
    window = 1 << 20
    relay, tunnel = joined(window=window, limit=100)
    ears = [relay.open() for _ in range(100)]
    for handler in ears:
        handler.stream.send(bytes(window))
        pump(relay, tunnel)
        assert tunnel.session.held <= MEMORY_BYTES
    lost = [handler for handler in ears if handler.failure is not None]
    assert len(lost) == 100 - MEMORY_BYTES // window
    assert all(handler.failure[0] == Fault.LIMIT for handler in lost if handler.failure)
    for far in tunnel.ears.values():
        far.consume(window)
    assert tunnel.session.held == 0


def test_idle_streams_hold_nothing() -> None:
    relay, tunnel = joined(window=1 << 20, limit=10_000)
    for _ in range(10_000):
        relay.open()
    pump(relay, tunnel)
    assert len(tunnel.session.streams) == 10_000
    assert tunnel.session.held == 0


def test_more_than_the_credit_ends_the_connection() -> None:
    relay, tunnel = joined(window=10)
    relay.open()
    pump(relay, tunnel)
    with pytest.raises(ProtocolViolation) as caught:
        tunnel.session.receive(data(1, b"x" * 11))
    assert caught.value.code is Close.BAD_FRAME
    assert decode(b"".join(tunnel.session.outgoing.emit() or ())).kind == FrameKind.RST


def test_streams_take_turns_of_one_chunk() -> None:
    relay, _ = joined(window=1 << 20)
    one, other = relay.open(), relay.open()
    one.stream.send(b"x" * (3 * CHUNK_BYTES))
    other.stream.send(b"y")
    frames = [decode(b"".join(parts)) for parts in iter(relay.session.outgoing.emit, None)]
    order = [frame.stream for frame in frames if frame.kind == FrameKind.DATA]
    assert order == [1, 3, 1, 1]


@pytest.mark.parametrize("towards_relay", [True, False])
def test_visitors_take_turns_however_many_streams_one_has(towards_relay: bool) -> None:
    relay, tunnel = joined(window=1 << 20, limit=1000)
    many = [relay.open("192.0.2.1").stream.id for _ in range(300)]
    few = [relay.open(f"192.0.2.{at}").stream.id for at in (2, 3)]
    pump(relay, tunnel)
    source = tunnel if towards_relay else relay
    for id in (*many, *few):
        source.ears[id].stream.send(b"x" * (2 * CHUNK_BYTES))
    frames = [decode(b"".join(parts)) for parts in iter(source.session.outgoing.emit, None)]
    order = [frame.stream for frame in frames if frame.kind == FrameKind.DATA]
    assert sorted(order) == sorted([*many, *few] * 2)
    assert [id for id in order[:6] if id in few] == few * 2
    # Those of one visitor take turns among each other.
    assert [id for id in order if id in many] == many * 2


def test_control_frames_overtake_data() -> None:
    relay, _ = joined(window=1 << 20)
    near = relay.open()
    relay.session.outgoing.emit()
    near.stream.send(b"x")
    relay.session.leave(Farewell("restart"))
    assert decode(b"".join(relay.session.outgoing.emit() or ())).kind == FrameKind.GOAWAY


def test_a_reset_is_told_and_frees_the_stream_on_both_ends() -> None:
    relay, tunnel = joined()
    near = relay.open()
    pump(relay, tunnel)
    tunnel.ears[1].stream.reset(Fault.REFUSED, "no")
    pump(relay, tunnel)
    assert near.failure == (Fault.REFUSED, "no")
    assert not relay.session.streams
    assert not tunnel.session.streams
    assert (relay.empties, tunnel.empties) == (1, 1)


def test_frames_that_cross_a_reset_are_ignored() -> None:
    relay, tunnel = joined()
    near = relay.open()
    pump(relay, tunnel)
    near.stream.reset(Fault.CANCEL)
    tunnel.ears[1].stream.send(b"late")
    pump(relay, tunnel)
    assert relay.session.state is SessionState.OPEN


def test_a_lost_connection_fails_every_stream() -> None:
    relay, _ = joined()
    ears = [relay.open() for _ in range(3)]
    relay.session.lose("gone")
    assert [handler.failure for handler in ears] == [(LOST, "gone")] * 3
    assert relay.session.state is SessionState.CLOSED


def test_a_farewell_stops_new_streams_and_keeps_the_old() -> None:
    relay, tunnel = joined(window=1 << 20)
    near = relay.open()
    pump(relay, tunnel)
    tunnel.session.leave(Farewell("drain"))
    pump(relay, tunnel)
    assert relay.farewell == Farewell("drain")
    assert not relay.session.room
    near.stream.send(b"still")
    pump(relay, tunnel)
    assert tunnel.ears[1].got == b"still"


def test_streams_above_the_limit_are_refused_and_harm_nobody() -> None:
    relay, tunnel = joined(limit=1)
    first = relay.open()
    second = relay.open()
    pump(relay, tunnel)
    assert second.failure is not None
    assert second.failure[0] == Fault.LIMIT
    assert first.failure is None


@pytest.mark.parametrize(
    "raw",
    [
        data(2, b"even"),
        data(9, b"nobody opened it"),
        encode(open_frame(2, Opening(1, "", ""))),
        encode(Frame(FrameKind.OPEN_ACK, 1)),
        encode(telling(FrameKind.HELLO, Hello("a", "g"))),
        encode(credit_frame(1, 2**32 - 1)),
        b"no frame",
    ],
)
def test_a_tunnel_ends_a_relay_that_breaks_the_rules(raw: bytes) -> None:
    relay, tunnel = joined()
    relay.open()
    pump(relay, tunnel)
    with pytest.raises(ProtocolViolation):
        tunnel.session.receive(raw)


def test_a_relay_does_not_let_tunnels_open_streams() -> None:
    relay, _ = joined()
    with pytest.raises(ProtocolViolation):
        relay.session.receive(encode(open_frame(1, Opening(1, "", ""))))


def test_nothing_but_the_greeting_comes_first() -> None:
    with pytest.raises(ProtocolViolation):
        End(relay=True).session.receive(encode(Frame(FrameKind.PING, 0, b"12345678")))


@given(st.binary(max_size=64))
def test_any_message_is_taken_or_a_violation(raw: bytes) -> None:
    relay, tunnel = joined()
    relay.open()
    pump(relay, tunnel)
    try:
        tunnel.session.receive(raw)
    except ProtocolViolation:
        return
    assert isinstance(tunnel.session, MultiplexSession)


def test_extensions_are_ignored() -> None:
    relay, tunnel = joined()
    tunnel.session.receive(encode(Frame(0x80, 7, b"whatever", flags=0xFF)))
    pump(relay, tunnel)
    assert tunnel.session.state is SessionState.OPEN


def test_a_ping_is_answered_with_its_bytes() -> None:
    _, tunnel = joined()
    tunnel.session.receive(encode(Frame(FrameKind.PING, 0, b"12345678")))
    assert decode(b"".join(tunnel.session.outgoing.emit() or ())) == Frame(
        FrameKind.PONG, 0, b"12345678"
    )


def test_states_only_go_forward() -> None:
    assert step(SessionState.GREETING, SessionEvent.GREETED) is SessionState.OPEN
    assert step(SessionState.OPEN, SessionEvent.LEAVING) is SessionState.DRAINING
    assert step(SessionState.DRAINING, SessionEvent.GREETED) is SessionState.DRAINING
    assert step(SessionState.CLOSED, SessionEvent.LEAVING) is SessionState.CLOSED
