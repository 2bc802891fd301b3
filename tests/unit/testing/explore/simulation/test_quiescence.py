"""When a world counts as quiet."""

from __future__ import annotations

import pytest

from quintant import Context, Manager, replace
from quintant.core.clock import monotonic
from quintant.runtime.reconcile.result import Result
from quintant.testing import ScenarioWorld, explore_scenario
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.simulation.run import RunRecord, ScenarioRunner
from testbeds.exploring import (
    Greeting,
    GreetingCreated,
    GreetingStatus,
    child_of,
    manager_of,
    saying,
)


def recorded(reconciler: object, **members: object) -> tuple[RunRecord, list[float]]:
    """A run in which a greeting is created, and the moment at which all was quiet."""
    moments: list[float] = []

    class Made(GreetingCreated):
        def managers(self, world: ScenarioWorld) -> list[Manager]:
            return [manager_of(reconciler)]  # type: ignore[arg-type]

        async def script(self, world: ScenarioWorld) -> None:
            await super().script(world)
            moments.append(monotonic())

    return ScenarioRunner(type("Made", (Made,), members)).run(RunToken()), moments


def test_what_is_due_later_is_waited_for() -> None:
    async def later(it: Greeting, ctx: Context[Greeting]) -> Result | None:
        age = ctx.clock.now().timestamp() % 3600
        if age < 600:
            return Result(after=600 - age)
        await ctx.apply(child_of(it))
        return None

    record, (moment,) = recorded(later)
    assert moment > 600
    assert "configmaps default/a" in record.states[0]


def test_a_poll_is_not_waited_for_for_ever() -> None:
    async def poll(it: Greeting, ctx: Context[Greeting]) -> Result:
        await ctx.apply(child_of(it))
        return Result(after=30)

    record, (moment,) = recorded(poll)
    assert not record.stopped
    assert 30 <= moment < 120


def test_a_key_that_fails_is_tried_some_more_times() -> None:
    tries: list[float] = []

    async def failing(it: Greeting, ctx: Context[Greeting]) -> None:
        tries.append(monotonic())
        if len(tries) % 7:
            raise ConnectionError("away")
        await ctx.apply(child_of(it))

    record, _ = recorded(failing)
    assert "configmaps default/a" in record.states[0]


def test_a_key_that_always_fails_does_not_keep_the_world_busy() -> None:
    async def failing(it: Greeting, ctx: Context[Greeting]) -> None:
        raise ConnectionError("away")

    record, (moment,) = recorded(failing)
    assert not record.stopped
    assert moment < 60


def test_what_never_ends_is_named() -> None:
    async def restless(it: Greeting, ctx: Context[Greeting]) -> Result:
        turn = str(int(monotonic()))
        await ctx.client.patch(replace(it, spec=saying(turn)), since=it)
        return Result(after=10)

    record, moments = recorded(restless, bound=120.0)
    assert moments == []
    assert record.stopped.startswith("NeverQuiet: greeting: ")


@pytest.mark.parametrize("calm", [0.5, 20.0])
def test_calm_is_how_long_nothing_must_happen(calm: float) -> None:
    async def told(it: Greeting, ctx: Context[Greeting]) -> None:
        await ctx.set_status(GreetingStatus(greeted=True))

    _, (moment,) = recorded(told, calm=calm)
    assert moment == pytest.approx(calm)


def test_a_poll_that_writes_nothing_is_explored() -> None:
    class Polled(GreetingCreated):
        def managers(self, world: ScenarioWorld) -> list[Manager]:
            async def poll(it: Greeting, ctx: Context[Greeting]) -> Result:
                await ctx.apply(child_of(it))
                return Result(after=30)

            return [manager_of(poll)]

    explore_scenario(Polled, modes=["crash-after", "stale"]).check()
