"""Members of a sharded program that are killed, stopped and cut off, before a real API server.

They are processes of their own, each behind a proxy; its audit log is the witness.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

import patience
from envtest import RealCluster
from envtest.access import kubeconfig, write_secret
from examples_support import EXAMPLES, load_example
from quintant import Client, Config
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.clock import SystemClock
from quintant.core.errors import ApiError, TransportError
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.shard.group_report import report
from quintant.testing import named
from real.proxy import Proxy
from scenarios.program import Program, running
from scenarios.soak_size import SHARE
from testbeds.audited_cluster import audited_cluster
from testbeds.shard_audit import POLICY, AuditedGroup

pytestmark = pytest.mark.realtime

SHARDS = EXAMPLES / "09_shards.py"
example = load_example("09_shards")
Order, OrderSpec = example.Order, example.OrderSpec
NAMES = tuple(f"o{number}" for number in range(40))
RANGES = 129
"""Those of keys, and that of the leader."""
FAULTS = 100 if SHARE == 1 else 4
"""100 of them with `make test-real K=shards QUINTANT_SOAK=1`."""
FROZEN_SECONDS, CUT_SECONDS = 20.0, 25.0
PACE_SECONDS, GAP_SECONDS, LOOK_SECONDS = 0.1, 3.0, 0.5
FAULT_SECONDS = GAP_SECONDS if SHARE > 1 else 12.0
"""Between two faults: of many, most are to find members that work again."""
REST_SECONDS = 90.0
"""Until all is quiet again, on a quiet machine."""
TROUBLE = (ApiError, TransportError)


@dataclass
class ShardMember:
    """A process, and its own way to the API server."""

    file: Path
    config: Path
    proxy: Proxy
    stack: ExitStack = field(default_factory=ExitStack)
    program: Program | None = None
    in_trouble: asyncio.Lock = field(default_factory=asyncio.Lock)

    def start(self) -> Program:
        self.program = self.stack.enter_context(running(self.file, self.config))
        return self.program

    def signal(self, number: signal.Signals) -> None:
        assert self.program is not None
        self.program.process.send_signal(number)

    async def kill(self) -> None:
        """End it as it is, and start another one."""
        self.signal(signal.SIGKILL)
        self.stack.close()
        self.start()

    async def freeze(self) -> None:
        """Let it stand still, and go on where it was."""
        self.signal(signal.SIGSTOP)
        await asyncio.sleep(FROZEN_SECONDS)
        self.signal(signal.SIGCONT)

    async def cut(self) -> None:
        """Let nothing through to the API server."""
        self.proxy.refuse()
        self.proxy.cut()
        await asyncio.sleep(CUT_SECONDS)
        self.proxy.resume()

    async def stop(self) -> int:
        assert self.program is not None
        try:
            return await self.program.stop()
        finally:
            self.stack.close()


@dataclass
class AuditedWorld:
    """A real control plane with an audit log, and a client of its own."""

    cluster: RealCluster
    log: Path
    client: Client
    stack: AsyncExitStack
    random: Random = field(default_factory=lambda: Random(1))

    async def member(self, file: Path) -> ShardMember:
        """A process with a proxy of its own, at work from now on."""
        server = urlsplit(self.cluster.server)
        host, port = server.hostname or "", server.port or 443
        proxy = await self.stack.enter_async_context(Proxy.before(host, port))
        access = self.cluster.access
        config = self.log.parent / f"kubeconfig-{proxy.port}"
        there = f"https://{host}:{proxy.port}"
        write_secret(config, kubeconfig(there, access.token, access.ca.read_bytes()))
        made = ShardMember(file, config, proxy)
        self.stack.callback(made.stack.close)
        made.start()
        return made

    async def change(self, name: str, amount: int) -> None:
        """Order something else."""
        spec = OrderSpec(amounts=[amount])
        await self.client.apply(Order(metadata=named(name), spec=spec))

    async def load(self) -> None:
        """Change orders for ever, whatever the API server does meanwhile."""
        for amount in range(1, 1_000_000):
            with suppress(*TROUBLE):
                await self.change(self.random.choice(NAMES), amount)
            await asyncio.sleep(PACE_SECONDS)

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        async with patience.within(REST_SECONDS):
            while True:
                with suppress(*TROUBLE):
                    if await condition():
                        return
                await asyncio.sleep(LOOK_SECONDS)

    async def shared_by(self, members: int) -> bool:
        """Whether so many members hold every range once, and the same number of them."""
        leases = await self.client.list(Lease, "default", live=True)
        found = report("orders", "default", leases, SystemClock().now())
        held = [len(each.held) for each in found.members if each.state == "ready"]
        keys = [*held, 0]
        return len(held) == members and sum(held) == RANGES and max(keys) - min(held) <= 2

    async def led_by_one(self) -> bool:
        """Whether a leader holds the Lease, as a version without shards does."""
        lease = await self.client.find(Lease, "orders", "default", live=True)
        return lease is not None and lease.spec.holder_identity not in ("shards", "", None)

    async def current(self) -> bool:
        """Whether every order has the bill that it asks for, and says so."""
        orders = await self.client.list(Order, "default", live=True)
        bills = await self.client.list(ConfigMap, "default", live=True)
        # What the server has counts: a change that was cut short may have been carried out.
        wanted = {each.metadata.name: sum(each.spec.amounts) for each in orders}
        done = {each.metadata.name: each.status.total for each in orders if each.status}
        billed = {each.metadata.name: each.data.get("total") for each in bills}
        return done == wanted and billed.items() >= {n: str(t) for n, t in wanted.items()}.items()

    def audited(self) -> AuditedGroup:
        return AuditedGroup.read("orders", self.log)


@pytest.fixture
def audited(tmp_path: Path) -> Iterator[tuple[RealCluster, Path]]:
    with audited_cluster(tmp_path, POLICY) as found:
        yield found


@pytest_asyncio.fixture
async def world(audited: tuple[RealCluster, Path]) -> AsyncIterator[AuditedWorld]:
    cluster, log = audited
    transport = HttpTransport(Config.load(cluster.kubeconfig))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transport.close)
        await install_crds(transport, [Order])
        yield AuditedWorld(cluster, log, Client(Rest(transport), manager="tests"), stack)


@asynccontextmanager
async def under_load(world: AuditedWorld) -> AsyncIterator[None]:
    """Orders change as long as the context lasts."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(world.load())
        try:
            yield
        finally:
            task.cancel()


