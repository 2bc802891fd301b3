from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.agents.multiplex.session import ProtocolViolation
from quintant.agents.portalv1.yamux import (
    WINDOW_BYTES,
    YamuxFlag,
    YamuxKind,
    encode_data,
    encode_header,
)
from quintant.wire.portal import STREAMS, Fault
from unit.agents.portalv1.yamux_ends import YamuxEnd, joined, pump


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_bytes_arrive_in_order_and_the_end_behind_them(piece: int) -> None:
    tunnel, relay = joined()
    near = tunnel.open()
    near.stream.send(b"a" * 50_000)
    near.stream.send(b"b")
    near.stream.finish()
    pump(tunnel, relay, piece)
    far = relay.ears[near.stream.id]
    assert far.got == b"a" * 50_000 + b"b"
    assert far.over


@settings(max_examples=40)
@given(st.data())
def test_no_schedule_loses_reorders_or_oversteps_the_credit(draw: st.DataObject) -> None:
    """Slow readers and many streams both ways: what is sent is what arrives, in the end."""
    tunnel, relay = joined()
    ears = [draw.draw(st.sampled_from((tunnel, relay))).open() for _ in range(3)]
    sent = {id(ear): b"" for ear in ears}
    for turn in range(draw.draw(st.integers(1, 20))):
        ear = draw.draw(st.sampled_from(ears))
        payload = bytes([turn]) * draw.draw(st.integers(0, 150_000))
        ear.stream.send(payload)
        sent[id(ear)] += payload
        pump(tunnel, relay)
        for far in (*tunnel.ears.values(), *relay.ears.values()):
            far.consume(draw.draw(st.integers(0, 200_000)))
    for _ in range(100):
        pump(tunnel, relay)
        for far in (*tunnel.ears.values(), *relay.ears.values()):
            far.consume(1 << 30)
    for ear in ears:
        end = tunnel if ear.stream.id in tunnel.ears else relay
        assert end.ears[ear.stream.id].got == sent[id(ear)]


def test_a_reader_that_stands_still_stops_its_sender_at_the_window() -> None:
    tunnel, relay = joined()
    near = tunnel.open()
    near.stream.send(b"x" * (WINDOW_BYTES * 2))
    pump(tunnel, relay)
    far = relay.ears[near.stream.id]
    assert len(far.got) == WINDOW_BYTES
    far.consume(WINDOW_BYTES)
    pump(tunnel, relay)
    assert len(far.got) == WINDOW_BYTES * 2


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(encode_header(YamuxKind.DATA, 0, 1, WINDOW_BYTES + 1), id="beyond the window"),
        pytest.param(encode_header(YamuxKind.WINDOW, 0, 1, 2**32 - 1), id="too much credit"),
        pytest.param(encode_data(99, b"x", False), id="a stream that nobody opened"),
        pytest.param(encode_header(YamuxKind.WINDOW, YamuxFlag.SYN, 1, 0), id="opened again"),
        pytest.param(encode_header(YamuxKind.WINDOW, YamuxFlag.SYN, 4, 0), id="a number of ours"),
        pytest.param(encode_data(1, b"", True) + encode_data(1, b"x", False), id="after its end"),
    ],
)
def test_a_peer_that_breaks_the_rules_is_given_up(raw: bytes) -> None:
    _, relay = joined()
    relay.session.receive(encode_header(YamuxKind.WINDOW, YamuxFlag.SYN, 1, 0))
    with pytest.raises(ProtocolViolation):
        relay.session.receive(raw)


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_whatever_comes_is_taken_or_is_a_violation(pieces: list[bytes]) -> None:
    _, relay = joined()
    try:
        for raw in pieces:
            relay.session.receive(raw)
    except ProtocolViolation:
        pass


def test_streams_may_come_in_another_order_than_they_were_numbered() -> None:
    _, relay = joined()
    for id in (5, 1, 3):
        relay.session.receive(encode_header(YamuxKind.WINDOW, YamuxFlag.SYN, id, 0))
        relay.session.receive(encode_data(id, b"hello", False))
    assert {id: ear.got for id, ear in relay.ears.items()} == dict.fromkeys((5, 1, 3), b"hello")


def test_more_streams_than_there_is_room_for_are_reset() -> None:
    tunnel, relay = joined()
    relay.session.limit = 2
    ears = [tunnel.open() for _ in range(3)]
    pump(tunnel, relay)
    assert [ear.failure is None for ear in ears] == [True, True, False]
    assert STREAMS >= len(relay.session.streams) == 2


def test_a_stream_that_is_given_up_ends_at_the_other_end_too() -> None:
    tunnel, relay = joined()
    near = tunnel.open()
    pump(tunnel, relay)
    near.stream.reset(Fault.CANCEL, "enough")
    pump(tunnel, relay)
    assert relay.ears[near.stream.id].failure is not None
    assert not relay.session.streams
    assert not tunnel.session.streams


def test_what_crosses_a_reset_on_the_way_harms_nobody() -> None:
    tunnel, relay = joined()
    near = tunnel.open()
    pump(tunnel, relay)
    relay.ears[near.stream.id].stream.reset(Fault.CANCEL)
    near.stream.send(b"late" * 1000)
    pump(tunnel, relay)
    other = tunnel.open()
    other.stream.send(b"hello")
    pump(tunnel, relay)
    assert relay.ears[other.stream.id].got == b"hello"


def test_pings_are_answered_with_what_they_held() -> None:
    tunnel, relay = joined()
    tunnel.session.ping(b"stamp")
    pump(tunnel, relay)
    assert tunnel.stamps == [b"stamp"]


def test_a_lost_connection_fails_every_stream() -> None:
    tunnel, _ = joined()
    ears = [tunnel.open(), tunnel.open()]
    tunnel.session.lose("gone")
    assert all(ear.failure == (0, "gone") for ear in ears)


def test_a_download_does_not_keep_a_small_answer_waiting() -> None:
    tunnel, relay = joined()
    large, small = tunnel.open(), tunnel.open()
    pump(tunnel, relay)
    large.stream.send(b"x" * 200_000)
    small.stream.send(b"y")
    order: list[int] = []
    while (parts := tunnel.session.outgoing.emit()) is not None:
        order.append(int.from_bytes(parts[0][4:8], "big"))
    assert order.index(small.stream.id) == 1


def test_a_session_that_leaves_is_noticed() -> None:
    end = YamuxEnd(client=True)
    end.session.agree()
    end.session.receive(encode_header(YamuxKind.GOAWAY, 0, 0, 0))
    assert end.left
    assert not end.session.room
