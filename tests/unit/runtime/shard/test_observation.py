from __future__ import annotations

from datetime import datetime

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.fence import LastRenewal
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random, monotonic
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.group_lease import (
    SEEN_SECONDS,
    GroupState,
    group_lease,
    group_spec,
)
from quintant.runtime.shard.member import GroupMember, MemberInfo
from quintant.runtime.shard.observation import GroupObserver
from quintant.runtime.shard.plan import MemberView
from quintant.runtime.shard.shard_map import ShardMap
from quintant.testing.loop import advance

PROVEN = ShardMap("x", 8, id="i", proven=True)


class Harbour:
    """A server, one who observes, and members that say what they are."""

    def __init__(self) -> None:
        server = InProcessTransport(ApiServer(clock=LoopClock(), random=Random(1)))
        self.leases = LeaseClient(Rest(server), "default")
        self.last_change = LastRenewal(LoopClock(), monotonic, SEEN_SECONDS)
        self.observer = GroupObserver(self.leases, "harbour", self.last_change)
        self.me = self.member("me")

    def member(self, id: str) -> GroupMember:
        return GroupMember(self.leases, "harbour", id, f"{id}_1", LoopClock(), monotonic)

    async def found(self, shards: ShardMap) -> Lease:
        spec = group_spec(LoopClock().now())
        return await self.leases.create(group_lease("harbour", "default", shards, spec))

    async def others(self) -> dict[str, MemberView]:
        return {each.name: each for each in (await self.observer.observe("me")).members}


async def test_members_are_seen_as_they_describe_themselves_and_we_are_not_among_them() -> None:
    harbour = Harbour()
    await harbour.me.renew(MemberInfo("x", "i", "ready"))
    await harbour.member("a").renew(MemberInfo("x", "i", "ready"))
    await harbour.member("b").renew(MemberInfo("y", "", "leaving"))
    seen = await harbour.others()

    assert (seen["a"].ready, seen["a"].layout, seen["a"].map_id) == (True, "x", "i")
    assert (seen["b"].ready, seen["b"].leaving, seen["b"].layout) == (False, True, "y")
    assert seen.keys() == {"a", "b"}


async def test_silence_counts_from_when_a_version_was_first_seen() -> None:
    harbour = Harbour()
    one = harbour.member("a")
    await one.renew(MemberInfo("x"))
    first = (await harbour.others())["a"].since
    await advance(5)
    assert (await harbour.others())["a"].since == first
    await one.renew(MemberInfo("x"))
    await advance(1)

    assert (await harbour.others())["a"].since == first + 6


async def test_members_that_were_there_before_us_joined_long_ago_and_others_when_ready() -> None:
    harbour = Harbour()
    await harbour.member("a").renew(MemberInfo("x", state="ready"))
    late = harbour.member("b")
    await late.renew(MemberInfo("x"))
    assert (await harbour.others())["a"].joined == float("-inf")
    await advance(5)
    await late.renew(MemberInfo("x", state="ready"))
    joined = (await harbour.others())["b"].joined
    await advance(5)

    assert joined == monotonic() - 5
    assert (await harbour.others())["b"].joined == joined


async def test_a_lease_without_a_holder_is_a_member_that_ended() -> None:
    harbour = Harbour()
    one = harbour.member("a")
    await one.renew(MemberInfo("x", state="ready"))
    await one.end()

    assert (await harbour.others())["a"].ended


async def test_whom_the_map_names_and_who_has_no_lease_is_missing_since_it_was_first_seen() -> None:
    harbour = Harbour()
    await harbour.found(PROVEN.taken([1], "gone", 3))
    since = (await harbour.others())["gone"].since
    await advance(7)
    seen = (await harbour.others())["gone"]

    assert (seen.present, seen.since) == (False, since)


async def test_the_lease_of_the_group_is_found_without_its_label() -> None:
    harbour = Harbour()
    meta = ObjectMeta(name="harbour", namespace="default")
    await harbour.leases.create(Lease(metadata=meta, spec=LeaseSpec(holder_identity="old_1")))

    assert (await harbour.observer.observe("me")).group.state is GroupState.FOREIGN


async def test_a_change_by_others_is_dated_to_when_the_version_before_was_last_seen() -> None:
    harbour = Harbour()
    lease = await harbour.found(PROVEN)
    await harbour.observer.observe("me")
    assert harbour.last_change.has_expired(), "nothing is known to have changed"
    await advance(4)
    await harbour.observer.observe("me")
    await advance(6)
    await harbour.leases.patch(lease, Lease(spec=group_spec(LoopClock().now())))
    await harbour.observer.observe("me")

    assert harbour.last_change.age() == 6


async def test_our_own_write_is_dated_to_when_it_began() -> None:
    harbour = Harbour()
    began = harbour.last_change.moment()
    await advance(2)
    harbour.observer.note_group(await harbour.found(PROVEN), began, written=True)

    assert harbour.last_change.age() == 2


async def test_ranges_are_free_since_they_were_first_seen_so_and_only_in_a_map_that_works() -> None:
    harbour = Harbour()
    lease = await harbour.found(ShardMap("x", 8, id="i"))
    me = MemberView("me", 0.0)
    harbour.observer.view(await harbour.observer.observe("me"), me, harbour.me)
    assert harbour.observer.free_since == {}
    await advance(3)
    works = group_lease("harbour", "default", PROVEN.taken([1], "a", 3), group_spec(now()))
    await harbour.leases.patch(lease, works)
    seen = monotonic()
    for _ in range(2):
        observed = await harbour.observer.observe("me")
        view = harbour.observer.view(observed, me, harbour.me)
        await advance(2)

    assert harbour.observer.free_since == {n: seen for n in PROVEN.numbers if n != 1}
    assert view.map_since == 0.0


def now() -> datetime:
    return LoopClock().now()
