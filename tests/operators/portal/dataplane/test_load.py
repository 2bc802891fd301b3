"""Many visitors of one tunnel at once; `make bench ARGS=portal` has more, beside other tunnels.

Half-sent requests of one address are in `tests/security/test_relay.py`.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

import patience
from testbeds.relays import PATIENCE_SECONDS, RelayTestbed, Talk, asked, request, visiting

VISITS = 1000
SOCKETS = 500
FILES = 8192
"""Four sockets for each visit, since everything is in this process."""


@pytest.fixture(autouse=True)
def files() -> Iterator[None]:
    """As many sockets as the programs allow themselves, if this machine lets anybody have them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.skip(f"a process may have {hard} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FILES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def together(count: int) -> Talk:
    """A Service that answers when so many have asked, and not before."""
    arrived, all_here = list[int](), asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.append(1)
        if len(arrived) == count:
            all_here.set()
        await all_here.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    return talk


async def test_of_a_thousand_visits_at_once_none_is_refused(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("hello", together(VISITS))
    async with patience.within(PATIENCE_SECONDS):
        found = await asyncio.gather(*(asked(relay, request("hello")) for _ in range(VISITS)))
    assert {answer[:12] for answer in found} == {b"HTTP/1.1 200"}


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A Service that is upgraded, and says what it is told; or answers at once."""
    if b"Upgrade: " not in await reader.readuntil(b"\r\n\r\n"):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    )
    while raw := await reader.read(100):
        writer.write(raw)


async def test_silent_websockets_hold_nothing_but_their_sockets(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("hello", echo)
    upgrade = request("hello", extra="Upgrade: websocket\r\n").replace(b"close", b"Upgrade")
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(relay)) for _ in range(SOCKETS)]
        for _, writer in visitors:
            writer.write(upgrade)
        heads = [await reader.readuntil(b"\r\n\r\n") for reader, _ in visitors]
        assert {head[:12] for head in heads} == {b"HTTP/1.1 101"}
        (tunnel,) = relay.names.everybody()
        assert tunnel.load == SOCKETS
        assert tunnel.session.held == 0
        assert (await asked(relay, request("hello"))).endswith(b"ok")
        for reader, writer in visitors:
            writer.write(b"still here")
            assert await reader.readexactly(10) == b"still here"
