"""The ranges at this member: what each is, what of it is under way, and what may be written.

    worker ──begin──> HELD? ──key──> writes ──fence──> HELD or DRAINING, same epoch, Lease renewed?
    coordinator ──step──> states                ──end, answered──> drained?

Everything here is synchronous: no write can slip between the fence's answer and the connection. A
range is drained when no key of it is worked on, no call of it is under way, and every write that
left was answered, or is so old that the server has given it up.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final

from msgspec import Struct

from quintant.client.fence import FENCE_KEY, FenceKey
from quintant.client.request_info import resource_path
from quintant.client.transport import ApiRequest
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, NotLeader
from quintant.core.object import Request
from quintant.runtime.cache.partial.keep_rules import AllKeys
from quintant.runtime.cache.partial.partial_informer import PartialInformer
from quintant.runtime.shard.layout import (
    LEADER,
    ShardKey,
    by_key,
    by_namespace,
    range_name,
    range_of,
)
from quintant.runtime.shard.range_states import (
    COMING,
    OURS,
    WORKING,
    WRITING,
    RangeEvent,
    RangeState,
    next_state,
)

WRITE_SECONDS = 5.0
"""What a write may take, at the client and at the server: a Lease outlives the fence by more."""
LOOK_SECONDS = 0.5
"""How late it may be noticed that the server has given up a write without an answer."""


class ShardedController(Struct, frozen=True):
    """How the keys of a controller are divided."""

    name: str
    key: ShardKey | None
    """None: all of them are in the range `leader`."""
    resource: tuple[str, str] | None = None
    """Group and plural of the kind it controls, if it has one."""


class OwnedRanges:
    """The ranges of one process, whatever it is called in the map."""

    def __init__(self, ranges: int, controllers: Iterable[ShardedController]) -> None:
        self.ranges = ranges
        self.states: dict[int, RangeState] = {}
        self._ours: set[int] = set()
        """Those that are ours in the map: asked for with every object that comes."""
        self.all_keys: Final = AllKeys()
        self.epochs: dict[int, int] = {}
        self.overdue: dict[int, float] = {}
        """When ranges were given whose grace is over, and of which something goes on."""
        self.changed: Final = asyncio.Event()
        """Wakes who coordinates: something of a range that is given has ended, or is to be done."""
        self._moved = asyncio.Event()
        self.is_open: Callable[[], bool] = lambda: False
        """Whether our Lease was renewed in time."""
        self.calls: Callable[[], Iterable[tuple[str, Request]]] = tuple
        """Controllers and keys of long calls that are under way."""
        self._controllers = {each.name: each for each in controllers}
        self._by_resource: dict[tuple[str, str], list[ShardedController]] = {}
        for each in self._controllers.values():
            if each.resource is not None:
                self._by_resource.setdefault(each.resource, []).append(each)
        plurals = "|".join(re.escape(plural) for _, plural in self._by_resource)
        self._sharded_path: Final = re.compile(f"/(?:{plurals})(?:/|$)").search
        self._work: dict[int, dict[tuple[FenceKey, Request], Callable[[], None]]] = {}
        self._sent: dict[int, int] = {}
        self._unanswered: dict[int, float] = {}

    informer_type = PartialInformer

    def of(self, controller: str) -> _ControllerKeys:
        """The keys of one controller."""
        return _ControllerKeys(self, self._controllers[controller])

    def range_of(self, controller: str, request: Request) -> int:
        """The range of a controller's key."""
        return self.number_of(self._controllers[controller], request)

    def state(self, number: int) -> RangeState:
        return self.states.get(number, RangeState.FOREIGN)

    def within(self, states: Iterable[RangeState]) -> Iterator[int]:
        """The ranges that are in one of these states."""
        wanted = frozenset(states)
        return iter([number for number, state in self.states.items() if state in wanted])

    def step(self, number: int, event: RangeEvent, epoch: int = 0) -> RangeState:
        """What a range is after an event; `epoch` is that of a holding that begins."""
        state = next_state(self.state(number), event)
        if event is RangeEvent.TAKEN and state is RangeState.FILLING:
            self.epochs[number] = epoch
        if state is not RangeState.DRAINING:
            self.overdue.pop(number, None)
        if state is RangeState.FOREIGN:
            self.states.pop(number, None)
            self.epochs.pop(number, None)
        else:
            self.states[number] = state
        if state in OURS:
            self._ours.add(number)
        else:
            self._ours.discard(number)
        self.all_keys.held = len(self._ours) > self.ranges
        self._move()
        return state

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Return once something is so, of states and of what is under way."""
        while not is_so():
            with suppress(TimeoutError):  # that the server has given a write up is no event here
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._moved.wait()

    def _settle(self) -> None:
        """Tell who waits that something has ended, of a range that may go."""
        self.changed.set()
        self._move()

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    def lose(self) -> None:
        """Nothing is ours any more: what is under way ends, and can write nothing."""
        lost = [number for number in self.states if self.state(number) in OURS]
        for number in list(self.states):
            self.step(number, RangeEvent.LOST)
        self.abort(lost)

    def begin(
        self, number: int, key: FenceKey, request: Request, abort: Callable[[], None]
    ) -> None:
        """Note work on a key."""
        under_way = self._work.get(number)
        if under_way is None:
            under_way = self._work[number] = {}
        under_way[key, request] = abort

    def end(self, key: FenceKey, request: Request) -> None:
        """Note that work on a key has ended."""
        under_way = self._work[key.range]
        del under_way[key, request]
        if not under_way:
            del self._work[key.range]
            if self.states.get(key.range) not in WORKING:
                self._settle()

    def abort(self, numbers: Iterable[int]) -> None:
        """End what is under way of these ranges; it is over when `is_drained` says so."""
        for number in numbers:
            for abort in list(self._work.get(number, {}).values()):
                abort()

    def under_way(self, number: int) -> list[str]:
        """What of a range has not ended, in words."""
        keys = [f"{key.controller} {request}" for key, request in self._work.get(number, ())]
        return sorted({*keys, *(f"call of {name} {key}" for name, key in self._calls_of(number))})

    def by_weight(self) -> list[int]:
        """The ranges at work; those that have little under way, and are best given, first."""
        calls = self._count_calls()
        work = {number: len(under_way) for number, under_way in self._work.items()}
        held = self.within((RangeState.HELD,))
        return sorted(held, key=lambda number: (calls[number], work.get(number, 0)))

    def drained(self, numbers: Iterable[int]) -> set[int]:
        """Those of these ranges of which nothing is under way, here or at the server."""
        calls, now = self._count_calls(), monotonic()
        return {
            number
            for number in numbers
            if not (number in self._work or calls[number] or number in self._sent)
            and now >= self._unanswered.get(number, 0.0)
        }

    def is_drained(self, number: int) -> bool:
        """Whether nothing of one range is under way."""
        return bool(self.drained((number,)))

    def unsettled(self) -> list[int]:
        """Ranges, whoever's they are, of which something is under way."""
        known = {*self._work, *self._sent, *self._unanswered, *self._count_calls()}
        return sorted(known - self.drained(known))

    def sending(self, number: int) -> None:
        """Note that a write of a range is about to leave."""
        self._sent[number] = self._sent.get(number, 0) + 1

    def sent(self, number: int, *, answered: bool) -> None:
        """Note how a write of a range ended; the server may still be at one without an answer."""
        if not answered:
            self._unanswered[number] = monotonic() + WRITE_SECONDS
        left = self._sent[number] - 1
        if left:
            self._sent[number] = left
            return
        del self._sent[number]
        if self.states.get(number) not in WORKING:
            self._settle()

    def fence(self, call: ApiRequest | None = None, /) -> None:
        """Let a write pass that is ours; a Fence of the client."""
        key = FENCE_KEY.get()
        if key is None:
            raise ConfigError(
                f"a sharded manager does not send {call or 'this write'}",
                because="it belongs to no key, so every replica would send it",
                hint="write from a reconciler, or in manager.add(task, leader=True)",
            )
        number, epoch = key.range, key.epoch
        if self.states.get(number) not in WRITING or self.epochs[number] != epoch:
            raise NotLeader(f"range {range_name(number)} of epoch {epoch} is not held any more")
        if not self.is_open():
            raise NotLeader("this member could not renew its Lease in time")
        # Most writes are about children: their paths are not even taken apart.
        if call is not None and self._sharded_path(call.path):
            self._check_object(key, call)

    def _check_object(self, key: FenceKey, call: ApiRequest) -> None:
        """An object of a sharded kind is written by who holds its own key, too."""
        path = resource_path(call.path)
        controllers = self._by_resource.get((path.group, path.plural))
        if not controllers or (not path.name and call.method != "DELETE"):
            return
        if not path.name:
            raise ConfigError(
                f"a sharded manager does not send {call}",
                because="it deletes objects whose keys other replicas hold",
                hint="delete them one by one, each in the reconcile of its key",
            )
        own = [each for each in controllers if each.name == key.controller] or controllers
        for each in own:
            number = self.number_of(each, Request(path.name, path.namespace))
            if number != key.range and self.state(number) not in WRITING:
                raise NotLeader(f"{call.path} is in range {range_name(number)}, held elsewhere")

    def number_of(self, controller: ShardedController, request: Request) -> int:
        """The range of a key."""
        shard_key = controller.key
        if shard_key is None:
            return LEADER
        return range_of(request if shard_key is by_key else shard_key(request), self.ranges)

    def _count_calls(self) -> Counter[int]:
        # All at once: there may be thousands, and each is hashed.
        return Counter(self.range_of(name, key) for name, key in self.calls())

    def _calls_of(self, number: int) -> Iterator[tuple[str, Request]]:
        calls = self.calls()
        return ((name, key) for name, key in calls if self.range_of(name, key) == number)


