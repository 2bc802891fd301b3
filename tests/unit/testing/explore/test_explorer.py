"""What an exploration tries, finds, and says."""

from __future__ import annotations

import datetime as machine_clock
import time
from collections import Counter
from contextlib import suppress

import pytest

from quintant import Context, Manager, replace
from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError, Conflict, NotFound
from quintant.runtime.reconcile.result import Result
from quintant.testing import (
    FaultMode,
    Scenario,
    ScenarioWorld,
    explore_scenario,
    replay_run,
    run_tokens,
    scenario,
)
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.injection.trace import PointKind
from testbeds.exploring import (
    Greeting,
    GreetingCreated,
    GreetingLife,
    GreetingStatus,
    MadeTwice,
    Provisioned,
    ProvisionedTwice,
    child_of,
    greeting,
    manager_of,
    reconcile,
)

CRASH_AFTER_W0 = RunToken.parse("crash-after@w0")
AT_WRITES = 12
"""crash before, crash after, lost, 409, 429, 500, 503, time-out, hand-over, parent gone, stop, stop
and crash"""
BETWEEN_WRITES = 5
"""child edited, deleted, recreated; parent edited, deleted"""
AT_EVENTS = 3
"""stale, rewind, lag"""
AT_STARTS = 2
"""crash before, lost"""
AT_RENEWALS = 3
"""lost, late, expired"""
AT_CALLS = 6
"""crash before, crash after, lost, parent gone; away, time-out"""


@pytest.mark.parametrize("right", [GreetingLife, Provisioned])
def test_a_right_controller_survives_everything(right: type[Scenario]) -> None:
    explore_scenario(right).check()


@pytest.mark.parametrize("explored", [GreetingLife, Provisioned])
def test_there_is_a_run_for_every_mode_at_every_point(explored: type[Scenario]) -> None:
    report = explore_scenario(explored)
    explorer = Explorer(explored)
    recorded = explorer.undisturbed.trace.points
    # While the world rests after the last step, nobody's parent is deleted.
    resting = [each for each in recorded if each.step >= explorer.steps]
    calls = sum(each.kind is PointKind.CALL for each in resting)
    kinds = Counter(point.kind for point in recorded)
    assert kinds == report.points
    changes = Counter(point.subject for point in recorded if point.kind is PointKind.EVENT)
    renewals = len({token for token in run_tokens(explored) if token.startswith("late@l")})
    pairs = sum(count - 1 for count in changes.values())
    wanted = (
        kinds[PointKind.WRITE] * AT_WRITES
        + (kinds[PointKind.WRITE] - 1) * BETWEEN_WRITES
        + kinds[PointKind.CALL] * AT_CALLS
        + kinds[PointKind.EVENT] * AT_EVENTS
        + kinds[PointKind.START] * AT_STARTS
        + renewals * AT_RENEWALS
        + pairs
        - calls
    )
    assert report.runs == report.planned == len(run_tokens(explored)) == wanted > 0


def test_a_child_that_is_made_twice_is_found() -> None:
    failures = explore_scenario(MadeTwice).failures
    assert {each.token for each in failures} >= {"crash-after@w0", "lost@w0", "hand-over@w1"}
    assert "configmaps default/a-<2> is there, and should not be" in failures[0].why


def test_a_failure_tells_what_happened_in_order() -> None:
    failure = Explorer(MadeTwice, target="file.py:MadeTwice").run(CRASH_AFTER_W0)
    assert failure is not None
    told = failure.story.splitlines()
    assert [line.split()[0] for line in told[:2]] == ["s0", "s1"]
    assert told[2].strip() == "- create Greeting default/a"
    assert "w0 create configmaps default" in told[3]
    assert "! crash-after at w0" in told[4]
    assert told[-2].strip() == f"=> {failure.why}"
    assert (
        told[-1].strip() == "repeat: quintant explore file.py:MadeTwice --replay 'crash-after@w0'"
    )


