"""SPDY as bytes: what one side writes the other reads, and nothing is larger than it may be."""

from __future__ import annotations

import struct
import zlib

import pytest

from quintant.http.spdy_frames import (
    DICTIONARY,
    FRAME_BYTES,
    HEADER_BYTES,
    FrameType,
    SpdyError,
    SpdyFrame,
    SpdyReader,
    SpdyWriter,
    encode_control,
    encode_data,
    encode_number,
)


def syn_stream(block: bytes) -> bytes:
    return encode_control(FrameType.SYN_STREAM, struct.pack("!IIH", 1, 0, 0) + block)


def packed(raw: bytes) -> bytes:
    packer = zlib.compressobj(zdict=DICTIONARY)
    return packer.compress(raw) + packer.flush(zlib.Z_SYNC_FLUSH)


def test_the_dictionary_is_that_of_the_protocol() -> None:
    assert len(DICTIONARY) == 1423
    assert zlib.adler32(DICTIONARY) == 0xE3C6A7C2


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_frames_are_read_however_they_are_cut(size: int) -> None:
    writer, reader = SpdyWriter(), SpdyReader()
    raw = b"".join((
        writer.begin(1, {"streamtype": "error", "port": "80"}),
        writer.begin(3, {"streamtype": "data", "port": "80"}),
        encode_data(3, b"hello"),
        encode_data(3, b"", last=True),
        encode_number(FrameType.PING, 7),
        encode_number(FrameType.RST_STREAM, 1, 3),
    ))  # fmt: skip
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    found = [frame for piece in pieces for frame in reader.feed(piece)]
    assert found == [
        SpdyFrame(FrameType.SYN_STREAM, 1, headers={"streamtype": "error", "port": "80"}),
        SpdyFrame(FrameType.SYN_STREAM, 3, headers={"streamtype": "data", "port": "80"}),
        SpdyFrame(FrameType.DATA, 3, payload=b"hello"),
        SpdyFrame(FrameType.DATA, 3, last=True),
        SpdyFrame(FrameType.PING, 7),
        SpdyFrame(FrameType.RST_STREAM, 1),
    ]


def test_frames_that_are_not_known_are_passed_over() -> None:
    raw = struct.pack("!II", 0x80030063, 2) + b"xx" + encode_data(1, b"x")
    assert [frame.payload for frame in SpdyReader().feed(raw)] == [b"x"]


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack("!II", 1, FRAME_BYTES + 1),
        struct.pack("!II", 0x80020001, 0),
        encode_control(FrameType.PING, b"x"),
        syn_stream(b"no zlib"),
        syn_stream(packed(b"")),
        syn_stream(packed(struct.pack("!I", 1 << 31))),
        syn_stream(packed(struct.pack("!II", 1, 1 << 31))),
        syn_stream(packed(b"\0" * 4 + b"x" * (HEADER_BYTES + 1))),
        syn_stream(packed(b"\0" * 50_000_000)),
    ],
)
def test_what_is_no_spdy_or_too_much_of_it_is_an_error(raw: bytes) -> None:
    with pytest.raises(SpdyError):
        list(SpdyReader().feed(raw))
