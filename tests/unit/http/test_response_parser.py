"""Promises of quintant.http.response_parser."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.http.head import ProtocolError
from quintant.http.response_parser import RESPONSE_FIELDS, RESPONSE_HEAD_BYTES, ResponseParser

OK = b"HTTP/1.1 200 OK\r\n"
SIZED = OK + b"Content-Length: 11\r\n\r\nhello world"
CHUNKED = (
    OK + b"Transfer-Encoding: Chunked\r\n\r\n"
    b"5\r\nhello\r\n6;why=not\r\n world\r\n0\r\nTrailer: x\r\n\r\n"
)
HINTED = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + SIZED
UNTIL_CLOSED = OK + b"\r\nhello world"


def read(raw: bytes, method: str = "GET") -> ResponseParser:
    response = ResponseParser(method)
    response.feed(raw)
    return response


@given(st.sampled_from([SIZED, CHUNKED, HINTED]), st.lists(st.integers(0, 120)))
def test_response_is_the_same_however_it_is_cut(raw: bytes, cuts: list[int]) -> None:
    marks = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    response, pieces = ResponseParser("GET"), []
    for start, end in pairwise(marks):
        assert not response.complete
        pieces.append(response.feed(raw[start:end]))
    assert b"".join(pieces) == b"hello world"
    assert response.complete
    assert response.keep_alive
    assert response.head is not None
    assert response.head.status == 200


def test_chunk_that_is_still_coming_is_handed_on() -> None:
    response = ResponseParser("GET")
    assert response.feed(OK + b"transfer-encoding: chunked\r\n\r\nff\r\nabc") == b"abc"
    assert response.feed(b"def") == b"def"


def test_response_without_length_ends_with_the_connection() -> None:
    response = ResponseParser("GET")
    assert response.feed(UNTIL_CLOSED) == b"hello world"
    assert not response.complete
    assert response.end()


@pytest.mark.parametrize("raw", [b"", OK, SIZED[:-1], CHUNKED[:-1]])
def test_response_cut_short_does_not_end_with_the_connection(raw: bytes) -> None:
    response = read(raw)
    assert not response.end()
    assert response.begun == bool(raw)


@pytest.mark.parametrize(
    ("method", "raw"),
    [
        ("HEAD", OK + b"Content-Length: 5\r\n\r\n"),
        ("GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        ("GET", OK + b"Content-Length: 0\r\n\r\n"),
        ("CONNECT", b"HTTP/1.0 200 Connection established\r\n\r\n"),
    ],
)
def test_response_without_body_is_whole_with_its_head(method: str, raw: bytes) -> None:
    assert read(raw, method).complete


def test_headers_are_lower_case_and_repeated_ones_joined() -> None:
    head = read(b"HTTP/1.1 404\r\nWarning: a\r\nX-Y:\t b \r\nwarning: c\r\n\r\n").head
    assert head is not None
    assert (head.status, head.reason) == (404, b"")
    assert head.headers == {"warning": "a, c", "x-y": "b"}


@pytest.mark.parametrize(
    ("raw", "keep_alive"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", True),
        (SIZED + b"HTTP/1.1 200 OK\r\n\r\n", False),
    ],
)
def test_connection_is_kept_when_the_peer_keeps_it_and_said_no_more(
    raw: bytes, keep_alive: bool
) -> None:
    response = read(raw)
    assert response.complete
    assert response.keep_alive == keep_alive


def test_tunnel_outlives_the_response_that_grants_it() -> None:
    assert read(b"HTTP/1.0 200 Connection established\r\n\r\n", "CONNECT").keep_alive
    assert not read(b"HTTP/1.0 407 No\r\nContent-Length: 0\r\n\r\n", "CONNECT").keep_alive


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 twohundred\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b"a: b\r\n folded: line\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        OK + b"a: b\nc: d\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        OK + b"X: " + b"x" * RESPONSE_HEAD_BYTES,
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * RESPONSE_HEAD_BYTES + b"x",
    ],
)
def test_what_is_not_understood_is_refused(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(raw)


@given(st.binary())
def test_anything_at_all_is_a_response_or_refused(raw: bytes) -> None:
    response = ResponseParser("GET")
    for part in (OK + raw, raw):
        try:
            response.feed(part)
        except ProtocolError:
            return


def test_many_warnings_are_understood_but_not_any_number() -> None:
    warned = OK + b"Content-Length: 0\r\n" + b"Warning: 299 - x\r\n" * (RESPONSE_FIELDS - 1)
    assert read(warned + b"\r\n").complete
    with pytest.raises(ProtocolError):
        read(warned + b"Warning: 299 - x\r\n\r\n")
