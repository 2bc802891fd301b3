"""Who acts by an old view, or needs to hear of every change, is found."""

from __future__ import annotations

from quintant import Context, Manager, replace
from quintant.api.core import ConfigMap
from quintant.testing import FaultMode, ScenarioWorld, explore_scenario
from testbeds.exploring import (
    Greeting,
    GreetingLife,
    child_of,
    greeting,
    manager_of,
    saying,
)

VIEWS = (FaultMode.STALE, FaultMode.REWIND, FaultMode.UNOBSERVED)


def found(scenario: type[GreetingLife]) -> set[FaultMode]:
    """The modes by which a mistake is found."""
    failures = explore_scenario(scenario, modes=VIEWS).failures
    return {FaultMode(each.token.partition("@")[0]) for each in failures}


async def prune(it: Greeting, ctx: Context[Greeting]) -> None:
    """The mistake: a child that is not of the message that the cache has must be an old one."""
    wanted = f"a-{it.spec.message}"
    for child in await ctx.client.list(ConfigMap, "default", live=True):
        if child.metadata.name.startswith("a-") and child.metadata.name != wanted:
            await ctx.client.delete(child)
    named = replace(child_of(it).metadata, name=wanted)
    await ctx.apply(replace(child_of(it), metadata=named))


class Pruned(GreetingLife):
    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [manager_of(prune)]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(greeting("hi"))
        await world.quiet()
        await world.edit(Greeting, "a", lambda it: replace(it, spec=saying("ho")))
        await world.quiet()


def test_deleting_by_an_old_view_is_found() -> None:
    assert found(Pruned) == {FaultMode.REWIND}


class Counted(GreetingLife):
    """The mistake: every change is counted, though nobody promises to deliver every one."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def count(it: Greeting, ctx: Context[Greeting]) -> None:
            seen = list(it.metadata.annotations.get("seen", "").split())
            if it.spec.message not in seen:
                noted = {"seen": " ".join([*seen, it.spec.message])}
                meta = replace(it.metadata, annotations=noted)
                await ctx.client.patch(replace(it, metadata=meta), since=it)

        return [manager_of(count)]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(greeting("hi"))
        await world.quiet()
        await world.edit(Greeting, "a", lambda it: replace(it, spec=saying("ho")))
        await world.advance(0.001)
        await world.edit(Greeting, "a", lambda it: replace(it, spec=saying("hu")))
        await world.quiet()


def test_needing_every_change_is_found() -> None:
    assert FaultMode.UNOBSERVED in found(Counted)


def test_who_only_looks_at_the_present_state_stands_all_of_it() -> None:
    assert found(GreetingLife) == set()
