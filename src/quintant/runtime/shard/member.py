"""A member's own Lease: made when it joins, renewed every two seconds, emptied when it leaves.

The Lease says that the member lives, whether it is ready, and by which layout and map it works. It
is written on top of the version known, always: whoever wrote it meanwhile has buried the member, or
is a person, and in both cases nothing may be written any more (MembershipLost). The fence counts
from when the last renewal began. One that comes late opens it again: an outage moves nothing.
"""

from __future__ import annotations

import math

from msgspec import Struct

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.fence import LastRenewal
from quintant.core.clock import Boottime, Clock, micro_timestamp, monotonic
from quintant.core.errors import AlreadyExists, Conflict, NotFound, QuintantError
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.plan import MEMBER_SECONDS

RENEW_SECONDS = 2.0
FENCE_SECONDS = 10.0
"""Without a renewal for so long, no write leaves."""
BLIND_SECONDS = 6.0
"""A longer gap between our own renewals is an outage: the silence of others proves nothing."""

MANAGER = "quintant.dev/manager"
"""The label of all Leases of a group: its name."""
LAYOUT = "quintant.dev/shard-layout"
MAP_ID = "quintant.dev/shard-map-id"
STATE = "quintant.dev/shard-member"
READY, LEAVING, STARTING = "ready", "leaving", "starting"


class MembershipLost(QuintantError):
    """This member is buried, or the group was changed by others: nothing of it is ours any more."""


class MemberInfo(Struct, frozen=True):
    """What a member says of itself."""

    layout: str
    map_id: str = ""
    state: str = STARTING


class GroupMember:
    """One identity of this process in a group; a lost one is never used again."""

    def __init__(
        self,
        leases: LeaseClient,
        group: str,
        id: str,
        holder: str,
        clock: Clock,
        boottime: Boottime,
    ) -> None:
        self.id = id
        self.renewal: LastRenewal = LastRenewal(clock, boottime, FENCE_SECONDS)
        self._leases, self._group, self._holder, self._clock = leases, group, holder, clock
        self._lease: Lease | None = None
        self._sent: set[str | None] = set()
        """When renewals were sent whose answer did not come, as the Lease would say it."""
        self._renewed, self._since = -math.inf, math.inf

    @property
    def name(self) -> str:
        """Of its Lease."""
        return f"{self._group}-{self.id}"

    @property
    def is_known(self) -> bool:
        """Whether it has a Lease."""
        return self._lease is not None

    @property
    def renewing_since(self) -> float:
        """Since when renewals have succeeded without a gap; never, if they do not now."""
        return self._since if monotonic() - self._renewed <= BLIND_SECONDS else math.inf

    async def renew(self, info: MemberInfo) -> None:
        """Say that we live, on top of the version known; the first time, make the Lease."""
        began, at = self.renewal.moment(), monotonic()
        lease = Lease(metadata=self._meta(info), spec=self._spec(self._holder))
        self._sent.add(lease.spec.renew_time)
        try:
            if self._lease is None:
                self._lease = await self._leases.create(lease)
            else:
                self._lease = await self._leases.patch(self._lease, lease)
        except NotFound:
            raise MembershipLost(f"the Lease {self.name} is gone") from None
        except (Conflict, AlreadyExists):
            # An answer was lost; this one is on top of what that one wrote.
            self._lease = await self._leases.patch(await self._written(), lease)
        self._sent.clear()
        self.renewal.renewed(began)
        if at - self._renewed > BLIND_SECONDS:
            self._since = at
        self._renewed = at

    async def end(self) -> None:
        """Let others know at once that this identity is over; call it after the last write."""
        if self._lease is not None:
            ended = Lease(metadata=ObjectMeta(), spec=self._spec(""))
            self._lease = await self._leases.patch(self._lease, ended)

    async def _written(self) -> Lease:
        """Our Lease as we wrote it without hearing so; MembershipLost if others did."""
        found = await self._leases.read(self.name)
        if found is None or not self._is_ours(found):
            raise MembershipLost(f"the Lease {self.name} was changed by others")
        return found

    def _is_ours(self, lease: Lease) -> bool:
        spec = lease.spec
        return spec.holder_identity == self._holder and spec.renew_time in self._sent

    def _meta(self, info: MemberInfo) -> ObjectMeta:
        notes = {LAYOUT: info.layout, MAP_ID: info.map_id, STATE: info.state}
        return ObjectMeta(
            name=self.name,
            namespace=self._leases.namespace,
            labels={MANAGER: self._group},
            annotations=notes,
        )

    def _spec(self, holder: str) -> LeaseSpec:
        return LeaseSpec(
            holder_identity=holder,
            lease_duration_seconds=int(MEMBER_SECONDS),
            renew_time=micro_timestamp(self._clock.now()),
        )
