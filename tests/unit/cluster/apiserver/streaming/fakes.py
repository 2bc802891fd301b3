"""A client, a program and a runtime that do what a test tells them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ContainerNotFound,
    ExecError,
    ExecOptions,
    TerminalSize,
)
from quintant.cluster.apiserver.streaming.channels import ExecChannel


class FakeClient:
    """Streams of a client; `reads` says whether it takes what it is sent."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue()
        self.heard: list[tuple[int, bytes]] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.closed = False

    async def messages(self) -> AsyncIterator[tuple[int, bytes]]:
        while (found := await self.incoming.get()) is not None:
            yield found

    async def send(self, channel: int, payload: bytes) -> None:
        await self.reads.wait()
        self.heard.append((channel, payload))

    async def close(self) -> None:
        self.closed = True
        self.incoming.put_nowait(None)

    @property
    def status(self) -> dict[str, Any]:
        """The last that it heard on the error channel."""
        *_, last = (data for channel, data in self.heard if channel == ExecChannel.ERROR)
        found: dict[str, Any] = msgspec.json.decode(last)
        return found


class FakeExec:
    """A program: `output` is what it writes, `None` its end."""

    def __init__(self) -> None:
        self.output: asyncio.Queue[bytes] = asyncio.Queue()
        self.read_count = 0
        self.given: list[bytes] = []
        self.sizes: list[TerminalSize] = []
        self.input_ended = self.killed = False
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def read(self, stream: str) -> bytes:
        if stream != "stdout":
            return b""
        self.read_count += 1
        return await self.output.get()

    async def write(self, data: bytes) -> None:
        self.given.append(data)

    def close_stdin(self) -> None:
        self.input_ended = True

    def resize(self, size: TerminalSize) -> None:
        self.sizes.append(size)

    async def ended(self) -> int:
        return await asyncio.shield(self.code)

    def kill(self) -> None:
        self.killed = True
        self.end(137)

    def end(self, code: int) -> None:
        if not self.code.done():
            self.code.set_result(code)
            self.output.put_nowait(b"")


class FakeRuntime:
    """Who runs every pod there is."""

    def __init__(self) -> None:
        self.process = FakeExec()
        self.missing = self.unstartable = ""

    def has(self, uid: str) -> bool:
        return True

    def check_container(self, uid: str, container: str) -> None:
        if self.missing:
            raise ContainerNotFound(self.missing)

    def check_pod(self, uid: str) -> None:
        self.check_container(uid, "")

    async def attach(self, uid: str, container: str, options: ExecOptions) -> FakeExec:
        return self.process

    async def dial(self, uid: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise ConnectionRefusedError(f"port {port}")

    async def exec(self, uid: str, container: str, options: ExecOptions) -> FakeExec:
        self.check_container(uid, container)
        if self.unstartable:
            raise ExecError(self.unstartable)
        return self.process
