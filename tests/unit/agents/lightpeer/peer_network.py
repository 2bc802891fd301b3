"""Many peers in one process under virtual time: a network that loses, delays and repeats, disks
that fill, and peers that crash at any await and come back with what their disk has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from errno import ENOSPC
from io import BytesIO
from itertools import pairwise
from random import Random
from typing import Any, TypeVar

from quintant.agents.lightpeer.chain.block import payload_of
from quintant.agents.lightpeer.disk.store import Store
from quintant.agents.lightpeer.peer import Effects, Peer
from quintant.agents.lightpeer.rpc.calls import Call, Code, Failed, Metadata, Reply, Route
from quintant.agents.lightpeer.rpc.guard import Guard
from quintant.agents.lightpeer.service import LightpeerService
from quintant.wire.lightpeer import (
    JOIN_NETWORK,
    PERSIST,
    QUERY,
    EmptyQueryRequest,
    JoinRequest,
    Lightblock,
    Method,
    PeerInfo,
    PersistRequest,
)
from quintant.wire.message import Message

T = TypeVar("T")
A = TypeVar("A", bound=Message)
B = TypeVar("B", bound=Message)
FILE_SECONDS = 0.002
WIRE_SECONDS = (0.0005, 0.003)
ANSWER_SECONDS = 0.001
"""Between two answers of a stream."""


class MemoryDisk:
    """A disk that can be full, and that counts time."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.times: dict[str, float] = {}
        self.aside: list[tuple[str, bytes]] = []
        """What was damaged."""
        self.room: float = float("inf")

    def names(self) -> list[tuple[str, float]]:
        return [(name, self.times[name]) for name in self.files]

    def beginning(self, prefix: str) -> list[str]:
        return [name for name in self.files if name.startswith(prefix)]

    def read(self, name: str, at: int = 0, most: int = -1) -> bytes:
        try:
            content = self.files[name]
        except KeyError:
            raise FileNotFoundError(name) from None
        return content[at : at + most if most >= 0 else None]

    def lines(self, name: str) -> Iterator[bytes]:
        yield from BytesIO(self.files.get(name, b""))

    def write(self, files: Iterable[tuple[str, bytes]]) -> None:
        for name, content in files:
            self._put(name, content)

    def rewrite(self, name: str, pieces: Iterable[bytes]) -> None:
        self._put(name, b"".join(pieces))

    def append(self, name: str, content: bytes, at: int) -> None:
        self._put(name, self.files.get(name, b"")[:at] + content)

    def set_aside(self, name: str) -> None:
        self.aside.append((name, self.files[name]))

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            self.files.pop(name, None)

    def _put(self, name: str, content: bytes) -> None:
        if self.room <= 0:
            raise OSError(ENOSPC, "No space left on device")
        self.room -= 1
        self.files[name] = content
        self.times[name] = len(self.times)


async def worker(work: Callable[[], T], /) -> T:
    """Takes the time of a disk; a crash may come before or after."""
    await asyncio.sleep(FILE_SECONDS)
    done = work()
    await asyncio.sleep(0)
    return done


def loop_time() -> float:
    """The time of day in this network: virtual, and 1970 when it is made."""
    return asyncio.get_running_loop().time()


@dataclass
class Faults:
    """What the network does to messages, as probabilities."""

    lost: float = 0.0
    doubled: float = 0.0
    slow: float = 0.0
    cut: set[frozenset[str]] = field(default_factory=set)


