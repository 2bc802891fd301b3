"""Portal's own relay and tunnel as processes, and visitors by HTTP or by its protocol v1."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Protocol

from aiohttp import ClientSession, ClientTimeout, TCPConnector, WSMsgType, web

import patience
from foreign.probe import Probe
from foreign.process import Child
from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.connection import Keepalive, MultiplexConnection
from quintant.agents.multiplex.duplex import DuplexStream
from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.multiplex.websocket import Opcode, encode_frames
from quintant.agents.portalv1.handshake import VisitorHandshake
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.records import RecordBudget
from quintant.agents.portalv1.secure_stream import SecureStream
from quintant.agents.portalv1.session import YamuxSession
from quintant.agents.tunnel.dial import dial_relay
from quintant.agents.tunnel.options import RelayEndpoint

DOMAIN = "localhost"
"""Go's resolver knows no name below it; a relay's own name is enough for a tunnel."""
START_SECONDS = 30.0
POLL_SECONDS = 0.1
PIECE_BYTES = 256 * 1024
HELLO = "hello from the Service"


class OriginalRelay:
    """Portal's relay, which may be killed and started again at its port."""

    def __init__(self, program: Path, port: int, folder: Path) -> None:
        self._program, self.port, self._folder = program, port, folder
        self._child: Child | None = None

    @property
    def url(self) -> str:
        """Where tunnels connect to."""
        return f"ws://127.0.0.1:{self.port}/relay"

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        base = f"http://{DOMAIN}:{self.port}"
        command = (
            str(self._program), "-port", str(self.port), "-portal-url", base,
            "-portal-app-url", f"http://*.{DOMAIN}:{self.port}",
        )  # fmt: skip
        self._child = Child(command, self._folder / f"relay-{self.port}.log")
        probe = Probe(f"http://127.0.0.1:{self.port}", ("/healthz",))
        async with patience.within(START_SECONDS):
            while not await asyncio.to_thread(probe.ready):
                self._child.check()
                await asyncio.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """End it."""
        if self._child is not None:
            self._child.stop()
            self._child = None


def original_tunnel(
    program: Path, app: str, service: int, relays: Sequence[str], authority: str, folder: Path
) -> Child:
    """Portal's tunnel, to a Service of this machine."""
    command = (
        "/usr/bin/env", f"SSL_CERT_FILE={authority}", str(program), "expose", "--name", app,
        "--host", "127.0.0.1", "--port", str(service), "--relay", ",".join(relays),
    )  # fmt: skip
    return Child(command, folder / f"tunnel-{app}.log")


class PortalVisitor(Protocol):
    """Somebody who visits an app, in whatever way."""

    async def get(self) -> str: ...
    async def post(self, body: bytes) -> str: ...
    async def websocket(self, text: str) -> str: ...
    async def trailer(self, value: str) -> str: ...


