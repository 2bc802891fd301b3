"""A call of minutes across every crash, every lost answer and a lost lease: made and recorded once.

The token is in the status before the call is made, and whoever finds one of which it knows nothing
looks at the other end first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from quintant import Context, Custom, Manager, Model, Result, replace, resource
from quintant.api.coordination import Lease, LeaseSpec
from quintant.runtime.source.long_calls import LongCalls
from quintant.testing import RemoteModel, Scenario, ScenarioWorld, effect, explore_scenario, named

# Longer than a reconcile may take.
CALL_SECONDS = 200.0
POLL_SECONDS = 30.0


class ResizeSpec(Model):
    size: int = 0


class ResizeStatus(Model):
    token: str | None = None
    size: int | None = None


@resource(group="explored.dev", version="v1", status=True)
class Resize(Custom[ResizeSpec, ResizeStatus]):
    """The size of something outside."""


class Cloud(RemoteModel):
    """Takes minutes to resize, and cannot tell a second call from the first."""

    def __init__(self) -> None:
        self.ends: dict[str, asyncio.Event] = {}

    @effect
    async def resize(self, token: str) -> None:
        assert all(each.is_set() for each in self.ends.values()), "two calls at once"
        self.ledger.add("resize", token)
        end = self.ends[token] = asyncio.Event()
        await asyncio.sleep(CALL_SECONDS)
        end.set()

    async def finished(self, token: str) -> bool:
        """Whether a call of that token was made and has ended; waits for one that is under way."""
        if token in self.ends:
            await self.ends[token].wait()
        return token in self.ends


class Resizer:
    """Resizes: token first, then the call, then its result."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.calls: LongCalls[None] = LongCalls()

    async def reconcile(self, it: Resize, ctx: Context[Resize]) -> Result | None:
        status, token = it.status or ResizeStatus(), f"{it.metadata.name} to {it.spec.size}"
        if status.size == it.spec.size:
            return None
        if status.token != token:
            await ctx.set_status(replace(status, token=token))
        ended = self.calls.begin(ctx.request, token, lambda: self.resize_once(token))
        if ended is None:
            return None
        if ended.error is not None:
            self.calls.forget(ctx.request)
            return Result(after=POLL_SECONDS)
        await ctx.set_status(ResizeStatus(token=token, size=it.spec.size))
        return None

    async def resize_once(self, token: str) -> None:
        if not await self.cloud.finished(token):
            await self.cloud.resize(token)

    def manager(self, *, leader_elect: bool = False) -> Manager:
        manager = Manager("resizer", leader_elect=leader_elect)
        builder = manager.controls(Resize).on(self.calls).on_deleted(self.calls.forget)
        builder.reconcile(self.reconcile)
        return manager


def cloud_of(world: ScenarioWorld) -> Cloud:
    found = world.remotes["cloud"]
    assert isinstance(found, Cloud)
    return found


class Resized(Scenario):
    """Created, resized once more, and deleted."""

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"cloud": Cloud()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [Resizer(cloud_of(world)).manager()]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Resize(metadata=named("a"), spec=ResizeSpec(size=3)))
        await world.quiet()
        await world.edit(Resize, "a", lambda it: replace(it, spec=ResizeSpec(size=5)))
        await world.quiet()
        await world.delete(Resize, "a")
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        assert not world.remotes["cloud"].ledger.twice


class _Forgetful(Resizer):
    """The mistake: it calls without a look whether somebody did before."""

    async def resize_once(self, token: str) -> None:
        await self.cloud.resize(token)


class _ResizedTwice(Resized):
    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [_Forgetful(cloud_of(world)).manager()]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Resize(metadata=named("a"), spec=ResizeSpec(size=3)))
        await world.quiet()


class LeaseLost(Resized):
    """Somebody else takes the lease while a call is under way."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [Resizer(cloud_of(world)).manager(leader_elect=True)]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Resize(metadata=named("a"), spec=ResizeSpec(size=3)))
        await world.advance(CALL_SECONDS / 2)
        await rob(world)
        await world.quiet()


class LeaseLostLate(LeaseLost):
    """The same, so late that the call ends within the grace, and nobody may write down how."""

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Resize(metadata=named("a"), spec=ResizeSpec(size=3)))
        await world.advance(CALL_SECONDS - 10)
        await rob(world)
        await world.quiet()


async def rob(world: ScenarioWorld) -> None:
    """Let the lease be another's, who does not renew it."""
    taken = LeaseSpec(holder_identity="a thief")
    await world.client.apply(Lease(metadata=named("resizer"), spec=taken))


def test_a_long_call_is_made_once_and_recorded_across_everything() -> None:
    explore_scenario(Resized).check()


def test_a_call_that_is_made_without_a_look_at_the_other_end_is_found() -> None:
    failures = {each.token for each in explore_scenario(_ResizedTwice).failures}
    assert failures >= {"crash-after@c0", "lost@c0", "crash-before@w1", "hand-over@w1"}


def test_a_long_call_survives_a_lost_lease_and_everything_else() -> None:
    explore_scenario(LeaseLost).check()


def test_a_call_that_ends_when_the_lease_is_lost_is_not_made_again() -> None:
    explore_scenario(LeaseLostLate).check()
