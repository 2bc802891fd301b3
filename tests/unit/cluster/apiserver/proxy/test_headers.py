"""What of a head is passed on."""

from __future__ import annotations

from quintant.cluster.apiserver.proxy.headers import joined, request_lines, response_fields
from quintant.http.head import ResponseHead

FIELDS = (
    (b"Upgrade", b"websocket"),
    (b"Connection", b"Upgrade, X-Own"),
    (b"X-Own", b"1"),
    (b"Set-Cookie", b"a=1"),
    (b"Set-Cookie", b"b=2"),
    (b"Date", b"now"),
    (b"Access-Control-Allow-Origin", b"*"),
)


def test_fields_of_one_hop_end_here() -> None:
    head = ResponseHead(1, FIELDS, 200, b"OK")
    assert response_fields(head) == [("set-cookie", "a=1"), ("set-cookie", "b=2")]
    upgraded = joined(response_fields(head, upgrade=True))
    assert upgraded == {"upgrade": "websocket", "x-own": "1", "set-cookie": "a=1, b=2"}


def test_the_client_is_added_to_those_that_the_request_was_for() -> None:
    lines = request_lines({"x-forwarded-for": "a", "x": "1\r\nY: 2"}, "b", (("z", "3"),))
    assert lines == "x-forwarded-for: a, b\r\nz: 3\r\n"


def test_an_upgrade_keeps_what_it_is_about() -> None:
    sent = {"connection": "Upgrade", "upgrade": "websocket", "host": "h", "authorization": "x"}
    expected = "connection: Upgrade\r\nupgrade: websocket\r\n"
    assert request_lines(sent, "", (), upgrade=True) == expected
