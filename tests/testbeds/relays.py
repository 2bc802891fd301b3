"""Relays, tunnels and Services on loopback, in this process and in real time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import msgspec
from aiohttp import ClientSession, TCPConnector

import patience
from quintant.agents.relay.options import RelayOptions as RelayOptions
from quintant.agents.relay.relay import Relay, running
from quintant.agents.tunnel.options import RelayEndpoint as Target
from quintant.agents.tunnel.options import ServiceTarget, TunnelOptions
from quintant.agents.tunnel.tunnel import serve
from quintant.wire.tunnelreport import Report
from testbeds.ports import free_port

DOMAIN = "relay.localhost"
PATIENCE_SECONDS = 20.0

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Tunnel:
    """A tunnel that runs in this process."""

    port: int
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    async def report(self) -> Report:
        """What it tells of itself."""
        url = f"http://127.0.0.1:{self.port}/status"
        async with ClientSession() as client, client.get(url) as answer:
            return msgspec.json.decode(await answer.read(), type=Report)

    async def ready(self) -> bool:
        """What its readiness probe sees."""
        url = f"http://127.0.0.1:{self.port}/readyz"
        async with ClientSession() as client, client.get(url) as answer:
            return answer.status == 200

    async def until(self, wanted: Callable[[Report], bool]) -> Report:
        """Its report, once it is as wanted; it sends one line per change."""
        async with patience.within(PATIENCE_SECONDS), ClientSession() as client:
            await self._listening()
            async with client.get(f"http://127.0.0.1:{self.port}/status?watch=1") as answer:
                async for line in answer.content:
                    report = msgspec.json.decode(line, type=Report)
                    if wanted(report):
                        return report
        raise AssertionError("the report ended")

    async def _listening(self) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except ConnectionError:
                await asyncio.sleep(0.01)
            else:
                writer.close()
                return

    async def connected(self) -> Report:
        """Its report, once every relay is connected."""
        return await self.until(lambda told: all(r.state == "Connected" for r in told.relays))

    async def stop(self) -> None:
        """What SIGTERM does."""
        self.stopped.set()
        if self.task is not None:
            await self.task


class RelayTestbed:
    """Where relays, tunnels and Services meet."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._tunnels: list[Tunnel] = []
        self._held: list[tuple[asyncio.Event, asyncio.Task[None]]] = []
        self.authority = str(folder / "ca.crt")

    async def relay(self, **options: object) -> Relay:
        """A relay of this testbed; all share an authority."""
        plain = RelayOptions(tls_port=0, http_port=0, admin_port=0, folder=self._folder)
        plan = replace(plain, **options)  # type: ignore[arg-type]
        found: asyncio.Future[Relay] = asyncio.get_running_loop().create_future()
        over = asyncio.Event()

        async def hold() -> None:
            async with running(plan, Random(7)) as relay:
                found.set_result(relay)
                await over.wait()

        task = asyncio.get_running_loop().create_task(hold())
        self._held.append((over, task))
        task.add_done_callback(lambda _: None if found.done() else found.cancel())
        return await found

    async def down(self, relay: int = 0) -> None:
        """End a relay, without draining."""
        over, task = self._held[relay]
        over.set()
        await task

    async def service(self, talk: Talk, context: ssl.SSLContext | None = None) -> int:
        """A Service; its port."""

        async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await talk(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(talked, "127.0.0.1", 0, ssl=context)
        self._stack.callback(server.close)
        port: int = server.sockets[0].getsockname()[1]
        return port

    def tunnel(self, app: str, port: int, *relays: Target, **options: object) -> Tunnel:
        """A tunnel that begins to connect."""
        tunnel = Tunnel(free_port())
        plain = TunnelOptions(
            app,
            ServiceTarget("127.0.0.1", port),
            relays,
            group=app,
            pod=f"pod-{len(self._tunnels)}",
            admin=("127.0.0.1", tunnel.port),
        )
        plan = replace(plain, **options)  # type: ignore[arg-type]
        tunnel.task = asyncio.get_running_loop().create_task(serve(plan, tunnel.stopped))
        self._tunnels.append(tunnel)
        return tunnel

    def target(self, relay: Relay, name: str = "one", token: str = "") -> Target:
        """A relay, as a tunnel is told of it."""
        return self.target_at(relay.tls_port, name, token)

    def target_at(self, port: int, name: str = "one", token: str = "") -> Target:
        """A relay that may not be there yet."""
        return Target(name, f"wss://{DOMAIN}:{port}/relay", token, self.authority)

    async def exposed(self, app: str, talk: Talk) -> tuple[Relay, Tunnel]:
        """A Service behind one tunnel at one relay."""
        relay = await self.relay()
        tunnel = self.tunnel(app, await self.service(talk), self.target(relay))
        await tunnel.connected()
        return relay, tunnel

    async def end(self) -> None:
        """Stop every tunnel, then every relay; what went wrong in them comes out here."""
        await asyncio.gather(*(tunnel.stop() for tunnel in self._tunnels))
        for over, task in self._held:
            over.set()
            await task


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[RelayTestbed]:
    """A testbed for a test."""
    async with AsyncExitStack() as stack:
        testbed = RelayTestbed(folder, stack)
        try:
            yield testbed
        finally:
            await testbed.end()


@asynccontextmanager
async def visiting(
    relay: Relay, address: str = "127.0.0.1"
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A visitor's bare connection, from an address of loopback."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", relay.http_port, local_addr=(address, 0)
    )
    try:
        async with patience.within(PATIENCE_SECONDS):
            yield reader, writer
    finally:
        writer.close()


@asynccontextmanager
async def browsing(relay: Relay) -> AsyncIterator[ClientSession]:
    """A visitor with an ordinary HTTP client."""
    base = f"http://127.0.0.1:{relay.http_port}"
    async with ClientSession(base, connector=TCPConnector(limit=0)) as client:
        yield client


def host(app: str) -> dict[str, str]:
    """The header that leads to an app."""
    return {"Host": f"{app}.{DOMAIN}"}


async def asked(relay: Relay, raw: bytes) -> bytes:
    """What comes back for some bytes until the relay ends the connection."""
    async with visiting(relay) as (reader, writer):
        writer.write(raw)
        return await reader.read()


def request(app: str, path: str = "/", method: str = "GET", extra: str = "") -> bytes:
    """A request that ends its connection."""
    head = f"{method} {path} HTTP/1.1\r\nHost: {app}.{DOMAIN}\r\nConnection: close\r\n"
    return f"{head}{extra}\r\n".encode()


async def head_of(reader: asyncio.StreamReader) -> str:
    """The head of the next message."""
    return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")


def saying(text: str) -> Talk:
    """A Service that answers every request with a text."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = text.encode()
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    return talk


def answering(raw: bytes) -> Talk:
    """A Service that answers one request with exactly these bytes, and closes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        await writer.drain()

    return talk
