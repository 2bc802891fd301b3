from __future__ import annotations

import pytest

from quintant.http.framing import Framing, Sort, of_request, of_response
from quintant.http.head import Fields, Refused, Request, Response

CHUNKED = (b"Transfer-Encoding", b"chunked")


def asked(*fields: tuple[bytes, bytes], minor: int = 1) -> Request:
    return Request(minor, fields, b"POST", b"/")


def told(status: int, *fields: tuple[bytes, bytes]) -> Response:
    return Response(1, fields, status, b"")


def test_requests_have_the_body_they_announce() -> None:
    assert of_request(asked()) == Framing(Sort.NONE)
    assert of_request(asked((b"content-length", b"7"))) == Framing(Sort.LENGTH, 7)
    same = ((b"Content-Length", b"7"), (b"content-length", b"7"))
    assert of_request(asked(*same)) == Framing(Sort.LENGTH, 7)
    assert of_request(asked(CHUNKED)) == Framing(Sort.CHUNKED)


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
    with pytest.raises(Refused) as caught:
        of_request(asked(*fields, minor=minor))
    assert caught.value.status == 400


@pytest.mark.parametrize("said", [b"gzip, chunked", b"chunked, identity", b"xchunked", b"x"])
def test_only_chunks_are_understood(said: bytes) -> None:
    for fields in (((b"Transfer-Encoding", said),), (CHUNKED, (b"Transfer-Encoding", said))):
        with pytest.raises(Refused) as caught:
            of_request(asked(*fields))
        assert caught.value.status == 501


@pytest.mark.parametrize(("status", "method"), [(200, b"HEAD"), (204, b"GET"), (304, b"GET")])
def test_some_answers_have_no_body_whatever_they_announce(status: int, method: bytes) -> None:
    assert of_response(told(status, (b"Content-Length", b"7")), method) == Framing(Sort.NONE)


def test_an_answer_without_length_ends_with_its_connection() -> None:
    assert of_response(told(200), b"GET") == Framing(Sort.CLOSE)
    with pytest.raises(Refused) as caught:
        of_response(told(200, CHUNKED, (b"Content-Length", b"7")), b"GET")
    assert caught.value.status == 502
