from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.portalv1.yamux import (
    MalformedYamux,
    YamuxBody,
    YamuxDecoder,
    YamuxHeader,
    YamuxKind,
    encode_data,
    encode_header,
)

STREAMS = st.integers(1, 2**32 - 1)
FRAMES = st.lists(st.tuples(STREAMS, st.binary(max_size=40), st.booleans()), max_size=8)


def told(raw: bytes, cuts: list[int]) -> tuple[list[YamuxHeader], bytes]:
    """Headers, and all bodies together, of bytes that come in pieces."""
    decoder, heads, body = YamuxDecoder(), [], b""
    for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        for found in decoder.feed(raw[begin:end]):
            if isinstance(found, YamuxBody):
                body += found.payload
            else:
                heads.append(found)
    return heads, body


@given(FRAMES, st.data())
def test_it_makes_no_difference_where_the_bytes_are_cut(
    frames: list[tuple[int, bytes, bool]], draw: st.DataObject
) -> None:
    raw = b"".join(encode_data(*frame) for frame in frames)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(raw)), max_size=10)))
    assert told(raw, cuts) == told(raw, [])
    assert told(raw, list(range(1, len(raw)))) == told(raw, [])


@given(FRAMES)
def test_what_was_sent_is_what_is_told(frames: list[tuple[int, bytes, bool]]) -> None:
    heads, body = told(b"".join(encode_data(*frame) for frame in frames), [])
    assert body == b"".join(payload for _, payload, _ in frames)
    lengths = [head.length for head in heads if head.kind == YamuxKind.DATA]
    assert lengths == [len(payload) for _, payload, _ in frames if payload]
    assert sum(bool(head.flags) for head in heads) == sum(fin for _, _, fin in frames)


@given(st.binary(max_size=64))
def test_any_bytes_are_yamux_or_are_refused(raw: bytes) -> None:
    with contextlib.suppress(MalformedYamux):
        told(raw, [])


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"GET / HTTP/1.1\r\n", id="another protocol"),
        pytest.param(encode_header(YamuxKind.DATA, 0, 0, 1), id="data of no stream"),
        pytest.param(encode_header(YamuxKind.PING, 1, 7, 1), id="a ping of a stream"),
        pytest.param(encode_header(YamuxKind.WINDOW, 64, 1, 1), id="a flag that is none"),
    ],
)
def test_what_is_no_yamux_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedYamux):
        told(raw, [])


def test_a_long_body_is_told_as_it_comes_and_held_by_nobody() -> None:
    decoder = YamuxDecoder()
    head = encode_header(YamuxKind.DATA, 0, 1, 2**32 - 1)
    assert len(list(decoder.feed(head))) == 1
    (piece,) = decoder.feed(b"x" * 1000)
    assert piece == YamuxBody(b"x" * 1000, 2**32 - 1001)
