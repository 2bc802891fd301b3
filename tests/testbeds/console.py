"""A console beside an in-process cluster, asked in memory: no socket, virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from quintant.cli.look.console import operator_systems
from quintant.client.rest import Rest
from quintant.client.transport import Transport
from quintant.console.console import LIMITS, Console, ConsoleSystem
from quintant.console.server.access import LoopbackAuthenticator, ViewerAuthenticator
from quintant.core.clock import Random
from quintant.testing import InProcessCluster
from unit.http.client_connection import ClientConnection, ServerFixture, in_memory_server

GET = "GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n"
Plain = dict[str, Any]


def systems() -> tuple[ConsoleSystem, ...]:
    """Every operator with its panel."""
    return operator_systems()


class Answer(msgspec.Struct):
    """What a request got."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class ConsoleBed:
    """A running console."""

    def __init__(self, console: Console, server: ServerFixture) -> None:
        self.console, self.server = console, server

    async def get(self, path: str, method: str = "GET", **fields: str) -> Answer:
        """Ask for a path on a connection of its own."""
        line = self.open(path, method, **fields)
        for _ in range(200):
            await line.settle()
            if line.closed or _complete(line.got, method):
                break
            await asyncio.sleep(0.05)
        line.hang_up()
        return read_answer(line.got)

    def open(self, path: str, method: str = "GET", **fields: str) -> ClientConnection:
        """Begin a request, such as a stream, and leave it open."""
        line = self.server.dial()
        named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        line.send(GET.replace("GET", method, 1).format(path=path, fields=named).encode())
        return line

    async def topic(self, name: str) -> Plain:
        """A topic's snapshot."""
        answer = await self.get(f"/api/topics/{name}")
        assert answer.status == 200, answer
        found: Plain = answer.json()
        return found

    async def rows(self, name: str) -> Plain:
        """The rows of a topic."""
        found: Plain = (await self.topic(name))["rows"]
        return found


@asynccontextmanager
async def running_console(
    cluster: InProcessCluster,
    *,
    transport: Transport | None = None,
    authenticator: ViewerAuthenticator | None = None,
    known: Sequence[ConsoleSystem] | None = None,
) -> AsyncIterator[ConsoleBed]:
    """A console that follows a cluster, through its faults."""
    rest = Rest(transport or cluster.faults)
    console = Console(systems() if known is None else known, rest, cluster.clock, Random(1))
    pages = console.pages(authenticator or LoopbackAuthenticator())
    task = asyncio.ensure_future(console.run("a cluster"))
    async with in_memory_server(pages, LIMITS) as server:
        await asyncio.sleep(2)
        try:
            yield ConsoleBed(console, server)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def events_of(got: bytes) -> list[tuple[str, Any]]:
    """The server-sent events in what came over a connection."""
    text = _dechunked(got.partition(b"\r\n\r\n")[2])
    found = []
    for block in text.split(b"\n\n"):
        fields = dict(line.split(b": ", 1) for line in block.splitlines() if b": " in line)
        if b"event" in fields:
            found.append((fields[b"event"].decode(), msgspec.json.decode(fields[b"data"])))
    return found


def read_answer(got: bytes) -> Answer:
    """Status, fields and body of an answer."""
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = _dechunked(body)
    return Answer(int(first.split()[1]), headers, body)


def _complete(got: bytes, method: str) -> bool:
    head, end, body = got.partition(b"\r\n\r\n")
    if not end:
        return False
    if method == "HEAD" or b" 304 " in head.splitlines()[0]:
        return True
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length: "):
            return len(body) >= int(line.partition(b": ")[2])
    return False


def _dechunked(body: bytes) -> bytes:
    found = b""
    while body:
        size, end, rest = body.partition(b"\r\n")
        if not end or not size:
            break
        length = int(size, 16)
        found, body = found + rest[:length], rest[length + 2 :]
    return found
