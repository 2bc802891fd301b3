"""The programs themselves, as processes: killed, stopped, told to end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from aiohttp import ClientSession

from towns.relays import PATIENCE_SECONDS, Stage, Tunnel, free_port, host, saying

AGENT = (sys.executable, "-m", "quintant", "agent")


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
    folder: Path, tls: int, http: int
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A relay as a process, once it listens."""
    ports = ("--tls-port", str(tls), "--http-port", str(http), "--admin-port", str(free_port()))
    async with program("relay", "--state", str(folder), *ports) as child:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await _listening(http)
        yield child


async def _listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


async def _status(http: int, app: str) -> int:
    url = f"http://127.0.0.1:{http}/"
    async with ClientSession() as client, client.get(url, headers=host(app)) as answer:
        await answer.read()
        return answer.status


async def test_a_relay_that_falls_silent_is_noticed_and_found_again(
    stage: Stage, tmp_path: Path
) -> None:
    tls, http = free_port(), free_port()
    async with relay_program(tmp_path, tls, http) as relay:
        tunnel = stage.tunnel("hello", await stage.service(saying("here")), stage.target_at(tls))
        await tunnel.connected()
        began = asyncio.get_running_loop().time()
        relay.send_signal(signal.SIGSTOP)
        told = await tunnel.until(lambda told: told.relays[0].state == "Backoff")
        assert asyncio.get_running_loop().time() - began < 8
        assert "no sign of life" in told.relays[0].last_error
        relay.send_signal(signal.SIGCONT)
        await tunnel.connected()
        assert await _status(http, "hello") == 200
        await tunnel.stop()


async def test_a_killed_relay_is_found_again_by_the_same_tunnel(
    stage: Stage, tmp_path: Path
) -> None:
    tls, http = free_port(), free_port()
    async with relay_program(tmp_path, tls, http) as relay:
        tunnel = stage.tunnel("hello", await stage.service(saying("here")), stage.target_at(tls))
        await tunnel.connected()
        relay.kill()
        await tunnel.until(lambda told: told.relays[0].state == "Backoff")
    assert not await tunnel.ready()
    async with relay_program(tmp_path, tls, http):
        await tunnel.connected()
        assert await _status(http, "hello") == 200
        await tunnel.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_tunnel_that_ends_leaves_its_visitors_to_the_others(
    stage: Stage, number: signal.Signals
) -> None:
    relay = await stage.relay()
    port, admin = await stage.service(saying("here")), free_port()
    other = stage.tunnel("hello", port, stage.target(relay))
    await other.connected()
    line = ("tunnel", "expose", "--name", "hello", "--host", "127.0.0.1", "--port", str(port))
    place = ("--relay", stage.target(relay).url, "--admin-addr", f"127.0.0.1:{admin}")
    env = {"PORTAL_CA_FILE": stage.authority, "PORTAL_GROUP": "hello"}
    async with program(*line, *place, **env) as child:
        await Tunnel(admin).connected()
        statuses = [await _status(relay.http_port, "hello") for _ in range(20)]
        child.send_signal(number)
        statuses += [await _status(relay.http_port, "hello") for _ in range(50)]
        code = await child.wait()
    assert set(statuses) == {200}
    assert code == (0 if number is signal.SIGTERM else -signal.SIGKILL)


async def test_a_slow_visitor_costs_no_memory_and_delays_nobody(
    stage: Stage, tmp_path: Path
) -> None:
    tls, http, admin = free_port(), free_port(), free_port()
    port = await stage.service(_endless)
    line = ("tunnel", "expose", "--name", "hello", "--host", "127.0.0.1", "--port", str(port))
    place = ("--relay", stage.target_at(tls).url, "--admin-addr", f"127.0.0.1:{admin}")
    async with (
        relay_program(tmp_path, tls, http) as relay,
        program(*line, *place, PORTAL_CA_FILE=stage.authority) as tunnel,
    ):
        await Tunnel(admin).connected()
        assert await _status(http, "hello") == 200
        before = [_memory(child) for child in (relay, tunnel)]
        reader, writer = await asyncio.open_connection("127.0.0.1", http, limit=4096)
        writer.write(b"GET /endless HTTP/1.1\r\nHost: hello.relay.localhost\r\n\r\n")
        for _ in range(40):
            await reader.read(4096)
            assert await _status(http, "hello") == 200
        after = [_memory(child) for child in (relay, tunnel)]
        writer.close()
    assert all(now - then < GROWTH_BYTES for now, then in zip(after, before, strict=True))


GROWTH_BYTES = 10 * 1024 * 1024


def _memory(child: asyncio.subprocess.Process) -> int:
    return psutil.Process(child.pid).memory_info().rss


async def _endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while head := await reader.readuntil(b"\r\n\r\n"):
        if b"/endless" not in head:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            continue
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()


async def test_a_relay_told_to_end_ends_in_order(tmp_path: Path) -> None:
    async with relay_program(tmp_path, free_port(), free_port()) as relay:
        relay.terminate()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await relay.wait() == 0
