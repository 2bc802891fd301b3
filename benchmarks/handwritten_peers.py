"""The work of `handwritten_work`, done by libraries. None of them is loaded before it is asked."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.handwritten_work import (
    ADDRESS,
    EVENT,
    EVENTS,
    LARGE,
    MOMENT,
    QUERY,
    REQUEST,
    RESPONSE,
    SCHEDULE,
    SMALL,
    WATCH_HEAD,
)


def h11_request() -> object:
    h11: Any = import_module("h11")
    connection = h11.Connection(our_role=h11.SERVER)
    connection.receive_data(REQUEST)
    return connection.next_event(), connection.next_event()


def h11_response() -> object:
    h11: Any = import_module("h11")
    connection = _h11_asked(h11)
    connection.receive_data(RESPONSE)
    return connection.next_event(), connection.next_event(), connection.next_event()


def h11_watch() -> object:
    h11: Any = import_module("h11")
    connection = _h11_asked(h11)
    connection.receive_data(WATCH_HEAD)
    connection.next_event()
    events = []
    for _ in range(EVENTS):
        connection.receive_data(EVENT)
        events.append(connection.next_event())
    return events


def _h11_asked(h11: Any) -> Any:
    """A client's connection, which has to have sent a request before."""
    connection = h11.Connection(our_role=h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
    connection.send(h11.EndOfMessage())
    return connection


class _Parsed:
    """What httptools calls; it keeps what ours keep."""

    def __init__(self) -> None:
        self.url = b""
        self.fields: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.fields.append((name, value))

    def on_body(self, body: bytes) -> None:
        self.body.append(body)


def httptools_request() -> object:
    parsed = _Parsed()
    import_module("httptools").HttpRequestParser(parsed).feed_data(REQUEST)
    return parsed


def httptools_response() -> object:
    parsed = _Parsed()
    import_module("httptools").HttpResponseParser(parsed).feed_data(RESPONSE)
    return parsed


def httptools_watch() -> object:
    parsed = _Parsed()
    parser = import_module("httptools").HttpResponseParser(parsed)
    parser.feed_data(WATCH_HEAD)
    for _ in range(EVENTS):
        parser.feed_data(EVENT)
    return parsed


def dns_answer() -> object:
    message: Any = import_module("dns.message")
    query = message.from_wire(QUERY)
    answer = message.make_response(query)
    name = query.question[0].name
    answer.answer.append(import_module("dns.rrset").from_text(name, 30, "IN", "A", ADDRESS))
    return answer.to_wire()


def websockets_small() -> object:
    return _websockets(SMALL)


def websockets_large() -> object:
    return _websockets(LARGE)


def _websockets(data: bytes) -> object:
    state: Any = import_module("websockets.protocol").OPEN
    protocol = import_module("websockets.server").ServerProtocol(state=state)
    protocol.receive_data(data)
    return protocol.events_received()


def croniter_next() -> object:
    croniter: Any = import_module("croniter").croniter
    return croniter(SCHEDULE, MOMENT).get_next(type(MOMENT))
