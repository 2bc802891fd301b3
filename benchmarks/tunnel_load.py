"""Both ends of the tunnels that `portal` measures: a Service that costs little, and its visitors.

python -m benchmarks.tunnel_load service PORT [HOST]
python -m benchmarks.tunnel_load load HOST PORT REQUESTS CONNECTIONS BYTES    prints Figures as JSON
"""

from __future__ import annotations

import asyncio
import re
import resource
import statistics
import sys
import time
from collections.abc import Sequence

import msgspec
import uvloop

from quintant.agents.multiplex.websocket import accept_key

SMALL = b"x" * 1024
PIECE = b"y" * 65_536
READ_BYTES = 1 << 18
DOWNLOADS = 3
HOST_HEADER = "bench.relay.localhost"
WAIT_SECONDS = 2.0
"""That /wait takes: longer than a thousand visitors need to come, on two cores."""
SOCKET_ANSWER = b"\x81\x02ok"
"""What a WebSocket says to any message."""
_UPGRADED = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: %b\r\n\r\n"
)
_KEY = re.compile(rb"(?i)sec-websocket-key: *([^\r]+)")
BACKLOG = 4096
"""Connections that wait to be taken: a thousand visitors come at once."""
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
    """Of a download, per second: the fastest of some."""


class _Service(asyncio.Protocol):
    """Answers small requests with 1 KiB, /bytes/N with so many, /wait after a while, and /socket
    as a WebSocket; /most says how many waited at once, and /upload waits for ever."""

    waiting = most = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._head, self._left = transport, b"", 0
        self._upgraded = False

    def data_received(self, data: bytes) -> None:
        if self._upgraded:
            self._write(SOCKET_ANSWER)
            return
        self._head += data
        while b"\r\n\r\n" in self._head:
            head, _, self._head = self._head.partition(b"\r\n\r\n")
            self._answer(head.split(b" ", 2)[1], head)

    def _answer(self, path: bytes, head: bytes) -> None:
        if path.startswith(b"/bytes/"):
            self._left = int(path[7:])
            self._write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self._left)
            self.resume_writing()
        elif path == b"/wait":
            _Service.waiting += 1
            _Service.most = max(_Service.most, _Service.waiting)
            asyncio.get_running_loop().call_later(WAIT_SECONDS, self._waited)
        elif path == b"/most":
            text = b"%d" % _Service.most
            _Service.most = _Service.waiting
            self._write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text))
        elif path == b"/socket":
            self._upgraded = True
            self._write(_UPGRADED % accept_key(_KEY.findall(head)[0]))
        elif path != b"/upload":
            self._write(_SMALL)

    def _waited(self) -> None:
        _Service.waiting -= 1
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
    allow_files()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Service, host, port, backlog=BACKLOG)
    await server.serve_forever()


async def _load(host: str, port: int, requests: int, connections: int, size: int) -> Figures:
    await repeat(host, port, requests // 20)
    alone = await repeat(host, port, requests // 4)
    began = time.perf_counter()
    each = requests // connections
    many = await asyncio.gather(*(repeat(host, port, each) for _ in range(connections)))
    rate = each * connections / (time.perf_counter() - began)
    busy = [one for some in many for one in some]
    speed = max([await _download(host, port, size) for _ in range(DOWNLOADS)])
    return Figures(rate, *quantiles(busy), *quantiles(alone), speed)


def quantiles(seconds: Sequence[float]) -> tuple[float, float]:
    """Median and the ninety-ninth of a hundred, in milliseconds."""
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


def allow_files() -> None:
    """Let the process have as many sockets as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


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
