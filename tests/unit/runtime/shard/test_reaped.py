from __future__ import annotations

import asyncio

from structlog.testing import capture_logs

from quintant.client.rest import Rest
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.reaped import SENT_WRITE_SECONDS, bury_reaped
from quintant.testing.faults.match import verb
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance
from unit.runtime.shard.group_testbed import GROUP, RANGES, a_group


async def test_what_a_reaped_process_held_is_at_work_elsewhere_within_eight_seconds() -> None:
    async with a_group(2) as group:
        first, second = group.members
        await second.die()
        burial = asyncio.create_task(bury_reaped(group.others, GROUP, "host_2"))

        await advance(SENT_WRITE_SECONDS - 0.1)
        assert first.count() == RANGES // 2
        await advance(3.1)

        assert first.count() == RANGES
        await burial


async def test_other_members_are_left_alone() -> None:
    async with a_group(2) as group:
        await bury_reaped(group.others, GROUP, "host_3")
        await advance(2)

        assert sorted(member.count() for member in group.members) == [4, 4]
        for member in group.members:
            assert (await group.lease(f"{GROUP}-{member.id}")).spec.holder_identity


async def test_a_burial_that_fails_is_tried_until_others_have_noticed() -> None:
    async with a_group(2) as group:
        first, second = group.members
        faults = FaultTransport(group.server)
        leases = LeaseClient(Rest(faults), "default")
        faults.refuse(verb("list"), times=2)
        await second.die()
        await bury_reaped(leases, GROUP, "host_2")
        await advance(3)
        assert first.count() == RANGES

        faults.refuse(verb("list"))
        with capture_logs() as logs:
            await bury_reaped(leases, GROUP, "host_1")
        assert [line for line in logs if line["event"] == "cannot bury a process"]
        assert first.count() == RANGES
