"""One process of a sharded manager: declarations as ranges, and what is done with those it holds.

Loaded by managers that are sharded. `ShardedWork` connects the coordinator with the controllers and
caches of one engine; `run_on_leader` is for what only one member does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec import Struct

from quintant.api.coordination import Lease
from quintant.client.fence import FENCE_KEY, FenceKey
from quintant.client.rest import Rest
from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import Transport
from quintant.core.clock import Boottime, Clock, Random
from quintant.core.errors import ConfigError
from quintant.core.object import Object, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.informer import Informer
from quintant.runtime.cache.partial.partial_informer import PartialInformer
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.kept_objects import check_decidable
from quintant.runtime.leader.elector import replica_identity
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.coordinator import Coordinator
from quintant.runtime.shard.fill import fill_caches
from quintant.runtime.shard.group_lease import ShardGroup, unused_group
from quintant.runtime.shard.layout import (
    LEADER,
    Shards,
    by_key,
    by_namespace,
    make_layout,
    shard_key_name,
)
from quintant.runtime.shard.owned_ranges import OwnedRanges, ShardedController
from quintant.runtime.shard.range_states import RangeState
from quintant.runtime.shard.sent_writes import SentWrites
from quintant.runtime.shard.shard_map import ShardMap
from quintant.runtime.shard.shard_metrics import ShardMetrics

FIRST_MAP = "first"
"""What the map is called that is installed with a program."""
LONGEST_NAME = 50
"""Of a manager: with a member's name behind it, it is a label and the name of a Lease."""


class GroupSettings(Struct, frozen=True):
    """What a manager says of its group."""

    name: str
    namespace: str
    """Of the Leases."""
    ranges: int
    grace: float


class ProcessEnvironment(Protocol):
    """What a process is bound to."""

    @property
    def transport(self) -> Transport: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def random(self) -> Random: ...
    @property
    def boottime(self) -> Boottime: ...
    @property
    def identity(self) -> str: ...


def check_shards(name: str, declarations: Iterable[Declaration[Any]]) -> None:
    """ConfigError for what makes no sense in a sharded manager."""
    if len(name) > LONGEST_NAME:
        raise ConfigError(
            f"manager {name!r} cannot be sharded",
            because=f"its name is a label of Leases, and has more than {LONGEST_NAME} letters",
            hint="give it a shorter name",
        )
    for declared in declarations:
        if declared.daemon is not None:
            raise ConfigError(
                f"controller {declared.name!r} has daemons, and its manager is sharded",
                because="a range cannot be given to another member while tasks run in it",
                hint="use leader_elect=True, or do it in reconciles: return Result(after=...)",
            )
        if declared.workers == 1 and not declared.single:
            raise ConfigError(
                f"controller {declared.name!r} has one worker on each of several members",
                because="one worker means one key at a time, and every member would have its own",
                hint="say .single(), so that one member works on all of its keys",
            )
        for watch in declared.watches:
            check_decidable(declared, watch, by_namespace=declared.shard_key is by_namespace)


def sharded_controllers(declarations: Iterable[Declaration[Any]]) -> list[ShardedController]:
    """How the keys of these controllers are divided."""
    return [
        ShardedController(
            declared.name,
            None if declared.single else declared.shard_key or by_key,
            _resource(declared),
        )
        for declared in declarations
    ]


def layout_digest(ranges: int, controllers: Iterable[ShardedController]) -> str:
    """What tells members of another layout from ours."""
    named = (
        (each.name, shard_key_name(each.key) if each.key else "single") for each in controllers
    )
    return make_layout(ranges, named).digest


def new_group(
    name: str, namespace: str, shards: Shards, declarations: Iterable[Declaration[Any]]
) -> Lease:
    """The Lease of a group in a cluster in which no member and no leader of it has ever been."""
    layout = layout_digest(shards.ranges, sharded_controllers(declarations))
    return unused_group(name, namespace, ShardMap(layout, shards.ranges, id=FIRST_MAP))


