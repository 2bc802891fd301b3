"""What relays and tunnels promise over time, as processes that come, go and are killed.

A tenth of it runs as a rule, the whole with `make soak`; each test prints what it saw (pytest -s).
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path

from aiohttp import ClientSession, WSMsgType, web

import patience
from real.proxy import Proxy
from scenarios.soak_size import SHARE, sized
from testbeds.programs import megabytes, relay_program, tunnel_program
from testbeds.relays import PATIENCE_SECONDS, RelayTestbed, Talk, host, request
from testbeds.visitors import steady_visitors, visited

RATE = 100.0
"""Visitors per second."""
SECONDS = 60 / SHARE
NOTICE_SECONDS = 4.0
"""The protocol's: three seconds of silence, seen at the next of its beats."""
SLACK_SECONDS = 4.0
"""What a quiet machine may take besides."""
KNOWN_SECONDS = 0.2
"""After a process died, for the other end of its connections to see that on a quiet machine."""
GROWTH_MEGABYTES = 10.0
DOWNLOAD_BYTES = (1 << 30) // SHARE
SLOW_BYTES = 100 * 1024
"""Per second, of a slow reader."""
FAST_SECONDS = 0.05
SILENT_SECONDS = 80.0 if SHARE == 1 else 3.0
"""Longer than all that is waited for between two requests (75 s at most), in full size."""
FIRST_BYTE = ("--first-byte", "60" if SHARE == 1 else "1")
LARGE_BYTES = 16 * 1024 * 1024


def slow_talk(seconds: float) -> Talk:
    """A Service that takes a moment, so that requests are under way at any time."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(seconds)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    return talk


async def lost_now(child: asyncio.subprocess.Process) -> tuple[float, float]:
    """Kill a process; when that began, and when everybody knew."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    child.kill()
    await child.wait()
    await asyncio.sleep(patience.seconds(KNOWN_SECONDS))
    return began, loop.time()


async def test_soak_rolling_updates_lose_no_request(testbed: RelayTestbed, tmp_path: Path) -> None:
    service, loop = await testbed.service(slow_talk(0.02)), asyncio.get_running_loop()
    async with relay_program(tmp_path) as relay, AsyncExitStack() as stack:
        pods = [
            await stack.enter_async_context(tunnel_program(tmp_path, "hello", service, relay.tls))
            for _ in range(3)
        ]
        rolled, until = 0, loop.time() + SECONDS
        async with steady_visitors("hello", RATE, [relay.http]) as visitors:
            while loop.time() < until or rolled < len(pods):
                new = tunnel_program(tmp_path, "hello", service, relay.tls)
                pods.append(await stack.enter_async_context(new))
                old = pods.pop(0)
                old.child.terminate()
                assert await old.child.wait() == 0
                rolled += 1
    print(f"\nrolling update, {rolled} tunnels replaced: {visitors.summary()}")
    assert not visitors.failures


