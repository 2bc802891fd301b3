"""Two replicas run the background task of the same object, each sure to be the only one.

The leader cannot renew its lease; a standby takes it. What the old one does outside of the API
server no fence can stop: so its tasks end before.
"""

from __future__ import annotations

import asyncio

from quintant import Context, Manager
from quintant.core.clock import monotonic
from quintant.core.errors import NotLeader
from quintant.runtime.leader.lease import DOUBT_SHARE, RENEW_SECONDS
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, path
from scenarios.greeter import Greeter, greeter

LEASES = path("*/leases/*")


class Phones:
    """A daemon per greeter that holds a line which only one may hold."""

    def __init__(self) -> None:
        self.held: dict[str, int] = {}
        self.begun, self.most, self.ended_at = 0, 0, 0.0
        self.fenced: list[bool] = []
        self.engine: Engine | None = None

    async def __call__(self, obj: Greeter, ctx: Context[Greeter]) -> None:
        name = obj.metadata.name
        self.begun += 1
        self.held[name] = self.held.get(name, 0) + 1
        self.most = max(self.most, self.held[name])
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1)  # hanging up takes a moment
            self.held[name] -= 1
            self.ended_at = monotonic()
            try:
                ctx.client.fence()
                self.fenced.append(False)
            except NotLeader:
                self.fenced.append(True)


def phones_manager(phones: Phones) -> Manager:
    async def reconcile(obj: Greeter, ctx: Context[Greeter]) -> None: ...

    manager = Manager("phones", leader_elect=True)
    manager.controls(Greeter).daemon(phones).reconcile(reconcile)
    return manager


async def test_daemons_end_before_the_fence_closes(cluster: InProcessCluster) -> None:
    phones = Phones()
    engine = await cluster.run(phones_manager(phones))
    for number in range(5):
        await cluster.create(greeter(f"g{number}"))
    await cluster.advance(10)
    assert sum(phones.held.values()) == 5
    began = monotonic()
    with cluster.faults.refuse(LEASES):
        await cluster.advance(RENEW_SECONDS * DOUBT_SHARE + 2)
        assert sum(phones.held.values()) == 0
        assert phones.ended_at - began < RENEW_SECONDS
        assert phones.fenced == [False] * 5
        assert engine.elector is not None


async def test_daemons_begin_again_when_the_lease_is_renewed_after_all(
    cluster: InProcessCluster,
) -> None:
    phones = Phones()
    await cluster.run(phones_manager(phones))
    await cluster.create(greeter("a"))
    await cluster.advance(10)
    with cluster.faults.refuse(LEASES):
        await cluster.advance(RENEW_SECONDS * DOUBT_SHARE + 0.4)
    await cluster.advance(10)
    assert phones.held == {"a": 1}
    assert phones.begun == 2
    assert phones.most == 1


async def test_a_daemon_that_returned_is_over_whatever_becomes_of_the_lease(
    cluster: InProcessCluster,
) -> None:
    begun: list[str] = []

    async def once(obj: Greeter, ctx: Context[Greeter]) -> None:
        begun.append(obj.metadata.name)

    async def reconcile(obj: Greeter, ctx: Context[Greeter]) -> None: ...

    manager = Manager("phones", leader_elect=True)
    manager.controls(Greeter).daemon(once).reconcile(reconcile)
    await cluster.run(manager)
    await cluster.create(greeter("a"))
    await cluster.advance(10)
    with cluster.faults.refuse(LEASES):
        await cluster.advance(RENEW_SECONDS * DOUBT_SHARE + 0.4)
    await cluster.advance(10)
    assert begun == ["a"]


async def test_no_object_ever_has_daemons_of_two_replicas(cluster: InProcessCluster) -> None:
    phones = Phones()
    first = await cluster.run(phones_manager(phones))
    for number in range(5):
        await cluster.create(greeter(f"g{number}"))
    await cluster.advance(10)
    # Not started by `run`, which waits for controllers at work: a standby has none yet.
    second = phones_manager(phones).bind(cluster.environment())
    standby = asyncio.ensure_future(second.run())
    await cluster.advance(10)
    assert set(phones.held.values()) == {1}
    await cluster.stop(first)
    await cluster.advance(30)
    assert set(phones.held.values()) == {1}
    assert phones.most == 1
    standby.cancel()
    await asyncio.wait({standby})