class ShardedProcess:
    """The shards of one engine: its ranges, its coordinator, and the fence of its writes."""

    def __init__(
        self,
        settings: GroupSettings,
        declarations: Sequence[Declaration[Any]],
        machine: ProcessEnvironment,
    ) -> None:
        controllers = sharded_controllers(declarations)
        self.owned: OwnedRanges = OwnedRanges(settings.ranges, controllers)
        self.metrics: ShardMetrics = ShardMetrics(self.owned)
        self.transport: SentWrites = SentWrites(machine.transport, self.owned, self.metrics.refused)
        """Below retries: it knows which writes have left."""
        self._leases = LeaseClient(Rest(machine.transport), settings.namespace)
        self._machine = machine
        layout = layout_digest(settings.ranges, controllers)
        self._group = ShardGroup(settings.name, layout, settings.ranges, settings.grace)

    def coordinate(
        self,
        controllers: Sequence[Controller[Any]],
        caches: Caches,
        bucket: TokenBucket | None = None,
    ) -> Coordinator:
        """Who keeps this process in its group; it is run by the engine.

        `bucket` is what the requests of the whole program wait for.
        """
        machine = self._machine
        work = ShardedWork(
            self.owned,
            controllers,
            bucket,
            caches,
            partial(fill_caches, self._leases.rest, caches, machine.random),
        )
        return Coordinator(
            self._leases,
            self._group,
            self.owned,
            work,
            self.metrics,
            clock=machine.clock,
            boottime=machine.boottime,
            random=machine.random,
            holder=machine.identity or replica_identity(machine.random),
        )


class ShardedWork:
    """A RangeWork: the controllers and caches of one engine."""

    def __init__(
        self,
        owned: OwnedRanges,
        controllers: Sequence[Controller[Any]],
        bucket: TokenBucket | None,
        caches: Iterable[Informer[Any]],
        fill: Callable[[], Awaitable[None]],
    ) -> None:
        self._owned, self._controllers, self._bucket = owned, controllers, bucket
        self._caches = caches
        self._fill = fill
        owned.calls = self._calls

    async def fill(self) -> None:
        await self._fill()

    def held(self, ranges: frozenset[int]) -> None:
        for controller in self._controllers:
            controller.begin_keys(self._within(controller, ranges))

    def evict(self, ranges: frozenset[int]) -> None:
        for controller in self._controllers:
            controller.forget_keys(self._within(controller, ranges))
        # Last: a key that is not in a cache any more is not found there.
        for informer in self._caches:
            if isinstance(informer, PartialInformer):
                informer.evict()

    def divide(self, members: int) -> None:
        if self._bucket is not None:
            self._bucket.divide(members)
        for controller in self._controllers:
            controller.divide(members)

    def _within(
        self, controller: Controller[Any], ranges: frozenset[int]
    ) -> Callable[[Request], bool]:
        return lambda key: self._owned.range_of(controller.name, key) in ranges

    def _calls(self) -> Iterator[tuple[str, Request]]:
        for controller in self._controllers:
            for key in controller.calls_under_way():
                yield controller.name, key


async def run_on_leader(owned: OwnedRanges, name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run something while the range `leader` is held here, and begin it again when it is again."""
    while True:
        await owned.until(lambda: owned.state(LEADER) is RangeState.HELD)
        key = FenceKey("", LEADER, owned.epochs[LEADER])
        if await _lead(owned, key, Request(name), work):
            return


async def _lead(
    owned: OwnedRanges, key: FenceKey, request: Request, work: Callable[[], Awaitable[None]]
) -> bool:
    """Whether it was over by itself, and not cancelled because the range goes."""
    async with asyncio.TaskGroup() as group:
        before = FENCE_KEY.set(key)
        task = group.create_task(_run(work))
        FENCE_KEY.reset(before)
        owned.begin(LEADER, key, request, lambda: _cancel(task))
        try:
            await owned.until(lambda: task.done() or owned.state(LEADER) is not RangeState.HELD)
        finally:
            over = task.done() and not task.cancelling()
            task.cancel()
            await asyncio.wait({task})
            owned.end(key, request)
    return over


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    await work()


def _resource(declared: Declaration[Any]) -> tuple[str, str] | None:
    if declared.kind is None:
        return None
    kind: type[Object] = declared.kind
    resource = resource_of(kind)
    return resource.group, resource.plural