class _ControllerKeys:
    """A KeyOwnership: one controller's keys. They decide what caches hold, too."""

    def __init__(self, owned: OwnedRanges, controller: ShardedController) -> None:
        self._owned, self._controller = owned, controller
        self._key, self._ours, self._ranges = controller.key, owned._ours, owned.ranges
        self._plain: bool = controller.key is by_key
        """Whether a key stands for itself, as most do."""
        self._fence_keys: dict[int, FenceKey] = {}
        self.end: Final = owned.end
        self.all_keys: AllKeys = owned.all_keys
        self.by_namespace: bool = controller.key is by_namespace
        self.together: bool = controller.key is None

    def holds(self, request: Request) -> bool:
        """Whether the map says that a key is ours, whatever its range is at."""
        # The range, as `number_of` has it: this is asked with every event of others.
        if self._plain:
            return range_of(request, self._ranges) in self._ours
        key = self._key
        return (LEADER if key is None else range_of(key(request), self._ranges)) in self._ours

    def expects(self, request: Request) -> bool:
        owned = self._owned
        return owned.states.get(owned.number_of(self._controller, request)) in COMING

    def begin(self, request: Request, abort: Callable[[], None]) -> FenceKey | None:
        owned = self._owned
        if self._plain:
            number = range_of(request, self._ranges)
        else:
            number = owned.number_of(self._controller, request)
        if owned.states.get(number) not in WORKING:
            return None
        key, epoch = self._fence_keys.get(number), owned.epochs[number]
        if key is None or key.epoch != epoch:
            key = self._fence_keys[number] = FenceKey(self._controller.name, number, epoch)
        owned.begin(number, key, request, abort)
        return key