class HttpVisitor:
    """A visitor with an ordinary HTTP client."""

    def __init__(self, client: ClientSession, port: int, host: str) -> None:
        self._client, self._port, self._headers = client, port, {"Host": host}
        self._base = f"http://127.0.0.1:{port}"

    async def get(self) -> str:
        """What the Service says."""
        async with self._client.get(f"{self._base}/", headers=self._headers) as answer:
            return await answer.text()

    async def post(self, body: bytes) -> str:
        """The hash of what arrived."""
        url = f"{self._base}/hash"
        async with self._client.post(url, data=BytesIO(body), headers=self._headers) as answer:
            return await answer.text()

    async def websocket(self, text: str) -> str:
        """What a WebSocket answers."""
        url = f"{self._base}/echo"
        async with self._client.ws_connect(url, headers=self._headers) as socket:
            await socket.send_str(text)
            return str((await socket.receive()).data)

    async def trailer(self, value: str) -> str:
        """What comes back behind the body for a field behind the body."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(_trailed(self._headers["Host"], value))
        raw = await reader.read()
        writer.close()
        return _trailer(raw)


class V1Visitor:
    """A visitor who speaks Portal's protocol: what it says only the tunnel can read."""

    def __init__(self, session: YamuxSession, lease: str) -> None:
        self._session, self._lease = session, lease
        self._credential = PortalCredential(os.urandom(32))

    async def get(self) -> str:
        """What the Service says."""
        return await self._asked(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    async def post(self, body: bytes) -> str:
        """The hash of what arrived."""
        head = b"POST /hash HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        return await self._asked(head % len(body), body)

    async def websocket(self, text: str) -> str:
        """What a WebSocket answers."""
        key = base64.b64encode(os.urandom(16))
        duplex = self._stream()
        await duplex.write(
            b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n"
        )
        raw = b""
        while b"\r\n\r\n" not in raw:
            raw += await duplex.read()
        await duplex.write(encode_frames(Opcode.TEXT, ((text.encode(),),), lambda: os.urandom(4)))
        raw = raw.partition(b"\r\n\r\n")[2]
        while len(raw) < 2 + len(text):
            raw += await duplex.read()
        duplex.close()
        return raw[2 : 2 + len(text)].decode()

    async def trailer(self, value: str) -> str:
        """What comes back behind the body for a field behind the body."""
        duplex, raw = self._stream(), b""
        await duplex.write(_trailed("x", value))
        while piece := await duplex.read():
            raw += piece
        duplex.finish()
        return _trailer(raw)

    def _stream(self) -> DuplexStream:
        handshake = VisitorHandshake(self._credential, self._lease)
        inner = self._session.open()
        return DuplexStream(SecureStream(inner, handshake, RecordBudget(), lambda _: None))

    async def _asked(self, head: bytes, body: bytes = b"") -> str:
        duplex, raw = self._stream(), b""
        await duplex.write(head)
        for at in range(0, len(body), PIECE_BYTES):
            await duplex.write(body[at : at + PIECE_BYTES])
        while piece := await duplex.read():
            raw += piece
        duplex.finish()
        return raw.partition(b"\r\n\r\n")[2].decode()


class _Client:
    """Who a visitor's session works for."""

    def __init__(self, connection: MultiplexConnection) -> None:
        self._connection = connection

    def opened(self, stream: MultiplexStream) -> None: ...
    def leaving(self) -> None: ...
    def emptied(self) -> None: ...

    def ponged(self, payload: bytes) -> None:
        self._connection.ponged(payload)

    def wake(self) -> None:
        self._connection.wake()


@asynccontextmanager
async def visiting_by_v1(url: str, lease: str) -> AsyncIterator[V1Visitor]:
    """A visitor at a relay of Portal's own."""
    dialed = await dial_relay(RelayEndpoint("relay", url), HostResolver({}), Random())
    assert not dialed.own, "it should not know our protocol"
    dialed.socket.as_byte_stream()
    connection = MultiplexConnection(dialed.socket, Keepalive(1.0, 20.0))
    session = YamuxSession(_Client(connection), client=True)
    session.agree()
    running = asyncio.get_running_loop().create_task(connection.run(session))
    try:
        yield V1Visitor(session, lease)
    finally:
        dialed.socket.abort()
        await running


@asynccontextmanager
async def visiting_by_http(port: int, app: str) -> AsyncIterator[HttpVisitor]:
    """A visitor of an app below localhost, without TLS."""
    timeout = ClientTimeout(total=patience.seconds(120))
    async with ClientSession(connector=TCPConnector(limit=0), timeout=timeout) as client:
        yield HttpVisitor(client, port, f"{app}.{DOMAIN}:{port}")


def _trailed(host: str, value: str) -> bytes:
    """A request with a field behind its body."""
    return (
        f"POST /trailer HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nTE: trailers\r\n"
        "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        f"4\r\nbody\r\n0\r\nX-Sum: {value}\r\n\r\n"
    ).encode()


def _trailer(raw: bytes) -> str:
    """What is behind the last chunk of an answer."""
    return raw.partition(b"\r\n0\r\n")[2].decode().strip()


@asynccontextmanager
async def trailer_service() -> AsyncIterator[int]:
    """A Service that answers with the fields behind the body that it was sent; its port."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw = await reader.readuntil(b"\r\n\r\n")
        if raw.startswith(b"GET "):
            head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            writer.write(head % len(HELLO) + HELLO.encode())
            await writer.drain()
            writer.close()
            return
        while not (b"\r\n0\r\n" in raw and raw.endswith(b"\r\n\r\n")):
            raw += await reader.read(1 << 16)
        told = raw.lower().partition(b"x-sum: ")[2].partition(b"\r\n")[0]
        writer.write(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Seen\r\n"
            b"Connection: close\r\n\r\n2\r\nok\r\n0\r\nX-Seen: %b\r\n\r\n" % told
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def web_service() -> AsyncIterator[int]:
    """A Service that says hello, hashes what it is sent, and echoes on a WebSocket; its port."""
    app = web.Application(client_max_size=1 << 30)
    app.router.add_get("/", _hello)
    app.router.add_post("/hash", _hash)
    app.router.add_get("/echo", _echo)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _hello(request: web.Request) -> web.Response:
    return web.Response(text=HELLO)


async def _hash(request: web.Request) -> web.Response:
    found = hashlib.sha256()
    async for piece in request.content.iter_chunked(1 << 16):
        found.update(piece)
    return web.Response(text=found.hexdigest())


async def _echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(message.data)
    return socket
