"""Visitors in numbers that a tunnel has to bear: many at once, many who say nothing, and attackers.

python -m benchmarks.tunnel_crowds visits PORT COUNT               prints VisitFigures as JSON
python -m benchmarks.tunnel_crowds sockets PORT COUNT VISITS       prints both figures, a line each
python -m benchmarks.tunnel_crowds beside PORT HALF_SENT REQUESTS  prints VisitFigures as JSON

Nobody has a connection that another had. They come from several addresses, as visitors do; only the
half-sent requests come from a single one.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import uvloop

from benchmarks.tunnel_load import (
    HOST_HEADER,
    SMALL,
    SOCKET_ANSWER,
    WAIT_SECONDS,
    allow_files,
    quantiles,
)

ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]
ATTACKER = "127.0.0.1"
CONNECTIONS = 32
"""Of those who come beside half-sent requests."""
OPENING = 100
"""WebSockets that are being opened at any time."""
SETTLE_SECONDS = 2.0
"""In which nothing happens, so that the memory of idle WebSockets can be read."""
STANDING_SECONDS = 1.0
"""For half-sent requests to be where they stay: it is not their coming that is measured."""
ASKED = 100
"""One of so many WebSockets is asked, in the end, whether it still works."""
PATIENCE_SECONDS = 60.0
"""For one visit; who gets no answer by then counts as refused."""
_KEY = base64.b64encode(bytes(16)).decode()
_SOCKET = (
    f"GET /socket HTTP/1.1\r\nHost: {HOST_HEADER}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {_KEY}\r\n\r\n"
)
_MESSAGE = b"\x81\x82\x00\x00\x00\x00hi"
"""Of a client: two letters, with a mask."""
_HALVES = ("Content-Length: 65536\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nha")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class VisitFigures(msgspec.Struct):
    """What visitors saw; milliseconds."""

    visits: int
    refused: int
    p50: float = 0.0
    p99: float = 0.0
    most: int = 0
    """How many the Service had at once."""


class SocketFigures(msgspec.Struct):
    """WebSockets that are open, and those that were not let in."""

    open: int
    refused: int


async def visits(port: int, count: int) -> VisitFigures:
    """So many at once, each with a connection of its own, whom the Service lets wait."""
    taken = await asyncio.gather(*(_visit(port, number, "/wait") for number in range(count)))
    found = _crowd([each - WAIT_SECONDS if each is not None else None for each in taken])
    found.most = await _most(port)
    return found


async def sockets(port: int, count: int, active: int, tell: Callable[[bytes], object]) -> None:
    """WebSockets that say nothing, and then visitors beside them."""
    turns = asyncio.Semaphore(OPENING)

    async def opened(number: int) -> Streams | None:
        async with turns:
            return await _socket(port, number)

    found = await asyncio.gather(*(opened(number) for number in range(count)))
    held = [each for each in found if each is not None]
    tell(msgspec.json.encode(SocketFigures(len(held), count - len(held))))
    await asyncio.sleep(SETTLE_SECONDS)
    crowd = await visits(port, active)
    asked = held[::ASKED]
    answers = await asyncio.gather(*(_ask(*each) for each in asked))
    crowd.refused += answers.count(False)  # a WebSocket that is dead is a visitor who was lost
    tell(msgspec.json.encode(crowd))


async def beside(port: int, half_sent: int, requests: int) -> VisitFigures:
    """Visitors beside requests of one address that are only begun."""
    attack = [await _half(port, number) for number in range(half_sent)]
    await asyncio.sleep(STANDING_SECONDS)
    each = requests // CONNECTIONS
    many = await asyncio.gather(*(_regular(port, at, each) for at in range(CONNECTIONS)))
    for writer in attack:
        writer.close()
    return _crowd([one for some in many for one in some])


def _crowd(taken: Sequence[float | None]) -> VisitFigures:
    served = [each for each in taken if each is not None]
    found = VisitFigures(len(taken), len(taken) - len(served))
    if len(served) > 1:
        found.p50, found.p99 = quantiles(served)
    return found


async def _visit(port: int, number: int, path: str) -> float | None:
    """Seconds until the answer was whole; None without one."""
    began = time.perf_counter()

    async def visit() -> None:
        reader, writer = await _connected(port, ADDRESSES[number % len(ADDRESSES)])
        try:
            await _get(reader, writer, path)
        finally:
            writer.close()

    return time.perf_counter() - began if await _done(visit) else None


async def _regular(port: int, number: int, times: int) -> list[float | None]:
    """One visitor with one connection; a new one after a refusal."""
    taken: list[float | None] = []
    streams: Streams | None = None
    for _ in range(times):
        began = time.perf_counter()

        async def visit() -> None:
            nonlocal streams
            streams = streams or await _connected(port, ADDRESSES[number % len(ADDRESSES)])
            await _get(*streams, "/")

        served = await _done(visit)
        taken.append(time.perf_counter() - began if served else None)
        streams = streams if served else None
    if streams is not None:
        streams[1].close()
    return taken


async def _done(work: Callable[[], Awaitable[None]]) -> bool:
    """Whether it was done: neither refused nor cut nor late."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await work()
    except (OSError, EOFError, TimeoutError, _Refused):
        return False
    return True


class _Refused(Exception):
    """Another answer than the Service's."""


async def _get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST_HEADER}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise _Refused
    await reader.readexactly(len(SMALL))


async def _most(port: int) -> int:
    reader, writer = await _connected(port, ADDRESSES[0])
    writer.write(f"GET /most HTTP/1.1\r\nHost: {HOST_HEADER}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    size = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    found = int(await reader.readexactly(size))
    writer.close()
    return found


async def _socket(port: int, number: int) -> Streams | None:
    streams: list[Streams] = []

    async def upgrade() -> None:
        reader, writer = await _connected(port, ADDRESSES[number % len(ADDRESSES)])
        writer.write(_SOCKET.encode())
        if not (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101"):
            raise _Refused
        streams.append((reader, writer))

    return streams[0] if await _done(upgrade) else None


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    async def ask() -> None:
        writer.write(_MESSAGE)
        if await reader.readexactly(len(SOCKET_ANSWER)) != SOCKET_ANSWER:
            raise _Refused

    return await _done(ask)


async def _half(port: int, number: int) -> asyncio.StreamWriter:
    """A request that is begun: with a length or in chunks, and some of it is here."""
    _, writer = await _connected(port, ATTACKER)
    half = _HALVES[number % len(_HALVES)]
    writer.write(f"POST /upload HTTP/1.1\r\nHost: {HOST_HEADER}\r\n{half}".encode())
    return writer


async def _connected(port: int, address: str) -> Streams:
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))


def _tell(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def main(arguments: Sequence[str]) -> None:
    """Be one of them."""
    allow_files()
    sort, *numbers = arguments
    given = [int(each) for each in numbers]
    if sort == "visits":
        _tell(msgspec.json.encode(uvloop.run(visits(*given))))
    elif sort == "sockets":
        port, count, active = given
        uvloop.run(sockets(port, count, active, _tell))
    else:
        _tell(msgspec.json.encode(uvloop.run(beside(*given))))


if __name__ == "__main__":
    main(sys.argv[1:])
