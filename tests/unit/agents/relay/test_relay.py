"""What a visit costs relay and tunnel, counted in function calls: the same on every machine.

Both are real, on loopback, with TLS between them; the visitor and the Service are left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import uvloop

from quintant.agents.relay.relay import Relay
from testbeds.call_counter import counted_calls
from testbeds.relays import DOMAIN, opened

WARM, COUNTED = 20, 200
REQUEST_CALLS = 345
"""For each small request, in relay and tunnel together."""
SIZE = 32 * 1024 * 1024
MEGABYTE_CALLS = 1700
"""For each 2^20 bytes of a download; a frame has at most 64 KiB, a record of TLS 16."""
SMALL = b"x" * 1024
PIECE = b"y" * 65_536
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
APART = (__file__,)


class Service(asyncio.Protocol):
    """Answers with so many bytes as the path says."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._left, self._full = cast(asyncio.Transport, transport), 0, False

    def data_received(self, data: bytes) -> None:
        self._left = int(data.split(b" ", 2)[1][1:])
        if self._left == len(SMALL):
            self._left = 0
            self._transport.write(HEAD % len(SMALL) + SMALL)
            return
        self._transport.write(HEAD % self._left)
        self.resume_writing()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        while self._left and not self._full:
            piece = PIECE[: self._left]
            self._left -= len(piece)
            self._transport.write(piece)


class Visitor(asyncio.Protocol):
    """Asks for the same so many times, one after the other."""

    def __init__(self, times: int, size: int) -> None:
        self._times, self._size, self._left = times, size, 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        head = 0 if self._left else data.index(b"\r\n\r\n") + 4
        self._left = (self._left or self._size) - len(data) + head
        if not self._left:
            self._ask()

    def _ask(self) -> None:
        if not self._times:
            self._transport.close()
            self.done.set_result(None)
            return
        self._times -= 1
        self._transport.write(b"GET /%d HTTP/1.1\r\nHost: app.%b\r\n\r\n" % (self._size, HOST))


HOST = DOMAIN.encode()


async def visit(relay: Relay, times: int, size: int) -> None:
    visitor, loop = Visitor(times, size), asyncio.get_running_loop()
    await loop.create_connection(lambda: visitor, "127.0.0.1", relay.http_port)
    await visitor.done


def exposed(folder: Path, work: Callable[[Relay], Awaitable[int]]) -> int:
    """What is counted at a relay with a tunnel to the Service."""

    async def run() -> int:
        server = await asyncio.get_running_loop().create_server(Service, "127.0.0.1", 0)
        async with server, opened(folder) as testbed:
            relay = await testbed.relay()
            port: int = server.sockets[0].getsockname()[1]
            await testbed.tunnel("app", port, testbed.target(relay)).connected()
            await visit(relay, WARM, len(SMALL))
            return await work(relay)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(run())


def test_a_small_request_makes_at_most_345_calls_in_relay_and_tunnel(tmp_path: Path) -> None:
    async def requests(relay: Relay) -> int:
        with counted_calls(APART) as counter:
            await visit(relay, COUNTED, len(SMALL))
        return counter.calls

    assert exposed(tmp_path, requests) / COUNTED <= REQUEST_CALLS


def test_a_megabyte_of_a_download_makes_at_most_1700_calls(tmp_path: Path) -> None:
    async def download(relay: Relay) -> int:
        with counted_calls(APART) as counter:
            await visit(relay, 1, SIZE)
        return counter.calls

    assert exposed(tmp_path, download) / (SIZE >> 20) <= MEGABYTE_CALLS
