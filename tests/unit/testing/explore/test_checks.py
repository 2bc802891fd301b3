"""What must hold of a disturbed run, and of the undisturbed one."""

from __future__ import annotations

from collections import Counter

import pytest

from quintant import Context, Manager, replace
from quintant.api.core import ConfigMap
from quintant.runtime.reconcile.result import Result
from quintant.testing import FaultMode, Scenario, ScenarioWorld, explore_scenario
from quintant.testing.explore.checks import first_breach
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.explore.simulation.run import RunRecord
from testbeds.exploring import (
    Greeting,
    GreetingCreated,
    GreetingStatus,
    child_of,
    greeting,
    manager_of,
    reconcile,
    saying,
)

SECRET = "s3cr3t"


def scenario_of(reconciler: object, **members: object) -> type[Scenario]:
    """A scenario in which a greeting is created and reconciled so."""

    class Made(GreetingCreated):
        def managers(self, world: ScenarioWorld) -> list[Manager]:
            return [manager_of(reconciler)]  # type: ignore[arg-type]

    return type("Made", (Made,), members)


def first_failure(found: type[Scenario]) -> str:
    failures = explore_scenario(found).failures
    return f"{failures[0].token}: {failures[0].why}" if failures else ""


def test_writing_what_is_there_already_is_a_hot_loop() -> None:
    async def again(it: Greeting, ctx: Context[Greeting]) -> Result:
        await reconcile(it, ctx)
        await ctx.client.json_patch(Greeting, it.metadata, [])
        return Result(after=20)

    told = first_failure(scenario_of(again))
    assert told.startswith("undisturbed: hot loop: ")
    assert told.endswith("of rest, first patch greetings.explored.dev default/a")


def test_a_reconcile_that_fails_without_any_fault_is_told_with_its_reason() -> None:
    async def fails(it: Greeting, ctx: Context[Greeting]) -> None:
        raise ValueError("no such place")

    (failure,) = explore_scenario(scenario_of(fails)).failures
    assert failure.token == "undisturbed"
    assert failure.why == "greeting default/a fails again and again"
    assert "the last reconcile that failed: ValueError: no such place" in failure.story


def test_a_reason_with_a_secret_in_it_is_not_told() -> None:
    async def fails(it: Greeting, ctx: Context[Greeting]) -> None:
        raise ValueError(SECRET)

    (failure,) = explore_scenario(scenario_of(fails, secrets=(SECRET,))).failures
    assert SECRET not in str(failure)


def test_what_was_made_by_an_old_view_may_be_taken_back() -> None:
    async def unless_silent(it: Greeting, ctx: Context[Greeting]) -> None:
        if it.spec.message:
            await ctx.apply(child_of(it))
        else:
            for found in await ctx.owned(ConfigMap):
                await ctx.client.delete(found)

    class Silenced(GreetingCreated):
        def managers(self, world: ScenarioWorld) -> list[Manager]:
            return [manager_of(unless_silent)]

        async def script(self, world: ScenarioWorld) -> None:
            await world.create(greeting("hi"))
            await world.quiet()
            await world.edit(Greeting, "a", lambda it: replace(it, spec=saying("")))
            await world.quiet()

    explore_scenario(Silenced, modes=[FaultMode.REWIND, FaultMode.STALE]).check()


def test_writing_at_every_resync_is_a_hot_loop() -> None:
    async def again(it: Greeting, ctx: Context[Greeting]) -> None:
        await reconcile(it, ctx)
        await ctx.client.json_patch(Greeting, it.metadata, [])

    assert "hot loop: 1 write in 60 s of rest" in first_failure(scenario_of(again))


def test_working_without_rest_is_a_hot_loop() -> None:
    async def restless(it: Greeting, ctx: Context[Greeting]) -> Result:
        await reconcile(it, ctx)
        return Result(after=0.1)

    assert "greeting default/a was reconciled" in first_failure(scenario_of(restless))


def test_a_poll_is_no_hot_loop() -> None:
    async def poll(it: Greeting, ctx: Context[Greeting]) -> Result:
        await reconcile(it, ctx)
        return Result(after=10)

    assert first_failure(scenario_of(poll)) == ""


async def in_a_child(it: Greeting, ctx: Context[Greeting]) -> None:
    await ctx.apply(replace(child_of(it), data={"text": SECRET}))


async def in_an_event(it: Greeting, ctx: Context[Greeting]) -> None:
    if it.status is None:
        ctx.event("Greeted", f"with {SECRET}")
        await ctx.set_status(GreetingStatus(greeted=True))


async def in_an_error(it: Greeting, ctx: Context[Greeting]) -> None:
    await ctx.apply(child_of(it))
    if it.status is None:
        await ctx.set_status(GreetingStatus(greeted=True))
        raise ValueError(f"cannot greet with {SECRET}")


@pytest.mark.parametrize(
    ("reconciler", "place"),
    [
        (in_a_child, "configmaps default/a"),
        (in_an_event, "events default/a."),
        (in_an_error, "the logs"),
    ],
)
def test_a_secret_that_leaves_secrets_is_found_and_not_repeated(
    reconciler: object, place: str
) -> None:
    told = first_failure(scenario_of(reconciler, secrets=(SECRET,)))
    assert told.startswith(f"undisturbed: secret 1 is in {place}")
    assert SECRET not in told


@pytest.mark.parametrize(
    ("token", "found"),
    [
        ("stale@e1", True),
        ("lost@w1+rewind@e1", True),
        ("lost@w1", False),
        ("stale@e1+parent-deleted@w1", False),
    ],
)
def test_deletions_count_where_nothing_but_an_old_view_is_a_reason(token: str, found: bool) -> None:
    before = RunRecord(RunToken(), Trace(), deletes=Counter(pods=1))
    after = RunRecord(RunToken.parse(token), Trace(), deletes=Counter(pods=2))
    assert (first_breach(before, after) is not None) is found
