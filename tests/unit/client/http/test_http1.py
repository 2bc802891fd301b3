"""Promises of quintant.client.http.http1."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.client.http.http1 import HEAD_BYTES, Answer, NotHttp, header, question

OK = b"HTTP/1.1 200 OK\r\n"
SIZED = OK + b"Content-Length: 11\r\n\r\nhello world"
CHUNKED = (
    OK + b"Transfer-Encoding: Chunked\r\n\r\n"
    b"5\r\nhello\r\n6;why=not\r\n world\r\n0\r\nTrailer: x\r\n\r\n"
)
HINTED = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + SIZED
UNTIL_CLOSED = OK + b"\r\nhello world"


def read(raw: bytes, method: str = "GET") -> Answer:
    answer = Answer(method)
    answer.feed(raw)
    return answer


def test_request_is_written_as_its_parts_say() -> None:
    lines = header("Host", "api") + header("Accept", "text/x")
    assert question("GET", "/a?b=c", lines, None) == (
        b"GET /a?b=c HTTP/1.1\r\nHost: api\r\nAccept: text/x\r\n\r\n"
    )
    assert question("PATCH", "/a", "", b"{}") == (
        b"PATCH /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
    )


def test_request_that_could_have_a_body_says_that_it_has_none() -> None:
    assert b"Content-Length: 0\r\n" in question("POST", "/a", "", None)
    assert b"Content-Length" not in question("DELETE", "/a", "", None)


@pytest.mark.parametrize("target", ["/a b", "/a\r\nHost: evil", "/é", "/a\tb"])
def test_target_cannot_break_the_request_line(target: str) -> None:
    first, *rest = question("GET", target, "", None).split(b"\r\n")
    assert rest == [b"", b""]
    assert first.count(b" ") == 2
    assert first.isascii()


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\x00"])
def test_header_cannot_be_two(value: str) -> None:
    with pytest.raises(ValueError, match="the header X") as caught:
        header("X", value)
    assert value not in str(caught.value)


@given(st.sampled_from([SIZED, CHUNKED, HINTED]), st.lists(st.integers(0, 120)))
def test_answer_is_the_same_however_it_is_cut(raw: bytes, cuts: list[int]) -> None:
    marks = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    answer, pieces = Answer("GET"), []
    for start, end in pairwise(marks):
        assert not answer.whole
        pieces += answer.feed(raw[start:end])
    assert b"".join(pieces) == b"hello world"
    assert answer.whole
    assert answer.persistent
    assert answer.head is not None
    assert answer.head.status == 200


def test_chunk_that_is_still_coming_is_handed_on() -> None:
    answer = Answer("GET")
    assert answer.feed(OK + b"transfer-encoding: chunked\r\n\r\nff\r\nabc") == [b"abc"]
    assert answer.feed(b"def") == [b"def"]


def test_answer_without_length_ends_with_the_connection() -> None:
    answer = Answer("GET")
    assert answer.feed(UNTIL_CLOSED) == [b"hello world"]
    assert not answer.whole
    assert answer.ended()


@pytest.mark.parametrize("raw", [b"", OK, SIZED[:-1], CHUNKED[:-1]])
def test_answer_cut_short_does_not_end_with_the_connection(raw: bytes) -> None:
    answer = read(raw)
    assert not answer.ended()
    assert answer.begun == bool(raw)


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
def test_answer_without_body_is_whole_with_its_head(method: str, raw: bytes) -> None:
    assert read(raw, method).whole


def test_headers_are_lower_case_and_repeated_ones_joined() -> None:
    head = read(b"HTTP/1.1 404\r\nWarning: a\r\nX-Y:\t b \r\nwarning: c\r\n\r\n").head
    assert head is not None
    assert (head.status, head.reason) == (404, "")
    assert head.headers == {"warning": "a, c", "x-y": "b"}


@pytest.mark.parametrize(
    ("raw", "persistent"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", True),
        (SIZED + b"HTTP/1.1 200 OK\r\n\r\n", False),
    ],
)
def test_connection_is_kept_when_the_peer_keeps_it_and_said_no_more(
    raw: bytes, persistent: bool
) -> None:
    answer = read(raw)
    assert answer.whole
    assert answer.persistent == persistent


def test_tunnel_outlives_the_answer_that_grants_it() -> None:
    assert read(b"HTTP/1.0 200 Connection established\r\n\r\n", "CONNECT").persistent
    assert not read(b"HTTP/1.0 407 No\r\nContent-Length: 0\r\n\r\n", "CONNECT").persistent


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
        OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        OK + b"X: " + b"x" * HEAD_BYTES,
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * HEAD_BYTES + b"x",
    ],
)
def test_what_is_not_understood_is_not_http(raw: bytes) -> None:
    with pytest.raises(NotHttp):
        read(raw)


@given(st.binary())
def test_anything_at_all_is_an_answer_or_not_http(raw: bytes) -> None:
    answer = Answer("GET")
    for part in (OK + raw, raw):
        try:
            answer.feed(part)
        except NotHttp:
            return
