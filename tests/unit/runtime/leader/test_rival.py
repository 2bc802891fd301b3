"""Who runs without leader election is told whom it runs beside."""

from __future__ import annotations

import pytest

from quintant.api.coordination import Lease
from quintant.client.rest import Rest
from quintant.core.object import replace
from quintant.runtime.leader.lease import Election, claimed_lease, released_lease
from quintant.runtime.leader.rival import live_holder, warn_of_rival
from quintant.testing import InProcessCluster, named


async def lease_of(cluster: InProcessCluster, holder: str) -> Lease:
    spec = claimed_lease(Election("klight", "default", holder), None, cluster.clock.now())
    return await cluster.create(Lease(metadata=named("klight"), spec=spec))


async def warned(cluster: InProcessCluster) -> str:
    rest = Rest(cluster.environment().transport)
    return await warn_of_rival(rest, "klight", "default", cluster.clock)


async def test_a_leader_that_lives_is_named(cluster: InProcessCluster) -> None:
    await lease_of(cluster, "somebody")
    assert await warned(cluster) == "somebody"


async def test_a_lease_that_ran_out_is_nobodys(cluster: InProcessCluster) -> None:
    lease = await lease_of(cluster, "somebody")
    await cluster.advance(60)
    assert await warned(cluster) == ""
    spec = released_lease(lease.spec, cluster.clock.now())
    assert live_holder(replace(lease, spec=spec), cluster.clock.now()) == ""


async def test_without_a_lease_there_is_nobody(
    cluster: InProcessCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await warned(cluster) == ""
    assert "running without leader election" in capsys.readouterr().out


async def test_who_may_not_read_leases_starts_all_the_same(cluster: InProcessCluster) -> None:
    with cluster.faults.answer(403):
        assert await warned(cluster) == ""
