"""A deviceShifu on a bench: its device modelled or real, its cluster a few lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import patience
from quintant.agents.apiclient.errors import ApiUnreachable
from quintant.agents.deviceshifu.device import DeviceState, device_state
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.facade import Facade
from quintant.agents.deviceshifu.options import AgentOptions
from quintant.agents.deviceshifu.shifu import DeviceShifu
from quintant.agents.dns.host_resolver import HostResolver
from quintant.http.server import serving

NAME = "edgedevice-bench"
PATIENCE_SECONDS = 20.0

Plain = Mapping[str, Any]
Reply = bytes | Callable[[bytes], bytes]


def edge_device(protocol: str, address: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": NAME, "namespace": "devices", "uid": "u", "resourceVersion": "1"},
        "spec": {"protocol": protocol, "address": address, **spec},
    }


@dataclass
class ModelledCluster:
    """The API server, as one deviceShifu sees it."""

    device: dict[str, Any]
    services: dict[str, Plain] = field(default_factory=dict)
    reachable: bool = True
    statuses: list[Plain] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def states(self) -> AsyncGenerator[DeviceState | None, None]:
        while True:
            self.changed.clear()
            yield device_state(self.device)
            await self.changed.wait()

    async def look(self) -> DeviceState | None:
        self._answer()
        return device_state(self.device)

    async def report(self, status: Plain) -> str:
        self._answer()
        self.statuses.append(status)
        return str(len(self.statuses) + 1)

    async def find(self, kind: str, plural: str, name: str) -> Plain | None:
        self._answer()
        return self.services.get(name)

    async def warn(self, uid: str, reason: str, note: str) -> None:
        self._answer()
        self.warnings.append(note)

    def change(self, **spec: Any) -> None:
        """Edit the EdgeDevice."""
        self.device = {**self.device, "spec": {**self.device["spec"], **spec}}
        self.changed.set()

    def _answer(self) -> None:
        if not self.reachable:
            raise ApiUnreachable("nobody answers")

    @property
    def phases(self) -> list[str]:
        return [str(each["edgedevicephase"]) for each in self.statuses]


@dataclass
class Bench:
    """A deviceShifu that serves, and its caller."""

    cluster: ModelledCluster
    shifu: DeviceShifu
    folder: Path
    port: int

    async def ask(
        self, path: str, method: str = "GET", body: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, fields and body of an answer."""
        return await ask("127.0.0.1", self.port, path, method, body, **headers)

    async def text(self, path: str, method: str = "GET", body: bytes = b"") -> tuple[int, str]:
        """Status and text of an answer."""
        status, _, said = await self.ask(path, method, body)
        return status, said.decode()


async def ask(
    host: str, port: int, path: str, method: str = "GET", body: bytes = b"", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """One request on a connection of its own; a body that breaks off is what came of it."""
    reader, writer = await asyncio.open_connection(host, port)
    fields = {"host": "localhost", "connection": "close", "content-length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
    said = await reader.read()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    head, _, rest = said.partition(b"\r\n\r\n")
    first, *others = head.decode("latin-1").split("\r\n")
    found = {name.lower(): value for name, _, value in (each.partition(": ") for each in others)}
    if found.get("transfer-encoding") == "chunked":
        rest = _unchunked(rest)
    return int(first.split()[1]), found, rest


def _unchunked(raw: bytes) -> bytes:
    found = b""
    while raw:
        size, _, raw = raw.partition(b"\r\n")
        length = int(size or b"0", 16)
        found, raw = found + raw[:length], raw[length + 2 :]
    return found


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    async with patience.within(PATIENCE_SECONDS):
        while not true():  # noqa: ASYNC110 - many things, and nobody tells of them
            await asyncio.sleep(0.01)


@asynccontextmanager
async def bench(
    folder: Path, device: dict[str, Any], config: Mapping[str, str], **services: Plain
) -> AsyncIterator[Bench]:
    """A deviceShifu for a device, with the ConfigMap in a folder."""
    for name, text in config.items():
        (folder / name).write_text(text)
    cluster = ModelledCluster(device, services)
    options = AgentOptions(NAME, node="n1", listen="127.0.0.1", port=0, config=folder)
    dialer = DeviceDialer(HostResolver({}))
    shifu = DeviceShifu(options, cluster, dialer, lambda: datetime.now(UTC))
    async with serving(Facade(shifu).handle, "127.0.0.1", 0, goodbye=0.1) as (_, port):
        work = asyncio.ensure_future(shifu.run())
        try:
            made = Bench(cluster, shifu, folder, port)
            await until(lambda: bool(shifu.about["protocol"]))
            yield made
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


@asynccontextmanager
async def raw_device(reply: Reply, *, endless: bytes = b"") -> AsyncIterator[RawDevice]:
    """A device that answers every connection with these bytes, or with what they are made of."""
    device = RawDevice(reply, endless)
    server = await asyncio.start_server(device.serve, "127.0.0.1", 0)
    device.port = server.sockets[0].getsockname()[1]
    try:
        yield device
    finally:
        server.close()
        device.close()


class RawDevice:
    """What it was asked, and what it answers."""

    def __init__(self, reply: Reply, endless: bytes = b"") -> None:
        self.reply, self.endless = reply, endless
        self.port = 0
        self.asked: list[bytes] = []
        self._open: list[asyncio.StreamWriter] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.append(writer)
        with suppress(OSError):
            self.asked.append(await reader.read(65536))
            if self.reply:
                reply = self.reply
                writer.write(reply if isinstance(reply, bytes) else reply(self.asked[-1]))
                await writer.drain()
            while self.endless:
                writer.write(self.endless)
                await writer.drain()
                await asyncio.sleep(0)
            if self.reply:
                writer.close()

    def close(self) -> None:
        for writer in self._open:
            writer.close()
