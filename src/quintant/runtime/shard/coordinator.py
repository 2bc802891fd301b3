"""Keeps one process in its group: observe, plan, compare-and-swap; join, leave, and join again.

    Leases ──observe──> what is ──follow──> states of our ranges ──plan──> take, give, bury
      ^                                                                        │
      └───────────── the map, on top of the version that was observed ─────────┘

What an answer would have said is read from the map in the next turn, so an answer that is lost
costs a turn and nothing else. A member that finds itself buried, or its ranges changed by others,
is lost: what is under way ends, and the process joins again under another name. If something does
not end within the grace, the process does (LeadershipLost).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.fence import LastRenewal
from quintant.core.clock import Boottime, Clock, Random
from quintant.core.deadline import bounded
from quintant.core.errors import (
    AlreadyExists,
    ConfigError,
    Conflict,
    LeadershipLost,
    NotLeader,
    QuintantError,
    leaf_errors,
)
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.shard.group_lease import (
    HOLDER,
    RENEW_AFTER_SECONDS,
    SEEN_SECONDS,
    GroupState,
    first_map,
    group_lease,
    group_spec,
    version_of,
)
from quintant.runtime.shard.layout import range_name, range_names
from quintant.runtime.shard.member import (
    LEAVING,
    READY,
    RENEW_SECONDS,
    STARTING,
    GroupMember,
    MemberInfo,
    MembershipLost,
)
from quintant.runtime.shard.observation import GroupObserver, Observed
from quintant.runtime.shard.owned_ranges import OwnedRanges
from quintant.runtime.shard.plan import (
    GroupView,
    MemberView,
    Plan,
    counted_members,
    next_death,
    plan,
)
from quintant.runtime.shard.range_states import OURS, RangeEvent, RangeState
from quintant.runtime.shard.shard_map import ShardMap, UnreadableMap

CALL_SECONDS = 5.0
"""The limit of a renewal, or of one turn: one that hangs leaves time for another."""
TURN_SECONDS = 2.0
BUSY_TURN_SECONDS = 0.5
"""Between two turns while ranges are on their way."""
SHORTEST_TURN_SECONDS = 0.05
"""Before a member that is silent is over: clocks round."""
LEAVE_SECONDS = 10.0
"""What the last calls of a member that leaves may take, beyond the writes that are under way."""
ID_LENGTH = 10
"""Digits of a member's name: 40 bits, and a clash is an AlreadyExists."""

log = get_logger()


class ShardGroup(Struct, frozen=True):
    """Which group a process belongs to."""

    name: str
    layout: str
    """The digest of its layout."""
    ranges: int
    grace: float
    """Seconds that reconciles get to end before they are cancelled."""


class RangeWork(Protocol):
    """What a process does with the ranges it has."""

    async def fill(self) -> None:
        """Return when the caches have everything that was written before the call."""

    def held(self, ranges: frozenset[int]) -> None:
        """Begin to work on the keys of these ranges."""

    def evict(self, ranges: frozenset[int]) -> None:
        """Forget the keys of these ranges: they are another member's."""

    def divide(self, members: int) -> None:
        """Let limits of the whole program be those of so many members together."""


