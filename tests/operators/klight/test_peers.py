"""Real lightpeers keep their network and their chain: killed, stopped, restarted, and lied to."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import grpc
import grpc.aio
import pytest
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from quintant.agents.lightpeer.rpc.calls import Code, Failed
from quintant.wire.lightpeer import JOIN_NETWORK, JoinRequest
from testbeds.lightpeers import Lightpeer, Loopback, loopback, until

pytestmark = pytest.mark.realtime

DROP_SECONDS = 10.0
KILLS = 20 if os.environ.get("QUINTANT_SOAK") else 2


@pytest_asyncio.fixture
async def testbed(tmp_path: Path) -> AsyncIterator[Loopback]:
    async with loopback(tmp_path) as made:
        yield made


async def test_killed_peer_is_dropped_in_time_and_all_others_can_write(testbed: Loopback) -> None:
    peers = await testbed.formed(5)
    await peers[4].persist(b"before")
    await peers[0].kill()
    rest = peers[1:]
    await until(lambda: _members_are(rest, rest), DROP_SECONDS)
    for peer in rest:
        await peer.persist(peer.address.encode())
    expected = [*(each.address.encode() for each in reversed(rest)), b"before"]
    assert [await each.query() for each in rest] == [expected] * 4


async def test_restarted_peer_has_its_blocks_and_is_a_member_again(testbed: Loopback) -> None:
    peers = await testbed.formed(3)
    await peers[0].persist(b"a")
    await peers[1].kill()
    await peers[0].persist(b"b")
    await peers[1].start()
    await until(lambda: _members_are(peers, peers), 35)
    await until(lambda: _alike(peers, [b"b", b"a"]), 10)


async def test_stopped_peer_is_dropped_and_returns(testbed: Loopback) -> None:
    peers = await testbed.formed(3)
    peers[0].send(signal.SIGSTOP)
    await until(lambda: _members_are(peers[1:], peers[1:]), DROP_SECONDS)
    await peers[1].persist(b"x")
    peers[0].send(signal.SIGCONT)
    await until(lambda: _members_are(peers, peers), 35)
    await until(lambda: _alike(peers, [b"x"]), 10)


async def test_address_taken_by_another_network_joins_nobody(testbed: Loopback) -> None:
    first, second = await testbed.formed(2)
    await first.persist(b"one")
    await second.kill()
    second.repo.rename(second.repo.with_name("old"))
    other = await testbed.peer(9).start()
    await second.start()
    await second.join(other)
    await second.persist(b"two")
    await until(lambda: _members_are([first], [first]), DROP_SECONDS)
    assert await first.query() == [b"one"]
    assert await other.query() == await second.query() == [b"two"]


async def test_peer_told_to_end_leaves_first(testbed: Loopback) -> None:
    peers = await testbed.formed(3)
    writes = asyncio.gather(*(peers[1].persist(b"%d" % number) for number in range(20)))
    assert await peers[0].kill(signal.SIGTERM) == 0
    assert await peers[1].members() == {each.address for each in peers[1:]}
    await writes
    await peers[2].persist(b"after")
    assert await peers[1].query() == await peers[2].query()


async def test_silent_and_garbled_contacts_are_refused_in_bounded_time(testbed: Loopback) -> None:
    peer = await testbed.peer(1).start()
    await peer.persist(b"mine")
    for number, answer in ((7, b""), (8, b"HTTP/1.1 200 OK\r\n\r\nhello"), (9, os.urandom(4096))):
        async with await _answering(f"{testbed.network}.{number}", answer):
            with pytest.raises(Failed) as refused:
                await peer.ask(JOIN_NETWORK, JoinRequest(f"{testbed.network}.{number}:9081"), 30)
            assert refused.value.code == Code.UNKNOWN
    assert await peer.query() == [b"mine"]


async def test_garbage_on_the_port_harms_nobody(testbed: Loopback) -> None:
    peer = await testbed.peer(1).start()
    for _ in range(20):
        _, writer = await asyncio.open_connection(peer.host, 9081)
        writer.write(os.urandom(2000))
        await writer.drain()
        writer.close()
    async with grpc.aio.insecure_channel(peer.address) as channel:
        for path in ("/Lightpeer/NotifyNewBlock", "/Lightpeer/Persist", "/Lightpeer/Nothing"):
            ask: Any = channel.unary_unary(path)
            with pytest.raises(grpc.aio.AioRpcError):
                await ask(b"\xff\xff\xff")
    await peer.persist(b"x")
    assert await peer.query() == [b"x"]


async def test_health_is_served_as_everybody_asks_for_it(testbed: Loopback) -> None:
    peer = await testbed.peer(1).start()
    async with grpc.aio.insecure_channel(peer.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        for service in ("", "Lightpeer"):
            asked = health_pb2.HealthCheckRequest(service=service)
            assert (await stub.Check(asked)).status == health_pb2.HealthCheckResponse.SERVING
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        watch.cancel()


async def test_state_file_follows_its_writer(testbed: Loopback) -> None:
    files = [testbed.folder / "one" / "index.html", testbed.folder / "two" / "index.html"]
    peers = []
    for number, file in enumerate(files, start=1):
        file.parent.mkdir()
        flag = f"-statePath={file}"
        peers.append(await testbed.peer(number, "klightpeer", flag, "-v").start())
    await peers[1].join(peers[0])
    for text in ("one", "two"):
        files[0].write_text(text)
        await until(lambda: _holds(files[1], text), 10)  # noqa: B023
    assert await peers[1].query() == [b"two", b"one"]


async def test_soak_whoever_is_killed_nothing_acknowledged_is_lost(testbed: Loopback) -> None:
    peers = await testbed.formed(5)
    random = Random(7)
    acknowledged: list[bytes] = []
    async with asyncio.TaskGroup() as group:
        writers = [group.create_task(_write(each, acknowledged)) for each in peers]
        for _ in range(KILLS):
            await asyncio.sleep(random.uniform(0.5, 3))
            victim = random.choice(peers)
            await victim.kill()
            await asyncio.sleep(random.uniform(0, 3))
            await victim.start()
        await asyncio.sleep(1)
        for writer in writers:
            writer.cancel()
    await until(lambda: _members_are(peers, peers), 60)

    async def everywhere() -> bool:
        chains = [await each.query() for each in peers]
        return all(set(acknowledged) <= set(each) and each == chains[0] for each in chains)

    await until(everywhere, 30)
    assert len(acknowledged) > 20


async def _write(peer: Lightpeer, acknowledged: list[bytes]) -> None:
    number = 0
    while True:
        number += 1
        payload = f"{peer.address} {number}".encode()
        try:
            await peer.persist(payload)
        except Failed:
            await asyncio.sleep(0.2)
            continue
        acknowledged.append(payload)
        await asyncio.sleep(0.05)


async def _members_are(peers: list[Lightpeer], expected: list[Lightpeer]) -> bool:
    wanted = {each.address for each in expected}
    return all([await each.members() == wanted for each in peers])


async def _alike(peers: list[Lightpeer], chain: list[bytes]) -> bool:
    return all([await each.query() == chain for each in peers])


async def _holds(file: Path, text: str) -> bool:
    return await asyncio.to_thread(lambda: file.exists() and file.read_text() == text)


async def _answering(host: str, answer: bytes) -> asyncio.Server:
    """Something that listens, says one thing whatever it hears, and then nothing."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await reader.read()
        writer.close()

    return await asyncio.start_server(talk, host, 9081)
