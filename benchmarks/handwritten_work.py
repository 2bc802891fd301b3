"""Messages of the wire, and what our own modules do with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from quintant.agents.dns import message as dns
from quintant.agents.multiplex.websocket import FrameReader, Opcode, encode_frames
from quintant.core.cron import parse
from quintant.http.framing import request_framing
from quintant.http.head import parse_request_head
from quintant.http.response_parser import ResponseParser

REQUEST = (
    b"GET /api/v1/namespaces/default/configmaps/a?timeout=30s HTTP/1.1\r\n"
    b"Host: 127.0.0.1:6443\r\n"
    b"User-Agent: kubectl/v1.36.3 (linux/amd64) kubernetes/abcdef0\r\n"
    b"Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n"
    b"Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"
    b"Kubectl-Command: kubectl get\r\n"
    b"Kubectl-Session: 9d0b1f0e-8f0e-4ac2-9b5b-0a4c0a3b4d11\r\n"
    b"Accept-Encoding: gzip\r\n\r\n"
)
BODY = b"x" * 2048
_FIELDS = (
    b"HTTP/1.1 200 OK\r\n"
    b"Audit-Id: 2b8f0a52-3f06-4a08-8a39-5ea0d4f2c6b1\r\n"
    b"Cache-Control: no-cache, private\r\n"
    b"Content-Type: application/json\r\n"
    b"X-Kubernetes-Pf-Flowschema-Uid: 41c6a2c1-4ea0-4b37-a3a3-0d0f3a6d6f2e\r\n"
    b"X-Kubernetes-Pf-Prioritylevel-Uid: 8d1d4f0f-9a1f-4f3b-8f57-0f5cf1e0b7a2\r\n"
    b"Date: Mon, 06 Jul 2026 12:00:00 GMT\r\n"
)
RESPONSE = _FIELDS + b"Content-Length: 2048\r\n\r\n" + BODY
EVENTS = 100
WATCH_HEAD = _FIELDS + b"Transfer-Encoding: chunked\r\n\r\n"
EVENT = b"%x\r\n%b\r\n" % (1024, b"y" * 1024)

NAME = "web.default.svc.cluster.local"
ADDRESS = "127.42.0.7"
QUERY = dns.encode_query(7, dns.DnsQuestion(NAME, dns.A))

_KEY = b"\x01\x02\x03\x04"
SMALL = encode_frames(Opcode.BINARY, [(b"z" * 1024,)] * 64, lambda: _KEY)
LARGE = encode_frames(Opcode.BINARY, [(b"z" * 65536,)], lambda: _KEY)
MOST_BYTES = 1 << 20

SCHEDULE = "30 6-16/4 * * mon-fri"
MOMENT = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)


def _request() -> object:
    return request_framing(parse_request_head(REQUEST))


def _response() -> object:
    parser = ResponseParser("GET")
    body = parser.feed(RESPONSE)
    assert parser.complete
    return body


def _watch() -> object:
    parser = ResponseParser("GET")
    parser.feed(WATCH_HEAD)
    return [parser.feed(EVENT) for _ in range(EVENTS)]


def _dns() -> object:
    query = dns.read_query(QUERY)
    record = dns.ResourceRecord(query.question.name, dns.A, ADDRESS, 30)
    return dns.encode_response(query, dns.DnsResponse(records=(record,)))


def _small() -> object:
    return list(FrameReader(masked=True, most=MOST_BYTES).feed(SMALL))


def _large() -> object:
    return list(FrameReader(masked=True, most=MOST_BYTES).feed(LARGE))


def _schedule() -> object:
    return parse(SCHEDULE).after(MOMENT)


OURS: dict[str, Callable[[], object]] = {
    "the head of a request": _request,
    "a response of 2 KB": _response,
    "100 events of a watch": _watch,
    "a DNS query and its answer": _dns,
    "64 masked messages of 1 KB": _small,
    "a masked message of 64 KB": _large,
    "a schedule and its next time": _schedule,
}
