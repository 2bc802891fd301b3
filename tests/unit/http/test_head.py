from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.http.head import (
    FIELDS,
    HEAD_BYTES,
    ProtocolError,
    RequestHead,
    encode_head,
    head_length,
    parse_request_head,
    parse_response_head,
)

PLAIN = b"GET /a?b HTTP/1.1\r\nHost: x\r\nAccept:  text/html \r\n\r\n"


def test_a_head_is_read_as_it_is_written() -> None:
    head = parse_request_head(PLAIN)
    assert head == RequestHead(1, ((b"Host", b"x"), (b"Accept", b"text/html")), b"GET", b"/a?b")
    assert encode_head(b"GET /a?b HTTP/1.1", head.fields) == PLAIN.replace(b":  ", b": ").replace(
        b"l \r", b"l\r"
    )


def test_other_versions_are_not_spoken() -> None:
    assert parse_request_head(b"GET / HTTP/1.2\r\n\r\n").minor == 2
    with pytest.raises(ProtocolError) as caught:
        parse_request_head(b"GET / HTTP/2.0\r\n\r\n")
    assert caught.value.status == 505


def test_a_status_without_words_is_one() -> None:
    assert parse_response_head(b"HTTP/1.1 204\r\n\r\n").status == 204
    assert parse_response_head(b"HTTP/1.0 200 All right\r\n\r\n").reason == b"All right"


@given(st.integers(0, len(PLAIN) - 1))
def test_a_head_that_is_cut_anywhere_is_waited_for(at: int) -> None:
    assert head_length(PLAIN[:at]) == 0
    assert head_length(PLAIN + b"body") == len(PLAIN)


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\nHost: x\n\n",
        b"GET / HTTP/1.1\r\nHost: x\nEvil: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\rEvil: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\x00y\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.10\r\n\r\n",
        b"GET / HTTP/1.1 \r\n\r\n",
        b"G@T / HTTP/1.1\r\n\r\n",
        b"GET /\x7f HTTP/1.1\r\n\r\n",
        b"GET /\r\n\r\n",
        b"\r\n\r\n",
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(raw: bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_request_head(raw[: head_length(raw)])
    assert caught.value.status == 400


def test_a_bare_line_feed_is_refused_before_the_head_is_whole() -> None:
    with pytest.raises(ProtocolError):
        head_length(b"GET / HTTP/1.1\nHost")
    assert head_length(b"GET / HTTP/1.1\r") == 0


def test_heads_have_a_greatest_size() -> None:
    with pytest.raises(ProtocolError) as caught:
        head_length(b"GET / HTTP/1.1\r\nX: " + b"x" * HEAD_BYTES)
    assert caught.value.status == 431
    fields = b"".join(b"X-%d: y\r\n" % at for at in range(FIELDS + 1))
    with pytest.raises(ProtocolError) as caught:
        parse_request_head(b"GET / HTTP/1.1\r\n" + fields + b"\r\n")
    assert caught.value.status == 431


@pytest.mark.parametrize("filling", [b" ", b"x", b":", b"x: y\r\n "])
def test_a_head_that_is_none_is_refused_in_one_pass(filling: bytes) -> None:
    raw = b"GET / HTTP/1.1\r\nX:" + filling * (HEAD_BYTES // len(filling)) + b"\0\r\n\r\n"
    for _ in range(20):  # what tried again from every byte would take minutes
        with pytest.raises(ProtocolError):
            parse_request_head(raw)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_head_or_refused(raw: bytes) -> None:
    try:
        at = head_length(raw)
        head = parse_request_head(raw[:at]) if at else None
    except ProtocolError:
        return
    assert head is None or b"\n" not in b"".join(value for _, value in head.fields)
