from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.http.body import LAST_CHUNK, LINE_BYTES, BodyParser, encode_chunk, encode_end
from quintant.http.framing import Framing, FramingKind
from quintant.http.head import HEAD_BYTES, ProtocolError

CHUNKED = Framing(FramingKind.CHUNKED)


def fed(body: BodyParser, raw: bytes, cuts: list[int]) -> bytes:
    """What a body gives when its bytes come in pieces; the rest is put behind."""
    found, behind = b"", b""
    edges = [0, *sorted({cut % (len(raw) + 1) for cut in cuts}), len(raw)]
    for start, end in pairwise(edges):
        if body.done:
            behind += raw[start:end]
        else:
            found += body.feed(raw[start:end])
    body.rest += behind
    return found


cuts = st.lists(st.integers(0, 10_000))


@given(st.lists(st.binary(min_size=1, max_size=50)), cuts, st.binary(max_size=20))
def test_chunks_cut_anywhere_give_the_same_content(
    parts: list[bytes], cuts: list[int], behind: bytes
) -> None:
    body = BodyParser(CHUNKED)
    raw = b"".join(map(encode_chunk, parts)) + LAST_CHUNK + behind
    assert fed(body, raw, cuts) == b"".join(parts)
    assert body.done
    assert body.rest == behind


@given(st.binary(min_size=1, max_size=100), cuts, st.binary(max_size=20))
def test_counted_bytes_end_where_they_said(content: bytes, cuts: list[int], behind: bytes) -> None:
    body = BodyParser(Framing(FramingKind.LENGTH, len(content)))
    assert fed(body, content + behind, cuts) == content
    assert body.done
    assert body.rest == behind


def test_extensions_end_here_and_trailers_are_kept() -> None:
    body = BodyParser(CHUNKED)
    assert body.feed(b"3;name=value\r\nabc\r\n0\r\nX-Sum: 1 \r\nY:\r\n\r\nnext") == b"abc"
    assert body.rest == b"next"
    assert body.trailers == ((b"X-Sum", b"1"), (b"Y", b""))
    assert encode_end(body.trailers) == b"0\r\nX-Sum: 1\r\nY: \r\n\r\n"
    assert encode_end(()) == LAST_CHUNK


@pytest.mark.parametrize(
    "line", [b"GET / HTTP/1.1", b" folded: x", b"X : y", b": y", b"X: a\x00b", b"X: a\rY: b"]
)
def test_a_trailer_that_is_no_field_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        BodyParser(CHUNKED).feed(b"0\r\n" + line + b"\r\n\r\n")


@pytest.mark.parametrize(
    "raw",
    [
        b"3\nabc\r\n",
        b"3\r\nabcd\r\n",
        b"3\r\nabc\n",
        b"x\r\n",
        b"\r\n",
        b"-1\r\n",
        b"0x3\r\nabc\r\n",
        b"3 3\r\nabc\r\n",
        b"f" * 16 + b"\r\n",
        b"3;\x00\r\nabc\r\n",
        b"3;" + b"x" * LINE_BYTES,
        b"3\r\nabc\r\r\n",
    ],
)
def test_chunks_that_can_be_read_in_two_ways_are_refused(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        BodyParser(CHUNKED).feed(raw)


def test_trailers_have_a_greatest_size() -> None:
    body = BodyParser(CHUNKED)
    body.feed(b"0\r\n")
    with pytest.raises(ProtocolError):
        body.feed(b"X: y\r\n" * HEAD_BYTES)
    endless = BodyParser(CHUNKED)
    endless.feed(b"0\r\n")
    with pytest.raises(ProtocolError):
        endless.feed(b"x" * (HEAD_BYTES + 1))


def test_only_a_body_until_the_end_may_end_with_its_connection() -> None:
    assert BodyParser(Framing(FramingKind.CLOSE)).end()
    assert not BodyParser(Framing(FramingKind.LENGTH, 1)).end()
    assert not BodyParser(CHUNKED).end()


@given(st.binary(max_size=200), cuts)
def test_any_bytes_are_a_body_or_refused(raw: bytes, cuts: list[int]) -> None:
    body = BodyParser(CHUNKED)
    try:
        content = fed(body, raw, cuts)
    except ProtocolError:
        return
    assert len(content) <= len(raw)
