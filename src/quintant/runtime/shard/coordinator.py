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
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

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
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.shard.group_lease import SEEN_SECONDS, GroupState, ShardGroup, version_of
from quintant.runtime.shard.group_writer import GroupWriter, new_id
from quintant.runtime.shard.member import (
    BLIND_SECONDS,
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
    unserved,
)
from quintant.runtime.shard.range_moves import RangeMoves, RangeWork
from quintant.runtime.shard.range_states import OURS, RangeEvent, RangeState
from quintant.runtime.shard.shard_map import ShardMap, UnreadableMap
from quintant.runtime.shard.shard_metrics import ShardMetrics
from quintant.runtime.source.own_task import in_own_task

CALL_SECONDS = 5.0
"""The limit of a renewal, or of one turn: one that hangs leaves time for another."""
TURN_SECONDS = 2.0
BUSY_TURN_SECONDS = 0.5
"""Between two turns while ranges are on their way."""
SHORTEST_TURN_SECONDS = 0.05
"""Before a member that is silent is over: clocks round."""
LEAVE_SECONDS = 10.0
"""What the last calls of a member that leaves may take, beyond the writes that are under way."""

log: Final = get_logger()


class Coordinator:
    """One process in its group."""

    def __init__(
        self,
        leases: LeaseClient,
        group: ShardGroup,
        owned: OwnedRanges,
        work: RangeWork,
        metrics: ShardMetrics,
        *,
        clock: Clock,
        boottime: Boottime,
        random: Random,
        holder: str,
    ) -> None:
        self.owned = owned
        self.group = group
        self._leases, self._work, self._clock, self._random = leases, work, clock, random
        self._metrics, self._boottime, self._holder = metrics, boottime, holder
        self._ready, self._leaving, self._last = False, False, False
        self._busy = True
        """Whether ranges are on their way, here or elsewhere."""
        self._next_death = math.inf
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
            lost = await in_own_task(self._live())
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
        self.owned.changed.set()

    def set_leaving(self) -> None:
        """Give every range, each as soon as nothing of it is under way."""
        self._leaving = True
        self.owned.changed.set()
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
        id = new_id(self._random)
        clock, boottime = self._clock, self._boottime
        self._member = GroupMember(self._leases, self.group.name, id, self._holder, clock, boottime)
        last_change = LastRenewal(clock, boottime, SEEN_SECONDS)
        self._observer = GroupObserver(self._leases, self.group.name, last_change)
        self._writer = GroupWriter(self._leases, self.group, self._observer, clock, self._random)
        self._moves = RangeMoves(self.owned, self._work, self._metrics, id, self.group.grace)
        self._map_id = ""
        self._calm: tuple[object, ...] = ()
        """What was observed when there was nothing to do, and nothing on its way."""
        self._was_open = False
        self._renew = asyncio.Event()
        self.owned.is_open = partial(self._member.renewal.holds_with, last_change)

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
        self._moves.evict(lost)
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
            await _wait(pause, self.owned.changed)

    def _note_outage(self) -> None:
        """What was refused while the fence was closed need not wait until it is due again."""
        is_open = self.owned.is_open()
        if is_open and not self._was_open:
            self._moves.look_again()
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
            complaint = f"cannot {what}: {str(error) or 'no answer in time'}"
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
        self._note_without_map(group.state)
        match group.state:
            case GroupState.ABSENT if self._ready and not self._leaving:
                await self._writer.found(observed.group)
                self._busy = True
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

    async def _follow(self, observed: Observed, tasks: asyncio.TaskGroup) -> None:
        shards, lease = observed.group.shards, observed.group.lease
        assert shards is not None, "there is a map"
        assert lease is not None, "there is a map"
        summary = self._summary(observed)
        if summary and summary == self._calm and not self._writer.renewal_is_due:
            return
        self._calm = ()
        if taken := self._moves.note(self._mine(shards)):
            tasks.create_task(self._moves.fill(taken))
        view = self._view(observed)
        planned = plan(view)
        self._note(view)
        self._moves.give(planned.give)
        self._moves.drain()
        if await self._writer.swap(lease, shards, self._wanted(shards, planned, version_of(lease))):
            self.owned.changed.set()
        for name in planned.bury:
            if await self._writer.bury(observed.leases[name], name):
                self._metrics.buried()
                self.owned.changed.set()
        for name in planned.forget:
            await self._writer.forget(observed.leases[name])
        others = [m for m in observed.members if m.present and not m.ended]
        self._last = not others and not shards.held
        unsettled = set(self.owned.states.values()) - {RangeState.HELD}
        self._busy = bool(
            unsettled or shards.free() or any(m.leaving or not m.ready for m in others)
        )
        if planned == Plan() and not self._busy and len(counted_members(view)) > len(others):
            self._calm = summary

    def _summary(self, observed: Observed) -> tuple[object, ...]:
        """All that a plan depends on while nobody is silent; empty while somebody is.

        Where it is what it was when nothing was to be done, nothing is.
        """
        if any(observed.now - member.since > BLIND_SECONDS for member in observed.members):
            return ()
        lease = observed.group.lease
        assert lease is not None, "there is a map"
        members = [replace(member, since=0.0) for member in observed.members]
        version, renewing = lease.metadata.resource_version, self._member.renewing_since
        return version, renewing, self._ready, self._leaving, len(self.owned.states), members

    def _note_without_map(self, state: GroupState) -> None:
        """Without a map nobody works, unless a leader does."""
        if state is not GroupState.OURS:
            ranges = 0 if state is GroupState.FOREIGN else self.group.ranges + 1
            self._metrics.seen(members=0, unserved=ranges)

    def _mine(self, shards: ShardMap) -> dict[int, int]:
        return shards.epochs(self.id) if shards.layout == self.group.layout else {}

    def _note(self, view: GroupView) -> None:
        """What follows from how the group looks, beside the plan."""
        members = len(counted_members(view))
        self._next_death = next_death(view)
        self._work.divide(max(1, members))
        self._metrics.seen(members, len(unserved(view)))

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
        return replace(
            view,
            free_since=self._observer.free_since,
            draining=frozenset(draining),
            order=self.owned.by_weight(),
        )

    def _wanted(self, shards: ShardMap, planned: Plan, version: int) -> ShardMap:
        """The map that we want on top of a version; what we ask for is noted."""
        wanted = shards.released(self.owned.within((RangeState.RELEASING,)), self.id)
        if planned.swap:
            wanted = replace(wanted, layout=self.group.layout, ranges=self.group.ranges, held={})
        take = [n for n in planned.take if self.owned.state(n) is RangeState.FOREIGN]
        for number in take:
            self.owned.step(number, RangeEvent.TAKE)
        return replace(wanted.taken(take, self.id, version), proven=True) if take else wanted

    async def _end(self) -> None:
        await self._member.end()
        if self._last:
            await self._writer.leave()


async def _wait(seconds: float, event: asyncio.Event) -> None:
    """Wait so long, or until the event is set; it is clear then."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()