async def test_soak_a_lost_relay_loses_only_what_was_under_way_on_it(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    service = await testbed.service(slow_talk(0.02))
    async with relay_program(tmp_path) as lost, relay_program(tmp_path) as other:
        ports = [lost.http, other.http]
        async with (
            tunnel_program(tmp_path, "hello", service, lost.tls, other.tls),
            tunnel_program(tmp_path, "hello", service, lost.tls, other.tls),
            steady_visitors("hello", RATE, ports) as visitors,
        ):
            await asyncio.sleep(SECONDS / 2)
            loss = await lost_now(lost.child)
            await asyncio.sleep(SECONDS / 2)
    print(f"\na relay of two killed: {visitors.summary()}")
    assert all(
        visit.relay == lost.http and visit.under_way(*loss) for visit in visitors.failures
    ), visitors.failures
    assert any(visit.relay == other.http and visit.began > loss[1] for visit in visitors.visits)


async def test_soak_a_lost_pod_loses_only_what_must_not_be_asked_twice(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    service = await testbed.service(slow_talk(0.02))
    async with (
        relay_program(tmp_path) as relay,
        tunnel_program(tmp_path, "hello", service, relay.tls) as lost,
        tunnel_program(tmp_path, "hello", service, relay.tls),
        steady_visitors("hello", RATE, [relay.http]) as visitors,
    ):
        await asyncio.sleep(SECONDS / 2)
        loss = await lost_now(lost.child)
        await asyncio.sleep(SECONDS / 2)
    print(f"\na tunnel of two killed: {visitors.summary()}")
    assert any(visit.began > loss[1] for visit in visitors.visits)
    assert all(visit.method == "POST" and visit.under_way(*loss) for visit in visitors.failures), (
        visitors.failures
    )


async def test_soak_a_silent_partition_is_noticed_in_time(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    service, loop = await testbed.service(slow_talk(0.0)), asyncio.get_running_loop()
    async with (
        relay_program(tmp_path) as far,
        relay_program(tmp_path) as near,
        Proxy.before("127.0.0.1", far.tls) as line,
        tunnel_program(tmp_path, "hello", service, line.port, near.tls) as tunnel,
        steady_visitors("hello", RATE / 2, [near.http]) as safe,
    ):
        await asyncio.sleep(sized(10))
        began = loop.time()
        line.stall()
        told = await tunnel.report.until(lambda told: told.relays[0].state == "Backoff")
        noticed = loop.time() - began
        await _refused(far.http)
        moved = loop.time() - began
        assert (await tunnel.report.report()).relays[1].state == "Connected"
        line.resume()
        await tunnel.report.connected()
        back = loop.time() - began
    print(
        f"\nsilent partition: the tunnel noticed after {noticed:.1f} s, the relay after at most "
        f"{moved:.1f} s, connected again after {back:.1f} s; meanwhile, by the other "
        f"relay: {safe.summary()}"
    )
    assert "no sign of life" in told.relays[0].last_error
    assert max(noticed, moved) < NOTICE_SECONDS + patience.seconds(SLACK_SECONDS)
    assert not safe.failures


async def _refused(port: int) -> None:
    """Wait until a relay knows that it has no tunnel."""
    async with patience.within(PATIENCE_SECONDS):
        outcome = ""
        while outcome != "503 NO_TUNNEL":
            outcome = await visited("hello", port)


def download(size: int) -> Talk:
    """A Service that answers /large with so many bytes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            left = size if b"/large" in head else 2
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % left)
            while left:
                piece = min(left, 65_536)
                writer.write(bytes(piece))
                left -= piece
                await writer.drain()

    return talk


async def test_soak_a_slow_reader_costs_no_memory_and_delays_nobody(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    service, loop = await testbed.service(download(DOWNLOAD_BYTES)), asyncio.get_running_loop()
    async with (
        relay_program(tmp_path) as relay,
        tunnel_program(tmp_path, "hello", service, relay.tls) as tunnel,
    ):
        children, most = (relay.child, tunnel.child), [0.0, 0.0]
        async with steady_visitors("hello", RATE, [relay.http]):
            await asyncio.sleep(1)  # Both have what they need to work at all.
        before = [megabytes(child) for child in children]
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.http, limit=65_536)
        writer.write(request("hello", "/large"))
        await reader.readuntil(b"\r\n\r\n")
        left, until = DOWNLOAD_BYTES, loop.time() + SECONDS
        async with steady_visitors("hello", RATE / 2, [relay.http]) as others:
            while loop.time() < until:
                left -= len(await reader.readexactly(SLOW_BYTES // 10))
                most = [max(each) for each in zip(most, map(megabytes, children), strict=True)]
                await asyncio.sleep(0.1)
        began, rest = loop.time(), left
        while raw := await reader.read(1 << 20):
            left -= len(raw)
            most = [max(each) for each in zip(most, map(megabytes, children), strict=True)]
        speed = rest / (loop.time() - began) / 1e6
        writer.close()
    growth = [most - then for most, then in zip(most, before, strict=True)]
    print(
        f"\na download of {DOWNLOAD_BYTES >> 20} MiB, {SECONDS:.0f} s of it at 100 KiB/s, then "
        f"{speed:.0f} MB/s: relay {before[0]:.0f} MB + {growth[0]:.1f}, tunnel {before[1]:.0f} MB "
        f"+ {growth[1]:.1f}; beside it {others.summary()}"
    )
    assert left == 0
    assert max(growth) < GROWTH_MEGABYTES
    assert not others.failures


async def _web() -> web.AppRunner:
    """A Service with a stream of events, with pauses, and a socket that says what it is told."""

    async def events(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number in range(3):
            await response.write(b"data: %d\n\n" % number)
            await asyncio.sleep(SILENT_SECONDS if number == 1 else 0)
        return response

    async def socket(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                await socket.send_bytes(message.data)
        return socket

    app = web.Application()
    app.add_routes([web.get("/events", events), web.get("/socket", socket)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner


async def test_soak_streams_may_be_silent_for_longer_than_requests_may_wait(
    testbed: RelayTestbed, tmp_path: Path
) -> None:
    runner, loop = await _web(), asyncio.get_running_loop()
    service: int = runner.addresses[0][1]
    async with (
        relay_program(tmp_path, *FIRST_BYTE) as relay,
        tunnel_program(tmp_path, "hello", service, relay.tls),
        ClientSession(f"http://127.0.0.1:{relay.http}") as client,
        client.ws_connect("/socket", headers=host("hello"), max_msg_size=0) as socket,
        client.get("/events", headers=host("hello")) as answer,
    ):
        began = loop.time()
        events = [await answer.content.readuntil(b"\n\n") for _ in range(3)]
        held = loop.time() - began
        large = bytes(range(256)) * (LARGE_BYTES // 256)
        began = loop.time()
        await socket.send_bytes(large)
        same = sha256(await socket.receive_bytes()).digest() == sha256(large).digest()
        took = loop.time() - began
    await runner.cleanup()
    print(
        f"\nevents with {held:.0f} s of silence; a WebSocket silent as long, then "
        f"{LARGE_BYTES >> 20} MiB there and back in {took:.1f} s"
    )
    assert events == [b"data: 0\n\n", b"data: 1\n\n", b"data: 2\n\n"]
    assert held > SILENT_SECONDS * 0.9
    assert same