def test_a_token_repeats_its_run() -> None:
    replay_run(MadeTwice, "crash-before@w0")
    with pytest.raises(AssertionError, match="a-<2> is there"):
        replay_run(MadeTwice, "crash-after@w0")


@pytest.mark.parametrize("token", ["crash-after@w99", "sulk@w0", "lost", "lost@w0~speed=3"])
def test_a_token_that_names_no_run_is_refused(token: str) -> None:
    with pytest.raises(ConfigError, match="try: "):
        replay_run(GreetingLife, token)


def test_an_effect_that_is_made_twice_is_found() -> None:
    failures = {each.token: each.why for each in explore_scenario(ProvisionedTwice).failures}
    assert failures["crash-after@c0"] == "machine a was made while it existed already"
    assert failures["lost@c0"] == "machine a was made while it existed already"
    assert not {token for token in failures if token.startswith("crash-before@c")}


def test_what_is_known_in_memory_alone_is_found() -> None:
    class Remembered(GreetingCreated):
        def managers(self, world: ScenarioWorld) -> list[Manager]:
            made: set[str] = set()

            async def remember(it: Greeting, ctx: Context[Greeting]) -> None:
                if it.metadata.uid not in made:
                    await ctx.client.create(child_of(it, generate_name="a-"))
                    made.add(it.metadata.uid)
                await ctx.set_status(GreetingStatus(greeted=True))

            return [manager_of(remember)]

    failures = explore_scenario(Remembered, modes=[FaultMode.CRASH_BEFORE]).failures
    assert [each.token for each in failures] == ["crash-before@w1"]


def test_modes_can_be_chosen() -> None:
    report = explore_scenario(MadeTwice, modes=[FaultMode.CRASH_BEFORE])
    assert report.runs == report.points[PointKind.START] + report.points[PointKind.WRITE]
    assert [each.token for each in report.failures] == ["crash-before@w1"]


def test_a_mode_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"cannot try 'sulk'\nbecause: .*\ntry: crash-before"):
        explore_scenario(MadeTwice, modes=["sulk"])


def test_an_invariant_that_breaks_for_a_moment_is_found() -> None:
    class Watched(MadeTwice):
        def always(self, world: ScenarioWorld) -> None:
            assert len(world.all(ConfigMap)) <= 1, "two children"

    failures = explore_scenario(Watched, modes=[FaultMode.CRASH_AFTER]).failures
    assert [each.why for each in failures] == ["always is broken: two children"]


def test_what_holds_at_the_end_is_asked_at_the_end() -> None:
    class Ended(GreetingLife):
        def settled(self, world: ScenarioWorld) -> None:
            assert not world.all(Greeting)

    explore_scenario(Ended).check()


def test_a_function_is_a_scenario_too() -> None:
    @scenario(lambda world: manager_of(reconcile))
    async def greeted(world: ScenarioWorld) -> None:
        await world.create(greeting())

    report = explore_scenario(greeted)
    report.check()
    assert report.title == "greeted"
    assert report.points[PointKind.WRITE] == 2


def test_what_goes_on_beside_a_script_ends_with_it() -> None:
    class Attended(GreetingCreated):
        async def script(self, world: ScenarioWorld) -> None:
            world.spawn(self.rename(world))
            await super().script(world)

        async def rename(self, world: ScenarioWorld) -> None:
            """Be somebody who labels greetings, sooner or later."""
            while True:
                for it in world.all(Greeting):
                    if not it.metadata.labels:
                        meta = replace(it.metadata, labels={"seen": "yes"})
                        with suppress(Conflict, NotFound):
                            await world.client.patch(replace(it, metadata=meta), since=it)
                await world.advance(1)

        def settled(self, world: ScenarioWorld) -> None:
            assert all(it.metadata.labels for it in world.all(Greeting))

    explore_scenario(Attended).check()