async def trouble(member: ShardMember, fault: Callable[[], Awaitable[None]]) -> None:
    """One fault of a member, when it has overcome the one before."""
    async with member.in_trouble:
        await fault()


async def disturb(world: AuditedWorld, members: list[ShardMember]) -> None:
    """Kill, stop, cut off and restart; a fault may begin before the one before is over."""
    kinds = ["kill", "freeze", "cut", "restart"]
    async with asyncio.TaskGroup() as group:
        for number in range(FAULTS):
            await asyncio.sleep(FAULT_SECONDS)
            kind = kinds[number] if number < len(kinds) else world.random.choice(kinds)
            if kind == "restart":
                # From this thread: the kernel ends what a thread began that is over.
                world.cluster.restart_server()
                continue
            member = world.random.choice(members)
            group.create_task(trouble(member, getattr(member, kind)))


async def test_no_key_has_two_writers_whatever_happens_to_three_processes(
    world: AuditedWorld,
) -> None:
    members = [await world.member(SHARDS) for _ in range(3)]
    await world.until(lambda: world.shared_by(3))
    async with under_load(world):
        await disturb(world, members)
        await world.until(lambda: world.shared_by(3))
    await world.until(world.current)
    found = world.audited()
    assert found.violations() == []
    assert found.unmarked == []
    assert len({write.epoch for write in found.witness.writes}) > 1
    assert [await each.stop() for each in members] == [0, 0, 0]


async def test_members_that_come_and_go_write_to_no_object_at_rest(world: AuditedWorld) -> None:
    members = [await world.member(SHARDS)]
    await world.until(lambda: world.shared_by(1))
    for amount, name in enumerate(NAMES):
        await world.change(name, amount)
    await world.until(world.current)
    before = len(world.audited().witness.writes)
    members += [await world.member(SHARDS) for _ in range(4)]
    await world.until(lambda: world.shared_by(5))
    assert [await each.stop() for each in members[:3]] == [0, 0, 0]
    await world.until(lambda: world.shared_by(2))
    found = world.audited()
    assert len(found.witness.writes) == before
    assert found.violations() == []


async def test_a_rollout_from_a_leader_to_shards_and_back_has_never_both_at_work(
    world: AuditedWorld, tmp_path: Path
) -> None:
    before = tmp_path / "orders.py"
    before.write_text(SHARDS.read_text().replace("shards=True", "leader_elect=True"))
    leader = await world.member(before)
    await world.until(world.led_by_one)
    async with under_load(world):
        members = [await world.member(SHARDS) for _ in range(2)]
        await asyncio.sleep(GAP_SECONDS)
        assert await world.led_by_one()
        assert await leader.stop() == 0
        await world.until(lambda: world.shared_by(2))
        await asyncio.sleep(GAP_SECONDS)
        leader.start()
        await asyncio.sleep(GAP_SECONDS)
        assert not await world.led_by_one()
        assert [await each.stop() for each in members] == [0, 0]
        await world.until(world.led_by_one)
        await asyncio.sleep(GAP_SECONDS)
    await world.until(world.current)
    found = world.audited()
    assert found.violations() == []
    assert found.unmarked
    assert found.witness.writes
    assert await leader.stop() == 0
