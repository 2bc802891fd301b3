from __future__ import annotations

import pytest

from quintant.agents.relay.visitor.fields import ClientOrigin, pass_trailers, to_service, to_visitor
from quintant.http.framing import Framing, FramingKind
from quintant.http.head import (
    RequestHead,
    ResponseHead,
    parse_request_head,
    parse_response_head,
    upgrade_protocol,
)

NONE = Framing(FramingKind.NONE)
ORIGIN = ClientOrigin("203.0.113.7", "https", 443)


def asked(*fields: tuple[bytes, bytes]) -> RequestHead:
    return RequestHead(1, ((b"Host", b"a.example"), *fields), b"GET", b"/")


def sent(head: RequestHead, origin: ClientOrigin = ORIGIN, framing: Framing = NONE) -> RequestHead:
    return parse_request_head(to_service(head, b"/", framing, origin, "id"))


def test_the_service_learns_who_visits_and_by_which_name() -> None:
    found = sent(asked())
    assert found.all(b"host") == [b"a.example"]
    assert found.all(b"x-forwarded-for") == [b"203.0.113.7"]
    assert found.all(b"x-forwarded-proto") == [b"https"]
    assert found.all(b"x-forwarded-host") == [b"a.example"]
    assert found.all(b"x-forwarded-port") == [b"443"]
    assert found.all(b"x-request-id") == [b"id"]
    assert found.all(b"via") == [b"1.1 portal-relay"]


def test_visitors_cannot_say_where_they_come_from() -> None:
    lies = ((b"X-Forwarded-For", b"10.0.0.1"), (b"Forwarded", b"for=10.0.0.1"))
    found = sent(asked(*lies, (b"X-Real-IP", b"10.0.0.1")))
    assert found.all(b"x-forwarded-for") == [b"203.0.113.7"]
    assert not found.all(b"forwarded")
    assert not found.all(b"x-real-ip")


def test_a_trusted_proxy_is_believed_and_added() -> None:
    proxy = ClientOrigin("10.0.0.9", "http", 80, trusted=True)
    told = ((b"X-Forwarded-For", b"198.51.100.1"), (b"X-Forwarded-Proto", b"https"))
    found = sent(asked(*told), proxy)
    assert found.all(b"x-forwarded-for") == [b"198.51.100.1, 10.0.0.9"]
    assert found.all(b"x-forwarded-proto") == [b"https"]


def test_fields_of_one_hop_end_here() -> None:
    hop = ((b"Connection", b"X-Private, close, host"), (b"X-Private", b"1"), (b"TE", b"gzip"))
    found = sent(asked(*hop, (b"Keep-Alive", b"1"), (b"Proxy", b"evil")))
    assert {name.lower() for name, _ in found.fields}.isdisjoint(
        (b"connection", b"x-private", b"te", b"keep-alive", b"proxy")
    )
    assert found.all(b"host") == [b"a.example"]


def test_a_length_is_written_once() -> None:
    twice = ((b"Content-Length", b"5"), (b"content-length", b"5"))
    assert sent(asked(*twice), framing=Framing(FramingKind.LENGTH, 5)).all(b"content-length") == [
        b"5"
    ]
    empty = sent(asked((b"Content-Length", b"0")), framing=Framing(FramingKind.LENGTH, 0))
    assert empty.all(b"content-length") == [b"0"]


def test_trailers_are_asked_for_and_announced_where_some_can_come() -> None:
    chunked = Framing(FramingKind.CHUNKED)
    told = (
        (b"TE", b"trailers, deflate"),
        (b"Trailer", b"X-Sum, Content-Length, X_Forwarded_For"),
    )
    found = sent(asked(*told), framing=chunked)
    assert found.all(b"te") == [b"trailers"]
    assert found.words(b"connection") == [b"te"]
    assert found.all(b"trailer") == [b"x-sum"]
    assert not sent(asked(*told)).all(b"trailer")
    answer = ResponseHead(1, told[1:], 200, b"OK")
    assert b"Trailer: x-sum" in to_visitor(answer, chunked, False, b"GET")


@pytest.mark.parametrize(
    "name", [b"Content-Length", b"Host", b"Set-Cookie", b"X-Forwarded-For", b"X_Real_IP", b"Via"]
)
def test_no_trailer_decides_about_the_message(name: bytes) -> None:
    assert pass_trailers(((name, b"1"), (b"X-Sum", b"2"))) == [(b"X-Sum", b"2")]


def test_an_upgrade_is_asked_for_and_told() -> None:
    wanted = ((b"Connection", b"keep-alive, Upgrade"), (b"Upgrade", b"websocket"))
    found = sent(asked(*wanted))
    assert upgrade_protocol(found) == b"websocket"
    switched = ResponseHead(1, wanted, 101, b"Switching")
    assert (
        upgrade_protocol(parse_response_head(to_visitor(switched, NONE, False, b"GET")))
        == b"websocket"
    )


def test_nobody_gets_past_the_relay_by_http2() -> None:
    h2c = ((b"Connection", b"Upgrade, HTTP2-Settings"), (b"Upgrade", b"h2c"))
    found = sent(asked(*h2c, (b"HTTP2-Settings", b"x")))
    assert not found.all(b"upgrade")
    assert not found.all(b"http2-settings")


def test_an_answer_to_head_keeps_its_length() -> None:
    head = ResponseHead(1, ((b"Content-Length", b"9"),), 200, b"OK")
    assert parse_response_head(to_visitor(head, NONE, False, b"HEAD")).all(b"content-length") == [
        b"9"
    ]


def test_an_interim_answer_says_nothing_of_lengths() -> None:
    raw = to_visitor(ResponseHead(1, (), 100, b"Continue"), NONE, True, b"POST")
    assert parse_response_head(raw).fields == ((b"Via", b"1.1 portal-relay"),)


@pytest.mark.parametrize(
    "name",
    ["True-Client-IP", "X-Client-IP", "CF-Connecting-IP", "True_Client_IP", "X-Forwarded_For"],
)
def test_no_other_field_says_where_a_visitor_comes_from(name: str) -> None:
    assert b"10.9.8.7" not in repr(sent(asked((name.encode(), b"10.9.8.7"))).fields).encode()
