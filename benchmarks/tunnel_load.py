"""Both ends of the tunnels that `portal` measures: a Service that costs little, and its visitors.

python -m benchmarks.tunnel_load service PORT [HOST]
python -m benchmarks.tunnel_load load HOST PORT REQUESTS CONNECTIONS BYTES    prints Figures as JSON
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Sequence

import msgspec
import uvloop

SMALL = b"x" * 1024
PIECE = b"y" * 65_536
READ_BYTES = 1 << 18
HOST_HEADER = "bench.relay.localhost"
_SMALL = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(SMALL), SMALL)


class Figures(msgspec.Struct):
    """What visitors saw."""

    rate: float
    """Requests per second over many connections."""
    busy_p50: float
    busy_p99: float
    p50: float
    """Milliseconds of a request over one connection, while nothing else happens."""
    p99: float
    megabytes: float
    """Of one download, per second."""


class _Service(asyncio.Protocol):
    """Answers small requests with 1 KiB, and /bytes/N with so many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._head, self._left = transport, b"", 0

    def data_received(self, data: bytes) -> None:
        self._head += data
        while b"\r\n\r\n" in self._head:
            head, _, self._head = self._head.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1]
            if path.startswith(b"/bytes/"):
                self._left = int(path[7:])
                self._write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self._left)
                self._full = False
                self.resume_writing()
            else:
                self._write(_SMALL)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        while self._left and not self._full:
            piece = PIECE[: self._left]
            self._left -= len(piece)
            self._write(piece)

    def _write(self, raw: bytes) -> None:
        self._transport.write(raw)  # type: ignore[attr-defined]


async def _serve(port: int, host: str = "127.0.0.1") -> None:
    server = await asyncio.get_running_loop().create_server(_Service, host, port)
    await server.serve_forever()


async def _load(host: str, port: int, requests: int, connections: int, size: int) -> Figures:
    await repeat(host, port, requests // 20)
    alone = await repeat(host, port, requests // 4)
    began = time.perf_counter()
    each = requests // connections
    many = await asyncio.gather(*(repeat(host, port, each) for _ in range(connections)))
    rate = each * connections / (time.perf_counter() - began)
    busy = [one for some in many for one in some]
    return Figures(rate, *_quantiles(busy), *_quantiles(alone), await _download(host, port, size))


def _quantiles(seconds: Sequence[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(seconds, n=100)
    return cuts[49] * 1000, cuts[98] * 1000


async def repeat(host: str, port: int, times: int, path: str = "/") -> list[float]:
    """Ask for the same small thing over one connection; the seconds that each answer took."""
    reader, writer = await asyncio.open_connection(host, port)
    asked = f"GET {path} HTTP/1.1\r\nHost: {HOST_HEADER}\r\n\r\n".encode()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        writer.write(asked)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        await reader.readexactly(len(SMALL))
        found.append(time.perf_counter() - began)
    writer.close()
    return found


async def _download(host: str, port: int, size: int) -> float:
    reader, writer = await asyncio.open_connection(host, port, limit=READ_BYTES)
    writer.write(f"GET /bytes/{size} HTTP/1.1\r\nHost: {HOST_HEADER}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    began, left = time.perf_counter(), size
    while left and (raw := await reader.read(READ_BYTES)):
        left -= len(raw)
    writer.close()
    assert not left
    return size / (time.perf_counter() - began) / 1e6


def main(arguments: Sequence[str]) -> None:
    """Be one of them."""
    match arguments:
        case ["service", port, *host]:
            uvloop.run(_serve(int(port), *host))
        case ["load", host, port, *numbers]:
            requests, connections, size = map(int, numbers)
            found = uvloop.run(_load(host, int(port), requests, connections, size))
            sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main(sys.argv[1:])
