"""Networks of real lightpeers: how long they take, what they write, what they cost, who is missed.

Every peer is a process with an address and a directory of its own, on this machine; so all members
share its cores and its disk, which no network of pods does.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from processes.usage import MEGABYTE, cpu, usage
from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.agents.lightpeer.rpc.channels import Channels
from quintant.wire.lightpeer import (
    HEALTH_CHECK,
    JOIN_NETWORK,
    PERSIST,
    HealthCheckRequest,
    JoinRequest,
    Method,
    PersistRequest,
)
from quintant.wire.peeradmin import GET_STATUS, StatusRequest

MEMBERS = (1, 5, 50)
HEAD = (
    *("members", "start", "join", "memory each", "write", "writes", "p99", "failed"),
    *("calls", "CPU", "idle", "dropped"),
)
WRITERS = 10
"""Clients that write at the same time, spread over all members."""
IDLE_SECONDS = 5.0
DROP_SECONDS = 10.0
NETWORK = "127.87.0"
METHOD = (
    "a process per peer, all on this machine and its one disk; each is joined by the one before. "
    "Latency is of one client that writes {few} times, one after the other; the rate is that of "
    "{writers} clients that write {many} times together. A write is acknowledged once it is synced "
    "at the writer, at another member, and was told to all others, or after a second; failed "
    "are those that took more than 5 s, or were refused. Calls between members and CPU of all of "
    "them are per write of the {writers} clients. Idle is the CPU of all over {idle:g} s. Dropped: "
    "the first member is killed; until no list has it."
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a network of some size did."""

    members: int
    start: float
    join: float
    memory: float
    latency: float
    rate: float
    slowest: float
    failed: int
    calls: float
    cpu: float
    idle: float
    dropped: float

    def row(self) -> tuple[str, ...]:
        return (
            f"{self.members}",
            f"{self.start:.1f} s",
            f"{self.join * 1000:.0f} ms",
            f"{self.memory:.0f} MB",
            f"{self.latency * 1000:.0f} ms",
            f"{self.rate:.0f}/s",
            f"{self.slowest * 1000:.0f} ms",
            f"{self.failed}",
            f"{self.calls:.1f}",
            f"{self.cpu * 1000:.0f} ms",
            f"{self.idle * 100:.1f} %",
            f"{self.dropped:.1f} s" if self.dropped else "",
        )


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure a peer alone, a small network and a large one."""
    writes = max(sizes.requests // 10, WRITERS)
    results = []
    for members in MEMBERS:
        say(f"lightpeers: {members}")
        results.append(asyncio.run(_measure(members, writes)))
    slowest = max(each.dropped for each in results)
    promise = f"a dead member dropped within {DROP_SECONDS:.0f} s"
    yield Table(
        "Networks of lightpeers",
        METHOD.format(few=writes // WRITERS, writers=WRITERS, many=writes, idle=IDLE_SECONDS),
        HEAD,
        [each.row() for each in results],
        [Budget(promise, f"{slowest:.1f} s", slowest <= DROP_SECONDS)],
    )


class Network:
    """The processes, and how to ask them."""

    def __init__(self, folder: Path, members: int) -> None:
        self.addresses = [f"{NETWORK}.{number}:9081" for number in range(1, members + 1)]
        self.channels = Channels()
        self.failures = 0
        self.processes = [_start(each, folder) for each in self.addresses]

    async def ask(self, address: str, method: Method[Any, Any], message: Any) -> Any:
        reply = await self.channels.ask(address, method, message, seconds=30, metadata={})
        return reply.message

    async def up(self) -> None:
        """Wait until everybody serves."""
        for address in self.addresses:
            await _until(partial(self._serves, address))

    async def write(self, writer: int, times: int) -> list[float]:
        """Write some times at one member; how long each took."""
        took = []
        for number in range(times):
            began = monotonic()
            payload = PersistRequest(b"%d %d" % (writer, number))
            try:
                await self.ask(self.addresses[writer % len(self.addresses)], PERSIST, payload)
            except Failed:
                self.failures += 1
            else:
                took.append(monotonic() - began)
        return took

    async def calls(self) -> int:
        """How many calls the members have made to each other so far."""
        told = [await self.ask(each, GET_STATUS, StatusRequest()) for each in self.addresses]
        return sum(each.calls for each in told)

    async def dropped(self) -> float:
        """Kill the first member; how long the others list it."""
        self.processes[0].kill()
        began = monotonic()
        for address in self.addresses[1:]:
            await _until(partial(self._forgot, address))
        return monotonic() - began

    async def _forgot(self, address: str) -> bool:
        status = await self.ask(address, GET_STATUS, StatusRequest())
        return len(status.members) < len(self.addresses)

    async def _serves(self, address: str) -> bool:
        try:
            await self.ask(address, HEALTH_CHECK, HealthCheckRequest())
        except Failed:
            return False
        return True


def _start(address: str, folder: Path) -> subprocess.Popen[bytes]:
    flags = (f"-repo={folder / address}", f"-host={address.partition(':')[0]}")
    line = (sys.executable, "-m", "quintant", "agent", "lightpeer", *flags)
    return subprocess.Popen(line, stderr=subprocess.DEVNULL)


async def _until(true: Callable[[], Awaitable[bool]]) -> None:
    while not await true():  # noqa: ASYNC110 - another process changes it
        await asyncio.sleep(0.02)


@asynccontextmanager
async def _network(members: int) -> AsyncIterator[Network]:
    with tempfile.TemporaryDirectory() as folder:
        network = Network(Path(folder), members)
        try:
            yield network
        finally:
            await network.channels.close()
            for process in network.processes:
                process.kill()
                process.wait()


async def _measure(members: int, writes: int) -> Result:
    began = monotonic()
    async with _network(members) as network:
        await network.up()
        started = monotonic()
        for contact, joiner in pairwise(network.addresses):
            await network.ask(joiner, JOIN_NETWORK, JoinRequest(contact))
        joined = monotonic()
        pids = [process.pid for process in network.processes]
        alone = sorted(await network.write(members - 1, writes // WRITERS))
        calls, spent = await network.calls(), cpu(pids)
        before = monotonic()
        share = writes // WRITERS
        rows = await asyncio.gather(*(network.write(each, share) for each in range(WRITERS)))
        after = monotonic()
        used = cpu(pids)
        calls = await network.calls() - calls
        await asyncio.sleep(IDLE_SECONDS)
        took = sorted(each for row in rows for each in row)
        return Result(
            members=members,
            start=started - began,
            join=(joined - started) / max(members - 1, 1),
            memory=usage(pids[-1]).rss / MEGABYTE,
            latency=alone[len(alone) // 2],
            rate=len(took) / (after - before),
            slowest=took[int(len(took) * 0.99)],
            failed=network.failures,
            calls=calls / writes,
            cpu=(used - spent) / writes,
            idle=(cpu(pids) - used) / IDLE_SECONDS,
            dropped=await network.dropped() if members > 1 else 0.0,
        )
