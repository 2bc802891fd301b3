from __future__ import annotations

from email.utils import parsedate_to_datetime

import pytest

from quintant.http.response import Response, error_response


def fields(raw: bytes) -> dict[bytes, bytes]:
    head, _, _ = raw.partition(b"\r\n\r\n")
    return dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])


def test_an_answer_says_when_it_was_written() -> None:
    when = fields(Response().encode(close=False))[b"Date"].decode()
    assert parsedate_to_datetime(when).tzinfo is not None


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_have_no_body_and_no_length(status: int) -> None:
    raw = Response(status, {"etag": "x"}, b"never").encode(close=False)
    assert raw.endswith(b"\r\n\r\n")
    assert b"Content-Length" not in fields(raw)


def test_a_status_of_somebodys_own_has_no_words() -> None:
    assert Response(299).encode(close=False).startswith(b"HTTP/1.1 299 \r\n")


def test_a_value_stays_one_field_whatever_it_holds() -> None:
    raw = Response(200, {"warning": "a\r\nEvil: 1\r\n\r\n\0b ü"}).encode(close=False)
    assert fields(raw)[b"warning"] == "a  Evil: 1     b ü".encode()
    assert b"Evil" not in fields(raw)


def test_a_refusal_says_what_is_wrong() -> None:
    assert error_response(400, "why").body == b"400 Bad Request: why"
    assert error_response(417, "").body == b"417 Expectation Failed"
