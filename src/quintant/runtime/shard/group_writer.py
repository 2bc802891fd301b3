"""What a member writes into the group's Lease, and into those of members that are over.

Everything is on top of the version that was read: Conflict says that another member was faster, or
that whoever seemed over lives.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.fence import Moment
from quintant.core.clock import Clock, Random
from quintant.core.errors import Conflict
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.shard.group_lease import (
    HOLDER,
    RENEW_AFTER_SECONDS,
    GroupLease,
    ShardGroup,
    first_map,
    group_lease,
    group_spec,
)
from quintant.runtime.shard.observation import GroupObserver
from quintant.runtime.shard.shard_map import ShardMap

ID_LENGTH = 10
"""Digits of a name of a member, or of a map: 40 bits, and a clash is an AlreadyExists."""

log: Final = get_logger()


def new_id(random: Random) -> str:
    """What a member or a map is called."""
    return random.id().replace("-", "")[:ID_LENGTH]


class GroupWriter:
    """The writes of one member about its group."""

    def __init__(
        self,
        leases: LeaseClient,
        group: ShardGroup,
        observer: GroupObserver,
        clock: Clock,
        random: Random,
    ) -> None:
        self._leases, self._group, self._observer = leases, group, observer
        self._clock, self._random = clock, random
        self._patience = random.uniform(*RENEW_AFTER_SECONDS)

    @property
    def renewal_is_due(self) -> bool:
        """Whether nobody has changed the group's Lease for so long that we renew it."""
        return self._observer.last_change.age() > self._patience

    async def found(self, group: GroupLease) -> None:
        """Put a map in place where there is none."""
        empty = ShardMap(self._group.layout, self._group.ranges, id=new_id(self._random))
        wanted = self._lease(first_map(group, empty))
        lease, began = group.lease, self._observer.last_change.moment()
        stored = await (
            self._leases.create(wanted) if lease is None else self._leases.patch(lease, wanted)
        )
        self._written(stored, began)
        log.info("founded shards", group=self._group.name, ranges=self._group.ranges)

    async def swap(self, lease: Lease, shards: ShardMap, wanted: ShardMap) -> bool:
        """Write the map that is wanted if it is another one; else only renew the Lease in time.

        Whether the map was written.
        """
        if wanted != shards:
            change = self._lease(wanted)
        elif self.renewal_is_due:
            change = Lease(spec=group_spec(self._clock.now()))
        else:
            return False
        began = self._observer.last_change.moment()
        self._patience = self._random.uniform(*RENEW_AFTER_SECONDS)
        self._written(await self._leases.patch(lease, change), began)
        return wanted != shards

    async def bury(self, lease: Lease, name: str) -> bool:
        """Empty the Lease of a member that is silent; False if it lives, or is buried already."""
        try:
            await self._leases.patch(lease, Lease(spec=LeaseSpec(holder_identity="")))
        except Conflict:
            return False
        log.warning("buried a member", member=name, group=self._group.name)
        return True

    async def forget(self, lease: Lease) -> None:
        """Remove the Lease of a member that is over and holds nothing."""
        with suppress(Conflict):
            await self._leases.delete(lease)

    async def leave(self) -> None:
        """The last one leaves the name to anybody."""
        found = await self._leases.read(self._group.name)
        if found is not None and found.spec.holder_identity == HOLDER:
            change = Lease(metadata=ObjectMeta(), spec=LeaseSpec(holder_identity=""))
            await self._leases.patch(found, change)

    def _lease(self, shards: ShardMap) -> Lease:
        spec = group_spec(self._clock.now())
        return group_lease(self._group.name, self._leases.namespace, shards, spec)

    def _written(self, stored: Lease, began: Moment) -> None:
        self._observer.note_group(stored, began, written=True)
