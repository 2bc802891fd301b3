"""Real servers on loopback, for tests of HttpTransport: an API server of a few lines, and worse."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from quintant.client.config.config import Config
from quintant.client.config.tls import Pem, TlsConfig
from quintant.client.config.user import AuthInfo
from quintant.client.http.transport import HttpTransport
from quintant.keys.sensitive import Sensitive
from unit.client.pki import Authority

AUTHORITY = Authority()
TRUSTED = TlsConfig(Pem("certificate-authority-data", Sensitive(AUTHORITY.pem)))

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Api:
    """A server that answers with a function and remembers what it saw."""

    answer: Answer
    port: int = 0
    scheme: str = "https"
    seen: list[web.Request] = field(default_factory=list)
    peers: set[Any] = field(default_factory=set)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    def config(
        self, trust: TlsConfig = TRUSTED, user: AuthInfo | None = None, **more: Any
    ) -> Config:
        server = f"{self.scheme}://127.0.0.1:{self.port}"
        return Config(server, trust=trust, user=user or AuthInfo(), **more)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        self.seen.append(request)
        self.asked.set()
        self.peers.add(request.transport.get_extra_info("peername"))
        return await self.answer(request)


@asynccontextmanager
async def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[Api]:
    """An API server under TLS; without `tls` it speaks plain HTTP."""
    api = Api(answer, scheme="https" if tls else "http")
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", api.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        api.port = runner.addresses[0][1]
        yield api
    finally:
        await runner.cleanup()


@asynccontextmanager
async def talking(talk: Talk, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that does with each connection what a function says; yields its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks)


@asynccontextmanager
async def transport(config: Config, **given: Any) -> AsyncIterator[HttpTransport]:
    made = HttpTransport(config, **given)
    try:
        yield made
    finally:
        await made.close()


async def head(reader: asyncio.StreamReader) -> bytes:
    """One request head."""
    return await reader.readuntil(b"\r\n\r\n")