def test_a_script_that_stumbles_in_a_disturbed_world_is_a_finding() -> None:
    class Stumbling(MadeTwice):
        async def script(self, world: ScenarioWorld) -> None:
            await super().script(world)
            (_,) = world.all(ConfigMap)

    failures = explore_scenario(Stumbling, modes=["crash-after"]).failures
    assert "after step 1" in failures[0].why or "ValueError" in failures[0].why


class TestScenariosThatCannotBeExplored:
    def test_one_that_never_gets_quiet(self) -> None:
        async def restless(it: Greeting, ctx: Context[Greeting]) -> Result:
            await ctx.apply(replace(child_of(it), data={"at": str(ctx.clock.now())}))
            return Result(after=10)

        class Restless(GreetingCreated):
            bound = 300.0

            def managers(self, world: ScenarioWorld) -> list[Manager]:
                return [manager_of(restless)]

        with pytest.raises(ConfigError, match=r"Restless never gets quiet\nbecause: .*\ntry: "):
            explore_scenario(Restless)

    def test_one_that_differs_from_itself(self) -> None:
        async def hidden(it: Greeting, ctx: Context[Greeting]) -> None:
            if it.status is None:
                now = machine_clock.datetime.now().strftime("%f %S")
                await ctx.apply(replace(child_of(it), data={"at": now}))
                await ctx.set_status(GreetingStatus(greeted=True))

        class Hidden(GreetingCreated):
            def managers(self, world: ScenarioWorld) -> list[Manager]:
                return [manager_of(hidden)]

        with pytest.raises(
            ConfigError, match=r"Hidden differs from itself(.|\n)*data\.at(.|\n)*try"
        ):
            explore_scenario(Hidden)

    def test_one_that_uses_a_manager_again(self) -> None:
        manager = manager_of(reconcile)

        class Reused(GreetingCreated):
            def managers(self, world: ScenarioWorld) -> list[Manager]:
                return [manager]

        with pytest.raises(ConfigError, match=r"uses manager 'greeter' twice\nbecause: .*\ntry: "):
            explore_scenario(Reused)

    def test_one_whose_remote_is_no_model(self) -> None:
        class Real(GreetingCreated):
            def remotes(self) -> dict[str, object]:  # type: ignore[override]
                return {"cloud": object()}

        with pytest.raises(ConfigError, match=r"remote 'cloud' is not a model\nbecause: .*\ntry: "):
            explore_scenario(Real)

    @pytest.mark.parametrize("seconds", [0.8, 3600.0])
    def test_one_whose_script_sleeps_in_real_time(self, seconds: float) -> None:
        class Asleep(GreetingCreated):
            async def script(self, world: ScenarioWorld) -> None:
                await super().script(world)
                time.sleep(seconds)  # noqa: ASYNC251 - the mistake

        with pytest.raises(ConfigError, match=r"Asleep waits in real time\nbecause: .*\ntry: "):
            explore_scenario(Asleep)

    def test_one_whose_reconciler_sleeps_in_real_time(self) -> None:
        async def slow(it: Greeting, ctx: Context[Greeting]) -> None:
            time.sleep(3600)  # noqa: ASYNC251 - the mistake

        class Slow(GreetingCreated):
            def managers(self, world: ScenarioWorld) -> list[Manager]:
                return [manager_of(slow)]

        with pytest.raises(
            ConfigError, match=r"Slow waits in real time\nbecause: .* slow .*\ntry: "
        ):
            explore_scenario(Slow)


def test_what_fails_without_any_fault_is_told_first_and_alone() -> None:
    class Failing(GreetingCreated):
        def settled(self, world: ScenarioWorld) -> None:
            raise AssertionError("never right")

    report = explore_scenario(Failing)
    assert [each.token for each in report.failures] == ["undisturbed"]
    assert report.failures[0].why == "settled is broken: never right"
    assert report.runs == 0