class PeerHost:
    """An address with a disk, where a peer runs or not."""

    def __init__(self, network: PeerNetwork, address: str) -> None:
        self.network = network
        self.address = address
        self.disk = MemoryDisk()
        self.peer: Peer | None = None
        self.hanging = False
        self.deaf = False
        """Whether nobody can reach the peer, who is told so at once."""
        self.pace = 0.0
        """Seconds that a write to the disk takes besides."""
        self.merge = False
        self.tasks: set[asyncio.Task[Any]] = set()
        self.routes: dict[str, Route] = {}

    async def start(self) -> Peer:
        """Start a peer on what the disk has."""
        chance = Random(self.network.chance.random())
        effects = Effects(self.disk, self.work, Wire(self), chance, loop_time)
        peer = Peer(PeerInfo(self.address), effects, merge=self.merge)
        await peer.open()
        self.peer = peer
        self.routes = {each.method.path: each for each in LightpeerService(peer, Guard()).routes()}
        self.run(peer.run())
        return peer

    async def work(self, work: Callable[[], T], /) -> T:
        """The disk of this host."""
        await asyncio.sleep(self.pace)
        return await worker(work)

    def run(self, work: Any) -> asyncio.Task[Any]:
        """Something that ends when the peer crashes."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def rest(self) -> None:
        """Have the peer only answer, and do nothing by itself."""
        for task in tuple(self.tasks):
            task.cancel()

    async def crash(self) -> None:
        """End everything at once, wherever it is."""
        peer, self.peer = self.peer, None
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if peer is not None:
            await peer.scope.close()

    async def leave(self) -> None:
        """End as SIGTERM ends a peer."""
        assert self.peer is not None
        self.peer.leaving = True
        await self.peer.leave()
        await self.crash()


class Wire:
    """How the peer of a host asks others."""

    def __init__(self, host: PeerHost) -> None:
        self.host = host

    async def ask(
        self,
        address: str,
        method: Method[A, B],
        message: A,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> Reply[B]:
        network, source = self.host.network, self.host.address
        network.calls.append((source, address, method.path))
        try:
            async with asyncio.timeout(seconds):
                target = await network.reach(source, address)
                call = Call(metadata, seconds)
                for _ in range(2 if network.chance.random() < network.faults.doubled else 1):
                    reply = await target.answer(method, message, call)
                await network.travel(source, address)
                return reply
        except TimeoutError:
            raise Failed(Code.DEADLINE_EXCEEDED, "late") from None

    async def stream(
        self,
        address: str,
        method: Method[A, B],
        message: A,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> AsyncGenerator[B, None]:
        network, source = self.host.network, self.host.address
        network.calls.append((source, address, method.path))
        target = await network.reach(source, address)
        answers: asyncio.Queue[Any] = asyncio.Queue()
        task = target.run(target.pour(method, message, Call(metadata, seconds), answers))
        try:
            while (answer := await answers.get()) is not None:
                if isinstance(answer, Failed):
                    raise answer
                yield answer
        finally:
            task.cancel()


class PeerNetwork:
    """Hosts, and the network between them."""

    def __init__(self, seed: int = 0) -> None:
        self.chance = Random(seed)
        self.faults = Faults()
        self.hosts: dict[str, PeerHost] = {}
        self.calls: list[tuple[str, str, str]] = []

    def host(self, number: int) -> PeerHost:
        """The host with a number; it is made if it is not there."""
        address = f"10.0.0.{number}:9081"
        if address not in self.hosts:
            self.hosts[address] = AnsweringHost(self, address)
        return self.hosts[address]

    async def joined(self, count: int) -> list[PeerHost]:
        """Peers that joined each other as a controller joins them: each by the newest before."""
        hosts = [self.host(number) for number in range(1, count + 1)]
        for host in hosts:
            await host.start()
        for before, host in pairwise(hosts):
            await join(host, before)
        return hosts

    async def settled(self, count: int) -> list[PeerHost]:
        """Peers that come back as the members of a network that has long existed."""
        hosts = [self.host(number) for number in range(1, count + 1)]
        everybody = payload_of([PeerInfo(each.address) for each in hosts])
        for host in hosts:
            Store(host.disk).append([Lightblock("old", everybody)], 1)
            await host.start()
        return hosts

    async def travel(self, source: str, target: str) -> None:
        """A message's way: it takes a moment, and may never end."""
        faults = self.faults
        if frozenset((source, target)) in faults.cut or self.chance.random() < faults.lost:
            await asyncio.sleep(3600)
        slow = 50 if self.chance.random() < faults.slow else 1
        await asyncio.sleep(slow * self.chance.uniform(*WIRE_SECONDS))

    async def reach(self, source: str, address: str) -> AnsweringHost:
        await self.travel(source, address)
        host = self.hosts.get(address)
        if not isinstance(host, AnsweringHost) or host.peer is None or host.deaf:
            raise Failed(Code.UNAVAILABLE, "refused")
        if host.hanging:
            await asyncio.sleep(3600)
        return host

    async def close(self) -> None:
        """End every peer."""
        for host in self.hosts.values():
            await host.crash()


class AnsweringHost(PeerHost):
    """A host that answers."""

    async def answer(self, method: Method[Any, B], message: Message, call: Call) -> Reply[B]:
        route = self.routes[method.path]
        asked = method.request.decode(message.encode())
        task = self.run(route.run(asked, call))
        try:
            reply: Reply[B] = await asyncio.shield(task)
        except asyncio.CancelledError:
            if self.peer is None and not task.cancelled():
                raise Failed(Code.UNAVAILABLE, "gone") from None
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                task.cancel()
                raise
            raise Failed(Code.UNAVAILABLE, "gone") from None
        return reply

    async def pour(
        self, method: Method[Any, Any], message: Message, call: Call, into: asyncio.Queue[Any]
    ) -> None:
        asked = method.request.decode(message.encode())
        answers: Any = self.routes[method.path].run(asked, call)
        end: Any = Failed(Code.UNAVAILABLE, "gone")
        try:
            async for answer in answers:
                await asyncio.sleep(ANSWER_SECONDS)
                into.put_nowait(answer)
            end = None
        except Failed as failure:
            end = failure
        finally:
            into.put_nowait(end)


async def join(host: PeerHost, contact: PeerHost) -> None:
    """What a controller asks of a peer."""
    await client(host).ask(
        host.address, JOIN_NETWORK, JoinRequest(contact.address), seconds=30, metadata={}
    )


async def persist(host: PeerHost, payload: bytes) -> None:
    """What a client asks of a peer."""
    await client(host).ask(host.address, PERSIST, PersistRequest(payload), seconds=10, metadata={})


async def query(host: PeerHost) -> list[bytes]:
    """What a peer has, newest first."""
    stream = client(host).stream(host.address, QUERY, EmptyQueryRequest(), seconds=10, metadata={})
    return [each.payload async for each in stream]


def client(host: PeerHost) -> Wire:
    """A client in the same pod as the peer of a host: its messages are never lost."""
    sure = PeerNetwork()
    sure.hosts = host.network.hosts
    return Wire(PeerHost(sure, "client"))


def members(host: PeerHost) -> list[str]:
    """Whom a peer believes to be members."""
    assert host.peer is not None
    return [each.address for each in host.peer.store.members]


def serving(host: PeerHost) -> bool:
    """Whether a peer says that it is well."""
    return host.peer is not None and host.peer.serving


async def attempt(work: Any) -> bool:
    """Whether a call went well."""
    with suppress(Failed):
        await work
        return True
    return False
