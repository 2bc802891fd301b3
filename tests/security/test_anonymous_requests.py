"""Who may nothing costs nothing: heads are judged before bodies, and nothing of them is kept."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator

import pytest

import patience
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer

pytestmark = pytest.mark.realtime

PATIENCE_SECONDS = 30.0
"""For an answer on a busy machine; a real server ends a request after 60."""
LARGE = 900_000
MANY = 40
MAPS = "/api/v1/namespaces/default/configmaps"
Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
async def secured() -> AsyncIterator[tuple[ApiServer, str, int]]:
    server = ApiServer(rbac=True)
    server.tokens.add("root", admin("root"))
    async with serve(server) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        yield server, host, int(port)


async def _sent(host: str, port: int, raw: bytes) -> tuple[bytes, bool]:
    """The head of the answer to these bytes, and whether the connection was closed behind it."""
    async with patience.within(PATIENCE_SECONDS):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(raw)
            head = await reader.readuntil(b"\r\n\r\n")
            closed = b"connection: close" in head.lower()
            return head, closed
        finally:
            writer.close()


def _head(line: str, **fields: str) -> bytes:
    return "\r\n".join([f"{line} HTTP/1.1", "Host: localhost", *_lines(fields), "", ""]).encode()


def _lines(fields: dict[str, str]) -> list[str]:
    return [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]


async def test_long_paths_of_strangers_are_not_remembered(
    secured: tuple[ApiServer, str, int],
) -> None:
    server, host, port = secured
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for at in range(MANY):
            padding = "x" * LARGE
            for path in (f"/{at}{padding}", f"{MAPS}/{at}{padding}"):
                head, _ = await _sent(host, port, _head(f"GET {path}"))
                assert head.split()[1] in (b"403", b"404")
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(server.audit) >= 2 * MANY
    assert kept < MANY // 4 * LARGE


async def test_long_headers_of_strangers_are_not_remembered(
    secured: tuple[ApiServer, str, int],
) -> None:
    _, host, port = secured
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for at in range(MANY):
            accept = f"application/x{at}{'x' * LARGE}"
            await _sent(host, port, _head(f"GET {MAPS}", accept=accept))
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < MANY // 4 * LARGE


@pytest.mark.parametrize(
    ("fields", "code"), [({}, b"403"), ({"authorization": "Bearer wrong"}, b"401")]
)
async def test_stranger_is_refused_before_its_body_has_come(
    secured: tuple[ApiServer, str, int], fields: dict[str, str], code: bytes
) -> None:
    _, host, port = secured
    raw = _head(f"POST {MAPS}", content_length="2000000", **fields) + b'{"metadata":'
    head, closed = await _sent(host, port, raw)
    assert (head.split()[1], closed) == (code, True)


async def test_stranger_that_asks_for_leave_to_send_gets_none(
    secured: tuple[ApiServer, str, int],
) -> None:
    _, host, port = secured
    raw = _head(f"POST {MAPS}", content_length="2000000", expect="100-continue")
    head, _ = await _sent(host, port, raw)
    assert head.split()[1] == b"403"


async def test_body_that_does_not_come_to_its_end_ends_with_its_request(
    secured: tuple[ApiServer, str, int],
) -> None:
    server, host, port = secured
    raw = _head(f"POST {MAPS}?timeout=1s", content_length="2000", authorization="Bearer root")
    head, closed = await _sent(host, port, raw + b'{"metadata":')
    assert (head.split()[1], closed) == (b"504", True)
    assert [record.code for record in server.audit.by("root")] == [504]


async def test_watch_does_not_wait_for_a_body(secured: tuple[ApiServer, str, int]) -> None:
    _, host, port = secured
    path = f"{MAPS}?watch=1&timeoutSeconds=1"
    raw = _head(f"GET {path}", content_length="2000", authorization="Bearer root")
    head, _ = await _sent(host, port, raw)
    assert head.split()[1] == b"200"


@pytest.mark.parametrize(
    ("field", "codes"),
    [
        (b"Authorization: Bearer \xff\xfe", (b"401",)),
        (b"Authorization: Bearer a.\xff.b", (b"401",)),
        (b"Authorization: Bearer \xc3\xa9", (b"401",)),
        (b"Impersonate-User: \xff", (b"400",)),
        (b"User-Agent: \xff\xfe", (b"403",)),
        (b"Accept: \xff", (b"403", b"406")),
        (b"X-Anything: \xff", (b"403",)),
    ],
)
async def test_bytes_that_are_not_utf8_in_a_header_are_a_mistake_of_the_client(
    secured: tuple[ApiServer, str, int], field: bytes, codes: tuple[bytes, ...]
) -> None:
    _, host, port = secured
    raw = f"GET {MAPS} HTTP/1.1\r\nHost: localhost\r\n".encode() + field + b"\r\n\r\n"
    head, _ = await _sent(host, port, raw)
    assert head.split()[1] in codes


async def test_bytes_that_are_not_utf8_do_not_become_part_of_an_object(
    secured: tuple[ApiServer, str, int],
) -> None:
    server, host, port = secured
    body = b'{"metadata":{"name":"a"}}'
    raw = (
        f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer root\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n".encode()
        + b"User-Agent: \xff\xfe/1\r\n\r\n"
        + body
    )
    head, _ = await _sent(host, port, raw)
    assert head.split()[1] == b"201"
    assert [record.code for record in server.audit.by("root")] == [201]
