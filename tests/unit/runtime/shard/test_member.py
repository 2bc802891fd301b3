from __future__ import annotations

import pytest

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random, monotonic
from quintant.core.errors import TransportError
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.member import (
    FENCE_SECONDS,
    GroupMember,
    MemberInfo,
    MembershipLost,
)
from quintant.testing.faults.match import verb
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance

INFO = MemberInfo("x")


class Harbour:
    """A server, a member, and somebody else."""

    def __init__(self) -> None:
        server = InProcessTransport(ApiServer(clock=LoopClock(), random=Random(1)))
        self.faults = FaultTransport(server)
        self.others = LeaseClient(Rest(server), "default")
        leases = LeaseClient(Rest(self.faults), "default")
        self.member = GroupMember(leases, "harbour", "one", "host_1", LoopClock(), monotonic)

    async def lease(self) -> Lease:
        found = await self.others.read(self.member.name)
        assert found is not None
        return found


async def test_a_member_says_that_it_lives_and_what_it_works_by() -> None:
    harbour = Harbour()
    await harbour.member.renew(MemberInfo("x", "map", "ready"))
    (lease,) = await harbour.others.list("quintant.dev/manager", "harbour")

    assert (lease.metadata.name, lease.spec.holder_identity) == ("harbour-one", "host_1")
    assert sorted(lease.metadata.annotations.values()) == ["map", "ready", "x"]


async def test_a_renewal_is_written_on_top_of_the_version_known() -> None:
    harbour = Harbour()
    await harbour.member.renew(INFO)
    await harbour.others.patch(await harbour.lease(), Lease(spec=LeaseSpec(holder_identity="")))

    with pytest.raises(MembershipLost, match="changed by others"):
        await harbour.member.renew(INFO)
    assert (await harbour.lease()).spec.holder_identity == ""


async def test_a_member_whose_lease_is_gone_is_lost() -> None:
    harbour = Harbour()
    await harbour.member.renew(INFO)
    await harbour.others.delete(await harbour.lease())

    with pytest.raises(MembershipLost, match="gone"):
        await harbour.member.renew(INFO)


@pytest.mark.parametrize("renewals", [0, 1])
async def test_an_answer_that_is_lost_loses_no_member(renewals: int) -> None:
    harbour = Harbour()
    for _ in range(renewals):
        await harbour.member.renew(INFO)
    harbour.faults.lose(verb("create", "patch"), late=True, times=1)
    with pytest.raises(TransportError):
        await harbour.member.renew(INFO)
    await advance(1)
    await harbour.member.renew(INFO)
    await harbour.member.renew(INFO)

    assert (await harbour.lease()).spec.holder_identity == "host_1"


async def test_the_fence_closes_without_renewals_and_a_later_one_opens_it() -> None:
    member = Harbour().member
    await member.renew(INFO)
    await advance(FENCE_SECONDS - 0.1)
    assert not member.renewal.has_expired()
    await advance(0.2)
    assert member.renewal.has_expired()
    await member.renew(INFO)

    assert not member.renewal.has_expired()


async def test_renewals_with_a_gap_count_from_after_it() -> None:
    harbour = Harbour()
    await harbour.member.renew(INFO)
    await advance(2)
    await harbour.member.renew(INFO)
    assert harbour.member.renewing_since == pytest.approx(0, abs=0.1)
    await advance(20)
    assert harbour.member.renewing_since == float("inf")
    await harbour.member.renew(INFO)

    assert harbour.member.renewing_since == pytest.approx(22, abs=0.1)


async def test_a_member_that_leaves_empties_its_lease() -> None:
    harbour = Harbour()
    await harbour.member.end()
    await harbour.member.renew(INFO)
    await harbour.member.end()

    assert (await harbour.lease()).spec.holder_identity == ""
