"""Members of a sharded manager in one process, on a network with faults, and the server as witness.

Each member is a process of its own as far as that goes: its callbacks can be held back (`pause`, as
SIGSTOP and a machine that sleeps do), its network cut, its clock is wrong, it is killed or stopped.
The witness notes every write in the order of the server's revisions, and every map; who wrote what
is then compared with the map of that revision.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import Context as TaskContext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from quintant import Context, Manager, ObjectMeta, owned
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap
from quintant.client.request_info import resource_path
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core import codec
from quintant.core.clock import LoopClock, Random, monotonic
from quintant.core.errors import ConnectError, DeadlineExceeded, LeadershipLost
from quintant.core.object import Request
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.shard.group_lease import HOLDER, MAP
from quintant.runtime.shard.layout import LEADER, range_of
from quintant.runtime.shard.range_states import RangeState
from quintant.runtime.shard.shard_map import ShardMap, decode_map
from quintant.testing import InProcessCluster
from quintant.testing.pausable_loop import PausableLoop
from scenarios.greeter import Greeter, GreeterStatus, greeter

GROUP = "greeter"
ANSWER_SECONDS = 60.0
RESTART_SECONDS = 1.0
LOOK_SECONDS = 0.1
MARK = re.compile(r" range=(leader|\d+) epoch=(\d+)$")
PROCESS: ContextVar[str | None] = ContextVar("process", default=None)


@dataclass(frozen=True)
class ObservedWrite:
    """A write of a member, as the server carried it out."""

    version: int
    writer: str
    object: str
    range: int
    epoch: int
    text: str
    """What the write wants to say, where that can be told."""


@dataclass
class Witness:
    """What the server has carried out."""

    maps: list[tuple[int, ShardMap | None]] = field(default_factory=list)
    writes: list[ObservedWrite] = field(default_factory=list)
    leases: int = 0

    def note(self, writer: str, call: ApiRequest, reply: ApiResponse) -> None:
        path = resource_path(call.path)
        if path.plural == "leases":
            self.leases += 1
            if path.name == GROUP or GROUP.encode() in reply.body:
                self._note_map(codec.decode(Lease, reply.body))
        elif path.plural != "events":
            self._note_write(writer, call, reply)

    def _note_map(self, lease: Lease) -> None:
        if lease.metadata.name != GROUP:
            return
        text = lease.metadata.annotations.get(MAP, "")
        ours = lease.spec.holder_identity in (HOLDER, "") and text
        version = int(lease.metadata.resource_version)
        self.maps.append((version, decode_map(text) if ours else None))

    def _note_write(self, writer: str, call: ApiRequest, reply: ApiResponse) -> None:
        mark = MARK.search(call.headers.get("user-agent", ""))
        assert mark is not None, f"{writer} wrote {call} without saying what for"
        number = LEADER if mark[1] == "leader" else int(mark[1])
        stored = codec.decode(ConfigMap, reply.body)
        version, name = int(stored.metadata.resource_version), f"{call.path}"
        text = stored.data.get("text", "")
        self.writes.append(ObservedWrite(version, writer, name, number, int(mark[2]), text))

    def violations(self) -> list[str]:
        """Writes that were not the writer's to send, and what was written twice by two."""
        return [*self._by_others(), *self._twice()]

    def _by_others(self) -> list[str]:
        found = []
        for write in self.writes:
            shards = self._map_of(write.version)
            holder = shards.held.get(write.range) if shards is not None else None
            name = write.object.split("/")[-1].removesuffix("/status")
            if write.object.endswith("/status"):
                name = write.object.split("/")[-2]
            if holder is None or holder.epoch != write.epoch:
                found.append(f"{write} is not of {holder}")
            if write.range != range_of(Request(name, "default"), 128):
                found.append(f"{write} is in another range")
        return found

    def _map_of(self, version: int) -> ShardMap | None:
        """The map in force at a revision; one that is begun anew counts once it is proven."""
        found: ShardMap | None = None
        for at, shards in sorted(self.maps, key=lambda each: each[0]):
            if at < version and shards is not None and (shards.proven or found is None):
                found = shards
        return found

    def _twice(self) -> list[str]:
        """A text that a second holder wrote again: it had not seen what the first one wrote."""
        first: dict[tuple[str, str], ObservedWrite] = {}
        found = []
        for write in sorted(self.writes, key=lambda each: each.version):
            if not write.text:
                continue
            before = first.setdefault((write.object, write.text), write)
            if before.epoch != write.epoch:
                found.append(f"{write} repeats {before}")
        return found


