"""Members of a sharded manager, explored: what moves with a range, and what must not be lost."""

from __future__ import annotations

import pytest

from explore.cosmos import NodesOfThreeMembers
from explore.greeter import GreetersOfThreeMembers
from explore.infra import InfraOfThreeMembers
from explore.klight import KlightOfThreeMembers
from explore.portal import PortalOfThreeMembers
from quintant import Context, KeyedState, Manager, Shards
from quintant.api.core import ConfigMap
from quintant.testing import Scenario, ScenarioWorld, explore_scenario
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import MEMBER_MODES, FaultMode
from quintant.testing.explore.injection.trace import PointKind
from testbeds.exploring import Greeting, GreetingCreated, GreetingStatus, child_of, greeting

LEFT_BEHIND = (FaultMode.JOIN, FaultMode.LEAVE, FaultMode.MEMBER_CRASH)


def members(*, remembers: bool) -> Manager:
    """A manager that knows what it has made from memory, or from the object."""
    made: KeyedState[list[str]] = KeyedState(list)

    async def reconcile(it: Greeting, ctx: Context[Greeting]) -> None:
        known = bool(made[ctx.request]) if remembers else it.status is not None
        if not known:
            child = await ctx.client.create(child_of(it, generate_name="a-"))
            made[ctx.request].append(child.metadata.name)
            await ctx.set_status(GreetingStatus(greeted=True))

    manager = Manager("greeter", shards=Shards(ranges=8))
    manager.controls(Greeting).owns(ConfigMap).keeps(made).reconcile(reconcile)
    return manager


class Remembered(GreetingCreated):
    """The mistake: what was made is known to the member that made it, and to no other."""

    replicas = 3

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [members(remembers=True)]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(greeting())
        await world.quiet()
        await world.advance(60)
        await world.quiet()


def test_three_members_bear_whatever_happens_to_one() -> None:
    explored = Explorer(GreetersOfThreeMembers)
    plan = explored.plan(MEMBER_MODES)
    assert explored.failure is None
    writes, leases = explored.points[PointKind.WRITE], explored.points[PointKind.MEMBER]
    assert len(plan) == (writes + leases) * len(MEMBER_MODES)
    assert [failure.token for failure in map(explored.run, plan) if failure] == []


@pytest.mark.parametrize(
    "scenario",
    [InfraOfThreeMembers, KlightOfThreeMembers, NodesOfThreeMembers, PortalOfThreeMembers],
)
def test_every_write_of_an_operator_is_a_point_for_whatever_happens_to_a_member(
    scenario: type[Scenario],
) -> None:
    explored = Explorer(scenario)
    plan = explored.plan(MEMBER_MODES)
    assert explored.failure is None
    writes, leases = explored.points[PointKind.WRITE], explored.points[PointKind.MEMBER]
    assert leases >= 3, "each has joined"
    assert len(plan) == (writes + leases) * len(MEMBER_MODES)


def test_portal_bears_what_happens_to_one_of_three_members() -> None:
    modes = (FaultMode.LEAVE, FaultMode.PARTITION)
    assert explore_scenario(PortalOfThreeMembers, modes=modes).failures == []


def test_what_only_one_member_remembers_is_found_when_ranges_move() -> None:
    failures = explore_scenario(Remembered, modes=LEFT_BEHIND).failures
    assert {each.token.partition("@")[0] for each in failures} >= {"leave", "member-crash"}


def test_members_are_disturbed_only_where_there_are_some_and_leaders_only_elsewhere() -> None:
    alone, three = Explorer(GreetingCreated), Explorer(GreetersOfThreeMembers)
    tried = [{each.faults[0].mode for each in explored.plan()} for explored in (alone, three)]
    assert tried[0].isdisjoint(MEMBER_MODES)
    assert FaultMode.HAND_OVER in tried[0]
    assert tried[1] >= set(MEMBER_MODES)
    assert FaultMode.HAND_OVER not in tried[1]


def test_a_range_that_no_member_works_on_is_waited_for() -> None:
    class Waits(Scenario):
        replicas = 2

        def managers(self, world: ScenarioWorld) -> list[Manager]:
            return [members(remembers=False)]

        async def script(self, world: ScenarioWorld) -> None:
            await world.create(greeting())
            await world.quiet()

        def settled(self, world: ScenarioWorld) -> None:
            assert [each.status for each in world.all(Greeting)] == [GreetingStatus(greeted=True)]

    assert Explorer(Waits).failure is None
