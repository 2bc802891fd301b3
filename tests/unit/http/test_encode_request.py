"""Promises of quintant.http.encode_request."""

from __future__ import annotations

import pytest

from quintant.http.encode_request import encode_request, header_line


def test_request_is_written_as_its_parts_say() -> None:
    lines = header_line("Host", "api") + header_line("Accept", "text/x")
    assert encode_request("GET", "/a?b=c", lines, None) == (
        b"GET /a?b=c HTTP/1.1\r\nHost: api\r\nAccept: text/x\r\n\r\n"
    )
    assert encode_request("PATCH", "/a", "", b"{}") == (
        b"PATCH /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
    )


def test_request_that_could_have_a_body_says_that_it_has_none() -> None:
    assert b"Content-Length: 0\r\n" in encode_request("POST", "/a", "", None)
    assert b"Content-Length" not in encode_request("DELETE", "/a", "", None)


@pytest.mark.parametrize("target", ["/a b", "/a\r\nHost: evil", "/é", "/a\tb"])
def test_target_cannot_break_the_request_line(target: str) -> None:
    first, *rest = encode_request("GET", target, "", None).split(b"\r\n")
    assert rest == [b"", b""]
    assert first.count(b" ") == 2
    assert first.isascii()


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\x00"])
def test_header_cannot_be_two(value: str) -> None:
    with pytest.raises(ValueError, match="the header X") as caught:
        header_line("X", value)
    assert value not in str(caught.value)
