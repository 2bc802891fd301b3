from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.wire.portal import (
    EXTENSION,
    FIN,
    MESSAGE_BYTES,
    REASON_BYTES,
    TEXT_BYTES,
    Fault,
    Frame,
    FrameKind,
    Hello,
    MalformedFrame,
    Opening,
    Reason,
    close_reason,
    credit_frame,
    data,
    decode,
    document,
    encode,
    open_frame,
    read_credit,
    read_open,
    read_reason,
    read_reset,
    reset_frame,
    telling,
)

streams = st.integers(1, 2**32 - 1)
short = st.text(st.characters(codec="ascii"), max_size=255)


@given(streams, st.binary(max_size=4096), st.booleans())
def test_data_survives_the_wire(stream: int, payload: bytes, fin: bool) -> None:
    assert decode(data(stream, payload, fin)) == Frame(FrameKind.DATA, stream, payload, FIN * fin)


@given(streams, st.integers(1, 255), short, short)
def test_an_opening_survives_the_wire(stream: int, kind: int, peer: str, request: str) -> None:
    opening = Opening(kind, peer, request)
    assert read_open(decode(encode(open_frame(stream, opening)))) == opening


@given(streams, st.integers(0, 2**32 - 1))
def test_credit_survives_the_wire(stream: int, credit: int) -> None:
    assert read_credit(decode(encode(credit_frame(stream, credit)))) == credit


@given(streams, st.sampled_from(Fault), st.text())
def test_a_reset_tells_as_much_as_fits(stream: int, code: Fault, text: str) -> None:
    found = read_reset(decode(encode(reset_frame(stream, code, text))))
    assert found.code == code
    assert text.startswith(found.text)
    assert len(found.text.encode()) > TEXT_BYTES - 4 or found.text == text


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_malformed(raw: bytes) -> None:
    try:
        frame = decode(raw)
    except MalformedFrame:
        return
    assert encode(frame) == raw or frame.kind >= EXTENSION


@given(st.binary(max_size=80))
def test_any_opening_is_read_or_malformed(raw: bytes) -> None:
    try:
        opening = read_open(Frame(FrameKind.OPEN, 1, raw))
    except MalformedFrame:
        return
    assert opening.kind == raw[0]


@given(st.integers(0, 4999), st.text(), st.integers(0, 10**9))
def test_the_reason_of_a_close_always_fits(code: int, text: str, retry: int) -> None:
    raw = close_reason(Reason(code, text, retry))
    assert len(raw) <= REASON_BYTES
    found = read_reason(code, raw)
    assert (found.code, found.retry_after_ms) == (code, retry)


def test_a_reason_of_another_make_is_taken_as_text() -> None:
    assert read_reason(1011, "server error") == Reason(1011, "server error")
    assert read_reason(1006, None) == Reason(1006, "")


@pytest.mark.parametrize(
    "frame",
    [
        Frame(FrameKind.PING, 0, b"short"),
        Frame(FrameKind.PING, 3, b"12345678"),
        Frame(FrameKind.DATA, 0, b"x"),
        Frame(FrameKind.DATA, 1, b"x", flags=2),
        Frame(FrameKind.OPEN_ACK, 1, b"x"),
        Frame(FrameKind.WINDOW, 1, b"123"),
        Frame(FrameKind.RST, 1, b""),
        Frame(FrameKind.PONG, 0, b"12345678", flags=FIN),
        Frame(12, 0, b""),
        Frame(0, 0, b""),
    ],
)
def test_what_no_peer_may_send_is_malformed(frame: Frame) -> None:
    with pytest.raises(MalformedFrame):
        decode(encode(frame))


def test_messages_have_a_greatest_length() -> None:
    decode(data(1, b"x" * (MESSAGE_BYTES - 8)))
    with pytest.raises(MalformedFrame):
        decode(data(1, b"x" * (MESSAGE_BYTES - 7)))


def test_reserved_bytes_are_zero() -> None:
    with pytest.raises(MalformedFrame):
        decode(b"\x05\x00\x00\x01\x00\x00\x00\x01")


def test_documents_are_read_leniently_and_checked() -> None:
    frame = telling(FrameKind.HELLO, Hello("hello", "group"))
    assert document(frame, Hello) == Hello("hello", "group")
    extra = Frame(FrameKind.HELLO, 0, b'{"app":"a","group":"g","later":1}')
    assert document(extra, Hello).app == "a"
    with pytest.raises(MalformedFrame):
        document(Frame(FrameKind.HELLO, 0, b'{"app":7,"group":"g"}'), Hello)
