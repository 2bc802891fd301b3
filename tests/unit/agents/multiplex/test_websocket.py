from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.multiplex.websocket import (
    FrameReader,
    Opcode,
    WebSocketError,
    WebSocketMessage,
    accept_key,
    encode_close,
    encode_frames,
    fresh_key,
    read_close,
    valid_key,
)

MOST = 70_000
KEY = b"\x01\x80\xfe\x7f"
SIZES = st.one_of(st.sampled_from([0, 1, 125, 126, 127, 65_535, 65_536]), st.integers(0, 2000))


def read(raw: bytes, masked: bool = False) -> list[tuple[int, bytes]]:
    return list(FrameReader(masked, MOST).feed(raw))


def frame(first: int, payload: bytes) -> bytes:
    return bytes((first, len(payload))) + payload


@given(
    sizes=st.lists(SIZES, max_size=5),
    masked=st.booleans(),
    cuts=st.lists(st.integers(1, 5000), min_size=1),
)
def test_what_is_written_is_read_however_it_is_cut(
    sizes: list[int], masked: bool, cuts: list[int]
) -> None:
    sent = [bytes(at % 251 for at in range(size)) for size in sizes]
    messages = [(each[:4], each[4:]) if len(each) > 4 else (each,) for each in sent]
    raw = encode_frames(Opcode.BINARY, messages, (lambda: KEY) if masked else None)
    reader, got, at = FrameReader(masked, MOST), list[tuple[int, bytes]](), 0
    while at < len(raw):
        size = cuts[at % len(cuts)]
        got += reader.feed(raw[at : at + size])
        at += size
    assert got == [WebSocketMessage(Opcode.BINARY, payload) for payload in sent]


def test_a_client_hides_what_it_sends() -> None:
    raw = encode_frames(Opcode.BINARY, [(b"GET / HTTP/1.1",)], lambda: KEY)
    assert b"GET" not in raw
    assert raw[1] & 0x80


def test_fragments_are_put_together_and_pings_come_between() -> None:
    raw = frame(0x02, b"one ") + frame(0x89, b"?") + frame(0x00, b"two ") + frame(0x80, b"three")
    assert read(raw) == [
        WebSocketMessage(Opcode.PING, b"?"),
        WebSocketMessage(Opcode.BINARY, b"one two three"),
    ]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(frame(0x80, b"x"), id="a continuation of nothing"),
        pytest.param(frame(0x02, b"x") + frame(0x82, b"y"), id="a message within a message"),
        pytest.param(frame(0xC2, b"x"), id="an extension that nobody agreed on"),
        pytest.param(frame(0x83, b"x"), id="a type that is reserved"),
        pytest.param(frame(0x8B, b"x"), id="a control type that is reserved"),
        pytest.param(frame(0x09, b"x"), id="a ping in fragments"),
        pytest.param(struct.pack("!BBH", 0x89, 126, 126) + bytes(126), id="a long ping"),
        pytest.param(struct.pack("!BBQ", 0x82, 127, MOST + 1), id="a message that is too large"),
        pytest.param(struct.pack("!BBQ", 0x82, 127, 1 << 63), id="a length beyond all"),
        pytest.param(encode_frames(Opcode.BINARY, [(b"x",)], lambda: KEY), id="a mask of a server"),
    ],
)
def test_what_breaks_the_rules_is_not_read(raw: bytes) -> None:
    with pytest.raises(WebSocketError):
        read(raw)


def test_fragments_are_too_large_together() -> None:
    half = struct.pack("!BBH", 0x02, 126, 40_000) + bytes(40_000)
    with pytest.raises(WebSocketError, match="80000"):
        read(half + struct.pack("!BBH", 0x80, 126, 40_000) + bytes(40_000))


def test_a_client_that_does_not_mask_is_not_read() -> None:
    with pytest.raises(WebSocketError, match="mask"):
        read(frame(0x82, b"x"), masked=True)


def test_a_close_has_a_code_and_a_reason_or_neither() -> None:
    assert read_close(encode_close(4401, b"no token")) == (4401, b"no token")
    assert read_close(b"") == (1005, b"")


def test_the_proof_is_that_of_the_standard() -> None:
    assert accept_key(b"dGhlIHNhbXBsZSBub25jZQ==") == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@pytest.mark.parametrize("key", [b"", b"short", b"dGhl", b"?" * 24])
def test_a_key_has_sixteen_bytes(key: bytes) -> None:
    assert not valid_key(key)
    assert valid_key(fresh_key(bytes(16)))
