"""Real lightpeers: processes on loopback addresses of their own, each with a directory."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import patience
from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.agents.lightpeer.rpc.channels import Channels
from quintant.wire.lightpeer import (
    HEALTH_CHECK,
    JOIN_NETWORK,
    PERSIST,
    QUERY,
    EmptyQueryRequest,
    HealthCheckRequest,
    JoinRequest,
    Method,
    PersistRequest,
    Serving,
)
from quintant.wire.peeradmin import GET_STATUS, StatusRequest, StatusResponse

START_SECONDS = 20.0
"""A busy machine starts a process in seconds."""


class Lightpeer:
    """A lightpeer that may run or not."""

    def __init__(self, testbed: Loopback, number: int, program: str, *flags: str) -> None:
        self.testbed = testbed
        self.host = f"{testbed.network}.{number}"
        self.address = f"{self.host}:9081"
        self.repo = testbed.folder / f"repo{number}"
        self._line = (program, f"-repo={self.repo}", f"-host={self.host}", *flags)
        self.process: Process | None = None

    async def start(self) -> Lightpeer:
        """Start it, and wait until it serves."""
        await self.spawn()
        await until(self._serves, START_SECONDS)
        return self

    async def spawn(self) -> None:
        """Start it."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "quintant",
            "agent",
            *self._line,
            stderr=asyncio.subprocess.DEVNULL,
        )

    async def kill(self, number: signal.Signals = signal.SIGKILL) -> int:
        """End it by a signal; its exit code."""
        process, self.process = self.process, None
        assert process is not None
        process.send_signal(number)
        if number != signal.SIGCONT:
            return await process.wait()
        return 0

    def send(self, number: signal.Signals) -> None:
        """Stop it, or let it go on."""
        assert self.process is not None
        self.process.send_signal(number)

    async def ask(self, method: Method[Any, Any], message: Any, seconds: float = 10.0) -> Any:
        """What it answers."""
        reply = await self.testbed.channels.ask(
            self.address, method, message, seconds=seconds, metadata={}
        )
        return reply.message

    async def join(self, contact: Lightpeer) -> None:
        await self.ask(JOIN_NETWORK, JoinRequest(contact.address))

    async def persist(self, payload: bytes) -> None:
        await self.ask(PERSIST, PersistRequest(payload))

    async def query(self) -> list[bytes]:
        stream = self.testbed.channels.stream(
            self.address, QUERY, EmptyQueryRequest(), seconds=10, metadata={}
        )
        return [each.payload async for each in stream]

    async def status(self) -> StatusResponse:
        found: StatusResponse = await self.ask(GET_STATUS, StatusRequest())
        return found

    async def members(self) -> set[str]:
        return {each.address for each in (await self.status()).members}

    async def _serves(self) -> bool:
        try:
            answer = await self.ask(HEALTH_CHECK, HealthCheckRequest(), 0.5)
        except Failed:
            return False
        return bool(answer.status == Serving.SERVING)


class Loopback:
    """A few loopback addresses of our own, and the peers there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.network = f"127.86.{os.getpid() % 250}"
        self.channels = Channels()
        self.peers: list[Lightpeer] = []

    def peer(self, number: int, program: str = "lightpeer", *flags: str) -> Lightpeer:
        """A peer at the address with a number; it does not run yet."""
        made = Lightpeer(self, number, program, *flags)
        self.peers.append(made)
        return made

    async def formed(self, count: int) -> list[Lightpeer]:
        """A network of so many peers, each joined by the one before."""
        peers = [self.peer(number) for number in range(1, count + 1)]
        await asyncio.gather(*(each.start() for each in peers))
        for before, peer in pairwise(peers):
            await peer.join(before)
        return peers


@asynccontextmanager
async def loopback(folder: Path) -> AsyncIterator[Loopback]:
    """Addresses whose peers end with the block."""
    testbed = Loopback(folder)
    try:
        yield testbed
    finally:
        for peer in testbed.peers:
            if peer.process is not None:
                await peer.kill()
        await testbed.channels.close()


async def until(true: Callable[[], Any], seconds: float) -> None:
    """Wait until something holds; TimeoutError if it does not in time."""
    async with patience.within(seconds):
        while not await true():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.05)
