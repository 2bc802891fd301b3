"""What a member has seen of its group: every Lease, since when it is as it is, and the map.

Times are our own: when a version was first seen, never what a Lease says of itself. That the
group's Lease changed is dated to when the version before was last seen to be there, so that no
member believes it younger than it is.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.api.coordination import Lease
from quintant.client.fence import LastRenewal, Moment
from quintant.core.clock import monotonic
from quintant.runtime.leader.lease import ObservedLease, observe
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.group_lease import GroupLease, GroupState, read_group
from quintant.runtime.shard.member import (
    LAYOUT,
    LEAVING,
    MANAGER,
    MAP_ID,
    READY,
    STATE,
    GroupMember,
)
from quintant.runtime.shard.plan import GroupView, MemberView, available
from quintant.runtime.shard.shard_map import ShardMap


class Observed(Struct, frozen=True):
    """The group at one moment."""

    now: float
    group: GroupLease
    leases: dict[str, Lease]
    """Of other members, by their ids."""
    members: tuple[MemberView, ...]
    """Other members: those with a Lease, and those whom the map names."""


class GroupObserver:
    """Reads the Leases of a group, and remembers since when they are what they are."""

    def __init__(self, leases: LeaseClient, group: str, last_change: LastRenewal) -> None:
        self.last_change = last_change
        """When the group's Lease last changed, as far as that is known."""
        self._leases, self._group = leases, group
        self._records: dict[str, ObservedLease] = {}
        self._missing: dict[str, float] = {}
        self._joined: dict[str, float] = {}
        self._maps: dict[str, float] = {}
        self._free: dict[int, float] = {}
        self._version, self._read_at = "", last_change.began
        self._last = GroupLease(GroupState.ABSENT)
        self._first = True

    async def observe(self, me: str) -> Observed:
        """Read everything."""
        began = self.last_change.moment()
        found = {lease.metadata.name: lease for lease in await self._list()}
        own = found.pop(self._group, None) or await self._leases.read(self._group)
        now = monotonic()
        if own is not None:
            self.note_group(own, began)
        self._records = {
            name: observe(self._records.get(name), lease, now)
            for name, lease in {**found, **({self._group: own} if own else {})}.items()
        }
        group = self._read_group(now)
        prefix = len(self._group) + 1
        leases = {name[prefix:]: lease for name, lease in found.items() if name[prefix:] != me}
        members = self._members(leases, group.shards, me, now)
        self._first = False
        return Observed(now, group, leases, members)

    def note_group(self, lease: Lease, began: Moment, *, written: bool = False) -> None:
        """Note the version of the group's Lease that was read, or written, by a call begun then."""
        version = lease.metadata.resource_version
        if written:
            self.last_change.renewed(began)
        elif self._version and version != self._version:
            self.last_change.renewed(self._read_at)
        self._version, self._read_at = version, began

    def view(self, observed: Observed, me: MemberView, member: GroupMember) -> GroupView:
        """All that a plan is made from; nothing of ours is in it that is not in the map."""
        shards = observed.group.shards
        assert observed.group.state is GroupState.OURS, "there is a map"
        assert shards is not None, "there is a map"
        since = self._maps.setdefault(shards.id, observed.now)
        view = GroupView(
            shards,
            (*observed.members, me),
            me.name,
            observed.now,
            member.renewing_since,
            map_since=since,
        )
        # Before anybody may take from it, no range waits.
        free = available(view) if shards.proven else ()
        self._free = {number: self._free.get(number, observed.now) for number in free}
        return view

    @property
    def free_since(self) -> dict[int, float]:
        """When each range that may be taken was first seen to be so."""
        return dict(self._free)

    def _read_group(self, now: float) -> GroupLease:
        """What the group's Lease means; one with a map means the same until it is changed."""
        record, last = self._records.get(self._group), self._last
        if record is None or last.state is not GroupState.OURS or last.lease is not record.lease:
            self._last = read_group(record, now)
        return self._last

    async def _list(self) -> list[Lease]:
        return await self._leases.list(MANAGER, self._group)

    def _members(
        self, leases: dict[str, Lease], shards: ShardMap | None, me: str, now: float
    ) -> tuple[MemberView, ...]:
        holders = shards.holders() - leases.keys() - {me} if shards is not None else set[str]()
        self._missing = {name: self._missing.get(name, now) for name in holders}
        gone = [MemberView(name, at, present=False) for name, at in self._missing.items()]
        return (*(self._member(id, lease, now) for id, lease in leases.items()), *gone)

    def _member(self, id: str, lease: Lease, now: float) -> MemberView:
        notes, holder = lease.metadata.annotations, lease.spec.holder_identity
        ready = notes.get(STATE) == READY
        if ready:
            self._joined.setdefault(id, float("-inf") if self._first else now)
        return MemberView(
            id,
            self._records[lease.metadata.name].since,
            self._joined.get(id, now),
            ready,
            notes.get(STATE) == LEAVING,
            notes.get(LAYOUT, ""),
            ended=not holder,
            map_id=notes.get(MAP_ID, ""),
        )
