"""Relays and tunnels as processes of their own, as they run in pods."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

import patience
from testbeds.ports import free_port
from testbeds.relays import DOMAIN, PATIENCE_SECONDS, Tunnel

AGENT = (sys.executable, "-m", "quintant", "agent")
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class RelayProgram:
    """A relay that listens."""

    child: asyncio.subprocess.Process
    tls: int
    http: int


@dataclass(frozen=True)
class TunnelProgram:
    """A tunnel that is connected to all its relays."""

    child: asyncio.subprocess.Process
    report: Tunnel
    """Its own pages."""


@asynccontextmanager
async def program(*line: str, **env: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """An agent as a process."""
    child = await asyncio.create_subprocess_exec(
        *AGENT, *line, env={**os.environ, **env}, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


@asynccontextmanager
async def relay_program(
    folder: Path, *line: str, tls: int = 0, http: int = 0
) -> AsyncIterator[RelayProgram]:
    """A relay as a process, once it listens; all of a folder share an authority."""
    tls, http = tls or free_port(), http or free_port()
    ports = ("--tls-port", str(tls), "--http-port", str(http), "--admin-port", str(free_port()))
    async with program("relay", "--state", str(folder), *ports, *line) as child:
        async with patience.within(PATIENCE_SECONDS):
            await _listening(http)
        yield RelayProgram(child, tls, http)


@asynccontextmanager
async def tunnel_program(
    folder: Path, app: str, service: int, *relays: int
) -> AsyncIterator[TunnelProgram]:
    """A tunnel as a process, once it is connected to the relays at these ports."""
    admin = free_port()
    line = ["tunnel", "expose", "--name", app, "--host", "127.0.0.1", "--port", str(service)]
    for port in relays:
        line += ["--relay", f"wss://{DOMAIN}:{port}/relay"]
    place = ("--admin-addr", f"127.0.0.1:{admin}")
    env = {"PORTAL_CA_FILE": str(folder / "ca.crt"), "PORTAL_GROUP": app}
    async with program(*line, *place, **env) as child:
        report = Tunnel(admin)
        await report.connected()
        yield TunnelProgram(child, report)


def megabytes(child: asyncio.subprocess.Process) -> float:
    """What a process holds in memory."""
    return psutil.Process(child.pid).memory_info().rss / MEGABYTE


async def _listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