class Coordinator:
    """One process in its group."""

    def __init__(
        self,
        leases: LeaseClient,
        group: ShardGroup,
        owned: OwnedRanges,
        work: RangeWork,
        *,
        clock: Clock,
        boottime: Boottime,
        random: Random,
        holder: str,
    ) -> None:
        self.owned, self.group = owned, group
        self._leases, self._work, self._clock, self._random = leases, work, clock, random
        self._boottime, self._holder = boottime, holder
        self._ready, self._leaving, self._last = False, False, False
        self._busy = True
        """Whether ranges are on their way, here or elsewhere."""
        self._next_death = math.inf
        self._given: dict[int, float] = {}
        self._aborted: set[int] = set()
        self._complaints: dict[str, str] = {}
        self._map_id = ""
        self._begin()

    @property
    def id(self) -> str:
        """What this process is called in the map, for now."""
        return self._member.id

    async def run(self) -> None:
        """Be a member until cancelled; LeadershipLost if what was lost does not end."""
        while True:
            lost = await self._live()
            log.warning("left the shards", member=self.id, why=lost)
            await self._lose()
            self._begin()

    def trouble(self) -> str:
        """What keeps ranges from moving, or writes from leaving; empty if nothing does."""
        why = "; ".join(filter(None, self._complaints.values()))
        return why or ("" if self.owned.is_open() else "no write may leave")

    def set_ready(self) -> None:
        """The caches are complete: ranges may be taken."""
        self._ready = True
        self._wake.set()

    def set_leaving(self) -> None:
        """Give every range, each as soon as nothing of it is under way."""
        self._leaving = True
        self._wake.set()
        self._renew.set()

    async def wait_released(self) -> None:
        """Return when no range is ours any more; bound it."""
        await self.owned.until(lambda: not any(True for _ in self.owned.within(OURS)))

    async def end(self) -> None:
        """Say that we are over; `run` is by now. What could not be released is buried by others."""
        if any(True for _ in self.owned.within(OURS)) or self.owned.unsettled():
            return
        with suppress(QuintantError, TimeoutError):
            await bounded(self._end(), LEAVE_SECONDS)

    # One life of a member.

    def _begin(self) -> None:
        id = self._random.id().replace("-", "")[:ID_LENGTH]
        clock, boottime = self._clock, self._boottime
        self._member = GroupMember(self._leases, self.group.name, id, self._holder, clock, boottime)
        last_change = LastRenewal(clock, boottime, SEEN_SECONDS)
        self._observer = GroupObserver(self._leases, self.group.name, last_change)
        self._patience = self._random.uniform(*RENEW_AFTER_SECONDS)
        self._map_id = ""
        self._given, self._aborted = {}, set()
        self._was_open = False
        self._wake, self._renew = asyncio.Event(), asyncio.Event()
        renewal = self._member.renewal
        self.owned.is_open = lambda: not (renewal.has_expired() or last_change.has_expired())

    async def _live(self) -> str:
        why = ""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._keep_renewing())
                tasks.create_task(self._keep_coordinating(tasks))
        except* MembershipLost as lost:
            why = "; ".join(str(each) for each in leaf_errors(lost))
        return why

    async def _lose(self) -> None:
        lost = frozenset(self.owned.within(OURS))
        self.owned.lose()
        try:
            async with asyncio.timeout(self.group.grace + CALL_SECONDS):
                await self.owned.until(lambda: not self.owned.unsettled())
        except TimeoutError:
            left = self.owned.unsettled()
            keys = [key for number in left for key in self.owned.under_way(number)]
            raise LeadershipLost(
                f"member {self.id} of {self.group.name} is lost, and these do not end: "
                f"{', '.join(keys) or 'writes'}"
            ) from None
        self._work.evict(lost)
        with suppress(QuintantError, TimeoutError):
            await bounded(self._member.end(), CALL_SECONDS)

    async def _keep_renewing(self) -> None:
        while True:
            await self._attempt(self._member.renew(self._info()), "renew the Lease of a member")
            await _wait(RENEW_SECONDS, self._renew)

    async def _keep_coordinating(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            await self._attempt(self._turn(tasks), "coordinate shards")
            self._note_outage()
            pause = BUSY_TURN_SECONDS if self._busy else TURN_SECONDS
            pause = min(pause, max(self._next_death, SHORTEST_TURN_SECONDS))
            await _wait(pause, self._wake, self.owned.changed)

    def _note_outage(self) -> None:
        """What was refused while the fence was closed need not wait until it is due again."""
        is_open = self.owned.is_open()
        if is_open and not self._was_open:
            self._work.held(frozenset(self.owned.within((RangeState.HELD,))))
        self._was_open = is_open

    async def _attempt(self, work: Awaitable[None], what: str) -> None:
        """Do something within its time; a row of equal failures is logged once."""
        complaint = ""
        try:
            await bounded(work, CALL_SECONDS)  # type: ignore[arg-type]  # both are coroutines
        except MembershipLost:
            raise
        except (Conflict, AlreadyExists):
            self._busy = True  # another member was faster
        except (QuintantError, UnreadableMap, TimeoutError) as error:
            complaint = f"cannot {what}: {error or 'no answer in time'}"
        if complaint and complaint != self._complaints.get(what):
            log.warning("shards do not move", group=self.group.name, why=complaint)
        self._complaints[what] = complaint

    def _info(self) -> MemberInfo:
        state = LEAVING if self._leaving else READY if self._ready else STARTING
        return MemberInfo(self.group.layout, self._map_id, state)

    async def _turn(self, tasks: asyncio.TaskGroup) -> None:
        self._next_death = math.inf
        if not self._member.is_known:
            return
        observed = await self._observer.observe(self.id)
        self._check_map(observed)
        group = observed.group
        match group.state:
            case GroupState.ABSENT if self._ready and not self._leaving:
                await self._found(observed)
            case GroupState.UNREADABLE:
                raise ConfigError(
                    f"the shard map in Lease {self.group.name} cannot be read",
                    because=group.why,
                    hint="stop every replica, delete that Lease, and start them again",
                )
            case GroupState.FOREIGN:
                assert group.lease is not None, "somebody holds it"
                holder = group.lease.spec.holder_identity
                raise NotLeader(f"{holder} leads {self.group.name}, and is waited for")
            case GroupState.OURS:
                await self._follow(observed, tasks)
            case _:
                pass

    def _check_map(self, observed: Observed) -> None:
        """MembershipLost if the map that we work by is another one, or gone."""
        shards = observed.group.shards
        id = shards.id if shards is not None else ""
        if self._map_id and id != self._map_id and self.owned.states:
            raise MembershipLost("the shard map is gone, or another one")
        if id != self._map_id:
            self._map_id = id
            self._renew.set()

    async def _found(self, observed: Observed) -> None:
        """Put a map in place where there is none."""
        id = self._random.id().replace("-", "")[:ID_LENGTH]
        empty = ShardMap(self.group.layout, self.group.ranges, id=id)
        shards = first_map(observed.group, empty)
        spec = group_spec(self._clock.now())
        wanted = group_lease(self.group.name, self._leases.namespace, shards, spec)
        lease, began = observed.group.lease, self._observer.last_change.moment()
        stored = await (
            self._leases.create(wanted) if lease is None else self._leases.patch(lease, wanted)
        )
        self._observer.note_group(stored, began, written=True)
        log.info("founded shards", group=self.group.name, ranges=self.group.ranges)
        self._busy = True

    async def _follow(self, observed: Observed, tasks: asyncio.TaskGroup) -> None:
        shards, lease = observed.group.shards, observed.group.lease
        assert shards is not None, "there is a map"
        assert lease is not None, "there is a map"
        self._take_note(shards, tasks)
        view = self._view(observed)
        planned = plan(view)
        self._next_death = next_death(view)
        self._work.divide(max(1, len(counted_members(view))))
        self._give(planned, observed.now)
        self._drain(observed.now)
        await self._swap(shards, lease, planned)
        for name in planned.bury:
            await self._bury(observed.leases[name], name)
        for name in planned.forget:
            await self._forget(observed.leases[name])
        others = [m for m in observed.members if m.present and not m.ended]
        self._last = not others and not shards.held
        unsettled = set(self.owned.states.values()) - {RangeState.HELD}
        self._busy = bool(
            unsettled or shards.free() or any(m.leaving or not m.ready for m in others)
        )

    def _take_note(self, shards: ShardMap, tasks: asyncio.TaskGroup) -> None:
        """Bring the states of our ranges in line with the map."""
        mine = shards.epochs(self.id) if shards.layout == self.group.layout else {}
        taken: dict[int, int] = {}
        released: set[int] = set()
        for number in {*mine, *self.owned.states}:
            state, epoch = self.owned.state(number), mine.get(number)
            if epoch is None:
                if state is RangeState.RELEASING:
                    self.owned.step(number, RangeEvent.RELEASED)
                    released.add(number)
                elif state is RangeState.TAKING:
                    self.owned.step(number, RangeEvent.NOT_TAKEN)
            elif state in (RangeState.FOREIGN, RangeState.TAKING):
                self.owned.step(number, RangeEvent.TAKEN, epoch)
                taken[number] = epoch
            if state in OURS and state is not RangeState.RELEASING:
                self._check_epoch(number, epoch)
        if taken:
            log.info("took ranges", member=self.id, ranges=range_names(taken))
            tasks.create_task(self._fill(taken))
        if released:
            log.info("released ranges", member=self.id, ranges=range_names(released))
            self._given = {n: at for n, at in self._given.items() if n not in released}
            self._aborted -= released
            self._work.evict(frozenset(released))

    def _check_epoch(self, number: int, epoch: int | None) -> None:
        if epoch != self.owned.epochs[number]:
            raise MembershipLost(f"range {range_name(number)} was changed by others in the map")

    async def _fill(self, taken: Mapping[int, int]) -> None:
        await self._work.fill()
        held = {
            number
            for number, epoch in taken.items()
            if self.owned.epochs.get(number) == epoch
            and self.owned.state(number) is RangeState.FILLING
            and self.owned.step(number, RangeEvent.FILLED) is RangeState.HELD
        }
        self._work.held(frozenset(held))

    def _view(self, observed: Observed) -> GroupView:
        me = MemberView(
            self.id,
            observed.now,
            ready=self._ready,
            leaving=self._leaving,
            layout=self.group.layout,
            map_id=self._map_id,
        )
        view = self._observer.view(observed, me, self._member)
        draining = self.owned.within((RangeState.DRAINING, RangeState.RELEASING))
        order = sorted(self.owned.within((RangeState.HELD,)), key=self.owned.weight)
        return replace(
            view,
            free_since=self._observer.free_since,
            draining=frozenset(draining),
            order=order,
        )

    def _give(self, planned: Plan, now: float) -> None:
        for number in planned.give:
            self.owned.step(number, RangeEvent.GIVE)
            self._given[number] = now

    def _drain(self, now: float) -> None:
        for number in self.owned.within((RangeState.DRAINING,)):
            if self.owned.is_drained(number):
                self.owned.step(number, RangeEvent.DRAINED)
            elif now - self._given.get(number, now) > self.group.grace:
                self._insist(number)

    def _insist(self, number: int) -> None:
        """End what a range's grace was not enough for."""
        self.owned.abort([number])
        if number not in self._aborted:
            keys = self.owned.under_way(number)
            log.warning("range is not given yet", range=range_name(number), under_way=keys)
        self._aborted.add(number)

    async def _swap(self, shards: ShardMap, lease: Lease, planned: Plan) -> None:
        """Write the map that we want, on top of the version that was read; or only renew it."""
        wanted = shards.released(self.owned.within((RangeState.RELEASING,)), self.id)
        if planned.swap:
            wanted = replace(wanted, layout=self.group.layout, ranges=self.group.ranges, held={})
        take = [n for n in planned.take if self.owned.state(n) is RangeState.FOREIGN]
        if take:
            wanted = wanted.taken(take, self.id, version_of(lease))
            wanted = replace(wanted, proven=True)
            for number in take:
                self.owned.step(number, RangeEvent.TAKE)
        spec = group_spec(self._clock.now())
        if wanted != shards:
            change = group_lease(self.group.name, self._leases.namespace, wanted, spec)
        elif self._observer.last_change.age() > self._patience:
            change = Lease(spec=spec)
        else:
            return
        began = self._observer.last_change.moment()
        self._patience = self._random.uniform(*RENEW_AFTER_SECONDS)
        stored = await self._leases.patch(lease, change)
        self._observer.note_group(stored, began, written=True)
        if wanted != shards:
            self._wake.set()

    async def _bury(self, lease: Lease, name: str) -> None:
        """Empty the Lease of a member that is silent, on top of the version that was silent."""
        with suppress(Conflict):  # it lives, or another member was faster
            await self._leases.patch(lease, Lease(spec=LeaseSpec(holder_identity="")))
            log.warning("buried a member", member=name, group=self.group.name)
            self._wake.set()

    async def _forget(self, lease: Lease) -> None:
        with suppress(Conflict):
            await self._leases.delete(lease)

    async def _end(self) -> None:
        await self._member.end()
        if not self._last:
            return
        found = await self._leases.read(self.group.name)
        if found is not None and found.spec.holder_identity == HOLDER:
            change = Lease(metadata=ObjectMeta(), spec=LeaseSpec(holder_identity=""))
            await self._leases.patch(found, change)


async def _wait(seconds: float, *events: asyncio.Event) -> None:
    """Wait so long, or until one of the events is set; all are clear then."""
    waiting = {asyncio.ensure_future(event.wait()) for event in events}
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
    for event in events:
        event.clear()