@dataclass
class Link:
    """The way of one process to the server: it may be cut, slow, or lose answers. A Transport."""

    server: ApiServer
    witness: Witness
    name: str
    random: Random
    outside: TaskContext
    """Where the server runs: a process that is paused does not stop it."""
    cut: bool = False
    lossy: float = 0.0
    """The share of requests and of answers that get lost."""
    leaseless: bool = False
    """Whether requests about Leases get lost, and no others."""
    frozen: str = ""
    """The plural of a kind whose watches bring nothing for now."""

    async def request(self, call: ApiRequest) -> ApiResponse:
        await asyncio.sleep(0.001)
        if call.fence is not None:
            call.fence(call)
        loop = asyncio.get_running_loop()
        work = loop.create_task(self._deliver(call), context=self.outside.copy())
        try:
            async with asyncio.timeout(call.timeout or ANSWER_SECONDS):
                reply = await asyncio.shield(work)
        except TimeoutError:
            raise DeadlineExceeded(f"{call}: no answer") from None
        finally:
            work.add_done_callback(_look)
        if self.cut or self.random.random() < self.lossy:
            raise ConnectError("the answer was lost")
        return reply

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        async with self.server.stream(call) as stream:
            plural = resource_path(call.path).plural
            yield replace(stream, chunks=self._late(plural, stream.chunks))

    async def _late(self, plural: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            while self.frozen == plural or self.cut:  # noqa: ASYNC110  # tests flip both
                await asyncio.sleep(LOOK_SECONDS)
            yield chunk

    async def close(self) -> None: ...

    async def _deliver(self, call: ApiRequest) -> ApiResponse:
        await asyncio.sleep(self.random.uniform(0.001, 0.02))
        leases = self.leaseless and resource_path(call.path).plural == "leases"
        if self.cut or leases or self.random.random() < self.lossy:
            raise ConnectError("lost on the way")
        reply = await self.server.request(call)
        if call.method not in ("GET", "DELETE") and reply.status < 300:
            self.witness.note(self.name, call, reply)
        return reply


def _look(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


@dataclass(frozen=True)
class WrongClock:
    """A wall clock that is ahead or behind."""

    offset: float

    def now(self) -> datetime:
        return LoopClock().now() + timedelta(seconds=self.offset)


async def reconcile(obj: Greeter, ctx: Context[Greeter]) -> None:
    child = await ctx.client.find(ConfigMap, obj.key.name, obj.key.namespace)
    if child is None or child.data.get("text") != obj.spec.message:
        await asyncio.sleep(ctx.random.uniform(0, 0.5))
        said = ConfigMap(metadata=ObjectMeta.like(obj), data={"text": obj.spec.message})
        await ctx.apply(owned(said, by=obj))
    await ctx.set_status(GreeterStatus(greeted=True))


def sharded_manager(**settings: Any) -> Manager:
    """The greeter, sharded, with a grace that a test of minutes can wait for."""
    manager = Manager(GROUP, **{"shards": True, "grace": 10.0, **settings})
    manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
    return manager


@dataclass
class Process:
    """One member: an engine, begun again by whoever watches over it when it ends by itself."""

    world: ShardWorld
    name: str
    seed: int
    skew: float = 0.0
    link: Link = field(init=False)
    engine: Engine = field(init=False)
    task: asyncio.Task[None] = field(init=False)
    alive: bool = True

    def __post_init__(self) -> None:
        world, random = self.world, Random(self.seed)
        outside = copy_context()
        self.link = Link(world.cluster.server, world.witness, self.name, random, outside)
        inside = copy_context()
        inside.run(PROCESS.set, self.name)
        loop = asyncio.get_running_loop()
        self.task = loop.create_task(self._run(random), context=inside)

    async def _run(self, random: Random) -> None:
        while True:
            environment = Environment(self.link, WrongClock(self.skew), random)
            self.engine = self.world.manager().bind(environment)
            try:
                await self.engine.run()
            except* LeadershipLost:
                await asyncio.sleep(RESTART_SECONDS)

    def pause(self) -> None:
        self.world.loop.pause(self.name)

    def resume(self) -> None:
        self.world.loop.resume(self.name)

    async def stop(self) -> None:
        """End in order, as SIGTERM does."""
        self.alive = False
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def kill(self) -> None:
        """End between two moments."""
        self.engine.abandon()
        self.link.cut = True
        await self.stop()

    def within(self, state: RangeState) -> set[int]:
        """The ranges that are in a state here, the leader's not among them."""
        coordinator = self.engine.coordinator
        assert coordinator is not None, "it is sharded"
        return {*coordinator.owned.within((state,))} - {LEADER} if self.alive else set()

    def counts(self, state: RangeState) -> int:
        """How many ranges are in a state here."""
        return len(self.within(state))


@dataclass
class ShardWorld:
    """A cluster, its members, and somebody who edits."""

    cluster: InProcessCluster
    random: Random
    manager: Callable[[], Manager] = sharded_manager
    witness: Witness = field(default_factory=Witness)
    processes: list[Process] = field(default_factory=list)
    started: int = 0
    edits: int = 0

    @property
    def loop(self) -> PausableLoop:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, PausableLoop), "a world needs a loop that can pause a process"
        return loop

    def start(self, *, skew: float = 0.0) -> Process:
        self.started += 1
        process = Process(self, f"p{self.started}", self.random.randrange(2**32), skew)
        self.processes.append(process)
        return process

    async def edit(self, name: str) -> None:
        self.edits += 1
        await self.cluster.client.apply(greeter(name, f"message {self.edits}"))

    async def live(self, seconds: float, names: list[str], every: float = 1.0) -> None:
        """Let time pass, with an edit every now and then."""
        until = monotonic() + seconds
        while monotonic() < until:
            if names:
                await self.edit(self.random.choice(names))
            await asyncio.sleep(min(every, max(0.0, until - monotonic())))

    async def close(self) -> None:
        for process in self.processes:
            process.resume()
            if process.alive:
                await process.kill()

    async def disagreements(self) -> list[str]:
        """What is not as it must be at rest."""
        living = [each for each in self.processes if each.alive]
        held = [process.counts(RangeState.HELD) for process in living]
        found = [f"ranges at work: {held}"] if sum(held) != 128 else []
        if held and max(held) - min(held) > 1:
            found.append(f"uneven: {held}")
        for obj in await self.cluster.client.list(Greeter):
            child = await self.cluster.client.find(ConfigMap, obj.key.name, obj.key.namespace)
            if child is None or child.data.get("text") != obj.spec.message:
                found.append(f"{obj.key} is behind")
            if obj.status is None:
                found.append(f"{obj.key} has no status")
        return found
