"""The edges of a process's life: its start, its end, its lease, and a server that lags behind."""

from __future__ import annotations

import pytest

from quintant import Context, Manager, owned
from quintant.api.core import ConfigMap
from quintant.testing import FaultMode, ScenarioWorld, explore_scenario, named
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import RENEWAL_MODES, STOPS, RunToken
from quintant.testing.explore.injection.trace import PointKind
from quintant.testing.explore.simulation.run import ScenarioRunner
from testbeds.exploring import (
    Greeting,
    GreetingCreated,
    GreetingLife,
    GreetingStatus,
    child_of,
    manager_of,
)

AGAIN = "starts again"
CAUGHT_UP = "! the second server has caught up"


def lines(token: str, scenario: type[GreetingLife] = GreetingLife) -> list[str]:
    """The story of a run, without what is only at its margin."""
    record = ScenarioRunner(scenario).run(RunToken.parse(token))
    assert not record.stopped
    return [line.strip() for line in record.trace.lines]


def after(story: list[str], text: str) -> list[str]:
    """What comes after the first line with a text."""
    at = next(number for number, line in enumerate(story) if text in line)
    return story[at + 1 :]


def tokens(*kinds: PointKind) -> list[str]:
    plan = Explorer(GreetingLife).plan()
    return [str(each) for each in plan if each.faults[0].kind in kinds]


def test_every_read_of_a_start_is_a_point() -> None:
    assert tokens(PointKind.START) == [
        "crash-before@s0", "lost@s0", "crash-before@s1", "lost@s1",
    ]  # fmt: skip
    story = lines("undisturbed")
    assert story[:2] == ["s0 watch greetings.explored.dev", "s1 watch configmaps"]


def test_a_process_is_killed_in_its_start_and_starts_again() -> None:
    story = after(lines("crash-before@s1"), "! crash-before at s1")
    assert any(line.endswith(AGAIN) for line in story)
    assert "s2 watch greetings.explored.dev" in story


def test_an_answer_that_a_start_needs_is_lost_and_asked_for_again() -> None:
    story = after(lines("lost@s0"), "! lost at s0")
    assert "s2 watch greetings.explored.dev" in story
    assert not any(line.endswith(AGAIN) for line in story)


def test_who_stops_in_order_finishes_what_it_writes() -> None:
    story = after(lines("stop@w0"), "! stop at w0")
    written, again = (
        story.index("e1 ADDED configmaps default/a"),
        story.index(next(line for line in story if line.endswith(AGAIN))),
    )
    assert written < again


async def noted(it: Greeting, ctx: Context[Greeting]) -> None:
    """The mistake: who finds a note that it has begun believes that somebody is at it."""
    if it.status is not None or await ctx.client.find(ConfigMap, "begun", "default", live=True):
        return
    begun = await ctx.client.create(ConfigMap(metadata=named("begun")))
    await ctx.apply(child_of(it))
    await ctx.set_status(GreetingStatus(greeted=True))
    await ctx.client.delete(begun)


class Begun(GreetingCreated):
    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [manager_of(noted)]


def test_who_does_not_get_to_an_end_in_order_is_found() -> None:
    failures = explore_scenario(Begun, modes=[*STOPS]).failures
    assert {each.token for each in failures} >= {"stop-crash@w0"}


def test_from_a_server_that_lags_nothing_is_seen_before_its_time() -> None:
    story = after(lines("lag@e0"), "! lag at e0")
    assert story[:2] == [CAUGHT_UP, "w0 apply configmaps default/a"]


def test_a_server_that_lags_is_behind_by_some_revisions_and_no_more() -> None:
    """While the world goes on, so does what is seen of it."""

    class Written(GreetingCreated):
        async def script(self, world: ScenarioWorld) -> None:
            await super().script(world)
            for number in range(4):
                child = ConfigMap(metadata=named(f"b{number}"))
                await world.create(
                    owned(child, by=await world.client.get(Greeting, "a", "default"))
                )
            await world.quiet()

    story = after(lines("lag@e3", Written), "! lag at e3")
    seen = [line for line in story[: story.index(CAUGHT_UP)] if line.startswith("e")]
    assert seen == ["e4 ADDED configmaps default/b1"]


def test_renewals_are_points_of_those_that_elect() -> None:
    planned = tokens(PointKind.RENEWAL)
    assert len(planned) == 3 * len(RENEWAL_MODES)
    assert planned[:3] == ["lost@l0", "late@l0", "expired@l0"]
    assert not [line for line in lines("undisturbed") if line.startswith("l")]


@pytest.mark.parametrize("mode", RENEWAL_MODES)
def test_a_right_controller_survives_what_becomes_of_renewals(mode: FaultMode) -> None:
    report = explore_scenario(GreetingLife, modes=[mode])
    report.check()
    assert any("@l" in token for token in report.tried)


def test_a_leader_that_stood_still_has_lost_its_lease() -> None:
    story = after(lines("expired@l1"), "! expired at l1")
    assert story[0] == "! the process goes on"
    assert "was not renewed within 10 s" in story[1]
