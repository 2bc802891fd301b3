"""Connections to a service reach its pods, whatever becomes of one or the other meanwhile."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

import pytest

from quintant.cluster.kubeproxy.proxy import Proxy, running_proxy
from quintant.cluster.kubeproxy.routes import RealServer, ServiceRoute, VirtualServer
from quintant.core.object import Request
from unit.cluster.kubeproxy.peers import echo, heard, program, saying

KEY = Request("web", "default")
DEAD = RealServer("127.0.0.1", 1)
"""Where nobody listens."""


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    async with running_proxy() as made:
        yield made


@pytest.fixture
def virtual_server() -> VirtualServer:
    """A free port of an address that only services have."""
    with socket.socket() as probe:
        probe.bind(("127.96.255.7", 0))
        return VirtualServer("TCP", *probe.getsockname())


async def test_connections_are_spread_over_the_backends(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    async with AsyncExitStack() as stack:
        names = (b"one", b"two", b"three")
        real_servers = [await stack.enter_async_context(program(saying(name))) for name in names]
        await proxy.serve(KEY, [ServiceRoute(virtual_server, tuple(real_servers))])
        said = Counter([await heard(proxy.address_of(virtual_server)) for _ in range(9)])
    assert said == {b"one": 3, b"two": 3, b"three": 3}


async def test_backend_that_refuses_is_passed_over(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    async with program(saying(b"here")) as alive:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (DEAD, alive))])
        assert [await heard(proxy.address_of(virtual_server)) for _ in range(4)] == [b"here"] * 4


@pytest.mark.parametrize("turns", range(6))
async def test_connection_that_is_being_accepted_when_the_proxy_ends_is_cut_off(
    turns: int, virtual_server: VirtualServer
) -> None:
    async with program(echo) as real_server, running_proxy() as proxy:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (real_server,))])
        client = socket.create_connection(proxy.address_of(virtual_server))
        client.setblocking(False)
        for _ in range(turns):
            await asyncio.sleep(0)
    # An open end would be a warning, and so a failure.
    gc.collect()
    with client, pytest.raises(ConnectionResetError):
        client.recv(1)


async def test_client_is_cut_off_when_nobody_answers(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    await proxy.serve(KEY, [ServiceRoute(virtual_server, (DEAD,))])
    with pytest.raises(ConnectionError):
        await heard(proxy.address_of(virtual_server))


async def test_service_without_backends_refuses(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    await proxy.serve(KEY, [ServiceRoute(virtual_server)])
    with pytest.raises(ConnectionRefusedError):
        await heard(proxy.address_of(virtual_server))
    async with program(saying(b"here")) as alive:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
        assert await heard(proxy.address_of(virtual_server)) == b"here"
        await proxy.serve(KEY, [ServiceRoute(virtual_server)])
        with pytest.raises(ConnectionRefusedError):
            await heard(proxy.address_of(virtual_server))


async def test_front_of_a_service_cannot_be_taken_and_is_passed_on(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    thief = Request("a-thief", "default")
    async with program(saying(b"mine")) as mine, program(saying(b"theirs")) as theirs:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (mine,))])
        await proxy.serve(thief, [ServiceRoute(virtual_server, (theirs,))])
        assert await heard(proxy.address_of(virtual_server)) == b"mine"
        await proxy.serve(thief, [])
        assert await heard(proxy.address_of(virtual_server)) == b"mine"
        await proxy.serve(thief, [ServiceRoute(virtual_server, (theirs,))])
        await proxy.serve(KEY, [])
        assert await heard(proxy.address_of(virtual_server)) == b"theirs"
        await proxy.serve(thief, [])
    with pytest.raises(ConnectionRefusedError):
        await heard(proxy.address_of(virtual_server))


async def test_last_word_of_one_side_leaves_the_other_its_own(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    async with program(echo) as alive:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
        reader, writer = await asyncio.open_connection(*proxy.address_of(virtual_server))
        writer.write(b"hello")
        writer.write_eof()
        assert await reader.read() == b"hellobye"
        writer.close()


async def test_bytes_arrive_unchanged_however_many(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    sent = bytes(range(256)) * 40_000
    async with program(echo) as alive:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
        reader, writer = await asyncio.open_connection(*proxy.address_of(virtual_server))

        async def speak() -> None:
            writer.write(sent)
            await writer.drain()
            writer.write_eof()

        _, received = await asyncio.gather(speak(), reader.read())
        assert received == sent + b"bye"
        writer.close()


async def test_nothing_piles_up_before_a_client_that_does_not_listen(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    written = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        while True:
            writer.write(bytes(65536))
            await writer.drain()
            written += 65536

    async with program(flood) as alive:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
        _, writer = await asyncio.open_connection(*proxy.address_of(virtual_server), limit=1024)
        before = -1
        while before != written:
            before = written
            await asyncio.sleep(0.1)
        assert written < 64 * 2**20
        writer.close()


async def test_connection_outlives_its_route(proxy: Proxy, virtual_server: VirtualServer) -> None:
    async with program(echo) as alive:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
        reader, writer = await asyncio.open_connection(*proxy.address_of(virtual_server))
        writer.write(b"one")
        assert await reader.readexactly(3) == b"one"
        await proxy.serve(KEY, [])
        writer.write(b"two")
        assert await reader.readexactly(3) == b"two"
        writer.close()


async def test_client_that_breaks_off_is_noticed_behind(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    met, noticed = asyncio.Event(), asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.set()
        try:
            await reader.read()
        finally:
            noticed.set()

    async with program(listen) as alive:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
        _, writer = await asyncio.open_connection(*proxy.address_of(virtual_server))
        await asyncio.wait_for(met.wait(), 5)
        writer.transport.abort()
        await asyncio.wait_for(noticed.wait(), 5)


async def test_port_that_is_taken_is_mapped_and_told(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    with socket.socket() as other:
        other.bind((virtual_server.address, virtual_server.port))
        other.listen()
        async with program(saying(b"here")) as alive:
            await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
            assert proxy.displaced == {KEY: {virtual_server: proxy.address_of(virtual_server)}}
            assert proxy.address_of(virtual_server).port != virtual_server.port
            assert await heard(proxy.address_of(virtual_server)) == b"here"


async def test_port_that_somebody_takes_before_us_is_mapped(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    await proxy.serve(KEY, [ServiceRoute(virtual_server)])
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((virtual_server.address, virtual_server.port))
        other.listen()
        async with program(saying(b"here")) as alive:
            await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
            assert await heard(proxy.address_of(virtual_server)) == b"here"


async def test_nothing_is_left_when_the_proxy_ends(virtual_server: VirtualServer) -> None:
    async with program(echo) as alive:
        async with running_proxy() as proxy:
            await proxy.serve(KEY, [ServiceRoute(virtual_server, (alive,))])
            reader, writer = await asyncio.open_connection(*proxy.address_of(virtual_server))
            writer.write(b"one")
            await reader.readexactly(3)
            place = proxy.address_of(virtual_server)
        assert proxy.connections == 0
        with pytest.raises(ConnectionError):
            await reader.readexactly(1)
        with pytest.raises(ConnectionRefusedError):
            await heard(place)
        writer.close()


async def test_affinity_brings_a_client_back(proxy: Proxy, virtual_server: VirtualServer) -> None:
    async with program(saying(b"one")) as one, program(saying(b"two")) as two:
        await proxy.serve(KEY, [ServiceRoute(virtual_server, (one, two), affinity=60)])
        said = [await heard(proxy.address_of(virtual_server)) for _ in range(4)]
    assert len(set(said)) == 1


async def test_datagrams_go_to_a_backend_and_back(
    proxy: Proxy, virtual_server: VirtualServer
) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_datagram_endpoint(_Echo, local_addr=("127.0.0.1", 0))
    real_server = RealServer(*server[0].get_extra_info("sockname"))
    udp = virtual_server._replace(protocol="UDP")
    await proxy.serve(KEY, [ServiceRoute(udp, (real_server,))])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setblocking(False)
        client.connect(proxy.address_of(udp))
        for word in (b"one", b"two"):
            await loop.sock_sendall(client, word)
            assert await asyncio.wait_for(loop.sock_recv(client, 100), 5) == word.upper()
    server[0].close()


class _Echo(asyncio.DatagramProtocol):
    """Says in capitals what it hears."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[Any, int]) -> None:
        self.transport.sendto(data.upper(), addr)
