"""Two replicas work at once; or the one that works is dead, and the others wait for minutes.

Replicas that pause each other by good manners are no lock. Here the server itself is the witness:
it notes, at the moment of each write, who wrote and who held the lease.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field

from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core import codec
from quintant.core.clock import Clock, Random, monotonic
from quintant.core.errors import LeadershipLost, leaf_errors
from quintant.runtime.leader.lease import LEASE_SECONDS, RETRY_SECONDS
from quintant.runtime.manager.environment import Environment
from quintant.testing import InProcessCluster, kind, verb, writes
from quintant.testing.faults.transport import FaultTransport
from scenarios.greeter import Greeter, greeter, greeter_manager
from scenarios.soak_size import sized

REPLICAS = 3
DEATHS = 50
FAILOVER_SECONDS = LEASE_SECONDS + 2
WARM_SECONDS = 1.0
EDIT_SECONDS = 0.25
NAMES = [f"g{number}" for number in range(5)]
leases = kind(Lease) & verb("create", "update", "patch")


@dataclass(frozen=True)
class Write:
    """A write as the server saw it."""

    at: float
    writer: str
    holder: str


@dataclass
class Witness:
    """What the server knows of its writers."""

    holder: str = ""
    """Who holds the lease."""
    terms: list[tuple[str, float]] = field(default_factory=list)
    """Who took the lease, and when."""
    writes: list[Write] = field(default_factory=list)

    def note(self, writer: str, call: ApiRequest, reply: ApiResponse) -> None:
        """A replica has written something."""
        if not kind(Lease)(call):
            self.writes.append(Write(monotonic(), writer, self.holder))
            return
        held = codec.decode(Lease, reply.body).spec.holder_identity
        if held and self.holder != writer:
            self.terms.append((writer, monotonic()))
        self.holder = writer if held else ""


@dataclass(frozen=True)
class Door:
    """The door to the server that one replica uses, with the witness beside it."""

    server: ApiServer
    witness: Witness
    name: str

    async def request(self, call: ApiRequest) -> ApiResponse:
        reply = await self.server.request(call)
        if (writes | leases)(call) and reply.status < 300:
            self.witness.note(self.name, call, reply)
        return reply

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self.server.stream(call)


class Replica:
    """One process: an engine, its task, and its own way to the server."""

    def __init__(self, door: Door, clock: Clock, seed: int) -> None:
        self.name = door.name
        self.faults = FaultTransport(InProcessTransport(door))
        environment = Environment(self.faults, clock, Random(seed))
        self.engine = greeter_manager(leader_elect=True).bind(environment)
        self.task = asyncio.ensure_future(self.engine.run())

    async def stop(self) -> None:
        """End in order, as in a rolling update."""
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def kill(self) -> None:
        """End between two moments: nothing is released."""
        self.engine.abandon()
        await self.stop()

    async def isolate(self) -> None:
        """Lose the network: the process lives on, and does not know."""
        self.faults.stall()

    async def hinder(self) -> None:
        """Lose the lease only, while other writes are under way for seconds."""
        self.faults.refuse(kind(Lease))
        self.faults.delay(4.5, writes)

    async def jam(self) -> None:
        """The same, with writes that would arrive when another replica leads."""
        self.faults.refuse(kind(Lease))
        self.faults.delay(8, writes)

    def lost(self) -> bool:
        """Whether the process has ended itself because of the lease."""
        if not self.task.done() or self.task.cancelled():
            return False
        error = self.task.exception()
        return error is not None and isinstance(leaf_errors(error)[0], LeadershipLost)


@dataclass
class Replicas:
    """Replicas that come and go, and somebody who edits all the time."""

    cluster: InProcessCluster
    random: Random
    witness: Witness = field(default_factory=Witness)
    replicas: list[Replica] = field(default_factory=list)
    started: int = 0

    def fill(self) -> None:
        while len(self.replicas) < REPLICAS:
            self.started += 1
            door = Door(self.cluster.server, self.witness, f"replica-{self.started}")
            seed = self.random.randrange(2**32)
            self.replicas.append(Replica(door, self.cluster.clock, seed))

    async def live(self, seconds: float) -> None:
        """Let time pass with an edit every now and then."""
        until = monotonic() + seconds
        while monotonic() < until:
            name = self.random.choice(NAMES)
            await self.cluster.client.apply(greeter(name, f"at {monotonic()}"))
            await asyncio.sleep(EDIT_SECONDS)

    def take_leader(self) -> Replica:
        leader = next(each for each in self.replicas if each.name == self.witness.holder)
        self.replicas.remove(leader)
        return leader

    async def kill_leader(self) -> float:
        """Let the leader die in one of many ways; returns when it did."""
        leader = self.take_leader()
        died = monotonic()
        how = self.random.choice([leader.kill, leader.isolate, leader.hinder, leader.jam])
        await how()
        await self.live(FAILOVER_SECONDS + WARM_SECONDS)
        assert leader.lost() or how == leader.kill
        return died

    async def close(self) -> None:
        for replica in self.replicas:
            await replica.kill()


async def test_soak_there_are_never_two_writers_and_a_standby_takes_over_warm(
    cluster: InProcessCluster,
) -> None:
    replicas = Replicas(cluster, Random(0))
    witness = replicas.witness
    await cluster.install(Greeter)
    replicas.fill()
    await replicas.live(5)
    for _ in range(sized(DEATHS)):
        replicas.fill()
        await replicas.live(replicas.random.uniform(0, 5))
        before = len(witness.terms)
        died = await replicas.kill_leader()

        ((heir, acquired),) = witness.terms[before:]
        assert acquired - died <= FAILOVER_SECONDS
        first = min(write.at for write in witness.writes if write.writer == heir)
        assert 0 <= first - acquired < WARM_SECONDS
    await replicas.live(5)
    await replicas.close()
    await check(replicas)


async def test_replica_that_is_stopped_hands_over_at_once(cluster: InProcessCluster) -> None:
    replicas = Replicas(cluster, Random(0))
    await cluster.install(Greeter)
    replicas.fill()
    await replicas.live(5)
    for _ in range(REPLICAS):
        await replicas.take_leader().stop()
        stopped = monotonic()
        replicas.fill()
        await replicas.live(3)
        assert replicas.witness.terms[-1][1] - stopped <= RETRY_SECONDS
    await replicas.live(5)
    await replicas.close()
    await check(replicas)


async def check(replicas: Replicas) -> None:
    """Only holders of the lease wrote, and nothing was left undone."""
    cluster, witness = replicas.cluster, replicas.witness
    assert witness.writes
    assert all(write.writer == write.holder for write in witness.writes)
    for obj in await cluster.client.list(Greeter):
        child = await cluster.get(ConfigMap, obj.metadata.name)
        assert child.data["text"] == obj.spec.message
