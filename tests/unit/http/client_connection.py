"""A connection without a socket: what a client sends and gets, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from quintant.http.connection import Connection
from quintant.http.request import RequestLimits
from quintant.http.server import Handler, Server


class ClientConnection(asyncio.Transport):
    """The server's end of a connection; the test is the client."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: Connection | None = None
        self.got = b""
        self.closed = self.aborted = self.paused = False

    def send(self, raw: bytes) -> None:
        assert self.protocol is not None
        if not self.closed:
            self.protocol.data_received(raw)

    def hang_up(self) -> None:
        assert self.protocol is not None
        if not self.protocol.eof_received():
            self.close()

    async def settle(self) -> bytes:
        """What came until nothing is left to do at this moment."""
        for _ in range(50):
            await asyncio.sleep(0)
        return self.got

    def write(self, data: Any) -> None:
        self.got += bytes(data)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            assert self.protocol is not None
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    def abort(self) -> None:
        self.aborted = True
        self.close()

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return _Socket() if name == "socket" else default


class _Socket:
    def setsockopt(self, *_: Any) -> None:
        """Takes what it is told."""


@asynccontextmanager
async def in_memory_server(
    handler: Handler, limits: RequestLimits = RequestLimits()
) -> AsyncIterator[ServerFixture]:
    """A server and its clients."""
    found = ServerFixture(Server(handler, limits))
    yield found
    await found.server.stop(0)


class ServerFixture:
    """Where clients come from."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def dial(self) -> ClientConnection:
        line = ClientConnection()
        line.protocol = Connection(self.server.arrive)
        line.protocol.connection_made(line)
        return line

    async def ask(self, raw: bytes) -> bytes:
        """Everything that a connection is answered at once."""
        line = self.dial()
        line.send(raw)
        return await line.settle()


def bodies(raw: bytes) -> list[tuple[int, bytes]]:
    """The answers in what came, by their lengths."""
    found = []
    while raw:
        head, _, rest = raw.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in lines[1:])
        size = int(fields[b"content-length"])
        found.append((int(lines[0].split()[1]), rest[:size]))
        raw = rest[size:]
    return found
