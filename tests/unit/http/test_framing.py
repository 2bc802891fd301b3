from __future__ import annotations

import pytest

from quintant.http.framing import Framing, FramingKind, request_framing, response_framing
from quintant.http.head import Fields, ProtocolError, RequestHead, ResponseHead

CHUNKED = (b"Transfer-Encoding", b"chunked")


def asked(*fields: tuple[bytes, bytes], minor: int = 1) -> RequestHead:
    return RequestHead(minor, fields, b"POST", b"/")


def told(status: int, *fields: tuple[bytes, bytes]) -> ResponseHead:
    return ResponseHead(1, fields, status, b"")


def test_requests_have_the_body_they_announce() -> None:
    assert request_framing(asked()) == Framing(FramingKind.NONE)
    assert request_framing(asked((b"content-length", b"7"))) == Framing(FramingKind.LENGTH, 7)
    same = ((b"Content-Length", b"7"), (b"content-length", b"7"))
    assert request_framing(asked(*same)) == Framing(FramingKind.LENGTH, 7)
    assert request_framing(asked(CHUNKED)) == Framing(FramingKind.CHUNKED)


@pytest.mark.parametrize(
    ("fields", "minor"),
    [
        ((CHUNKED, (b"Content-Length", b"7")), 1),
        (((b"Content-Length", b"7"), (b"Content-Length", b"8")), 1),
        (((b"Content-Length", b"7, 7"),), 1),
        (((b"Content-Length", b"+7"),), 1),
        (((b"Content-Length", b"-1"),), 1),
        (((b"Content-Length", b"0x7"),), 1),
        (((b"Content-Length", b""),), 1),
        (((b"Content-Length", b"9" * 19),), 1),
        ((CHUNKED,), 0),
    ],
)
def test_lengths_that_can_be_read_in_two_ways_are_refused(fields: Fields, minor: int) -> None:
    with pytest.raises(ProtocolError) as caught:
        request_framing(asked(*fields, minor=minor))
    assert caught.value.status == 400


@pytest.mark.parametrize("said", [b"gzip, chunked", b"chunked, identity", b"xchunked", b"x"])
def test_only_chunks_are_understood(said: bytes) -> None:
    for fields in (((b"Transfer-Encoding", said),), (CHUNKED, (b"Transfer-Encoding", said))):
        with pytest.raises(ProtocolError) as caught:
            request_framing(asked(*fields))
        assert caught.value.status == 501


@pytest.mark.parametrize(("status", "method"), [(200, b"HEAD"), (204, b"GET"), (304, b"GET")])
def test_some_answers_have_no_body_whatever_they_announce(status: int, method: bytes) -> None:
    assert response_framing(told(status, (b"Content-Length", b"7")), method) == Framing(
        FramingKind.NONE
    )


def test_an_answer_without_length_ends_with_its_connection() -> None:
    assert response_framing(told(200), b"GET") == Framing(FramingKind.CLOSE)
    with pytest.raises(ProtocolError) as caught:
        response_framing(told(200, CHUNKED, (b"Content-Length", b"7")), b"GET")
    assert caught.value.status == 502
