"""Two faults in one run: each pair, the second in what follows from the first."""

from __future__ import annotations

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import ConfigMap
from quintant.testing import FaultMode, Scenario, ScenarioWorld, explore_scenario, named
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.pairs import SAMPLED_PAIRS, plan_pairs
from testbeds.exploring import GreetingLife

CRASH = (FaultMode.CRASH_AFTER,)
MOST_TRIES = 2


class TaskStatus(Model):
    tries: int | None = None


@resource(group="pairs.dev", version="v1", status=True)
class Task(Custom[Model, TaskStatus]):
    """Makes a ConfigMap, once."""


async def give_up(task: Task, ctx: Context[Task]) -> None:
    """The mistake: who was disturbed twice gives up. One crash is mended."""
    tries = (task.status.tries if task.status else None) or 0
    child = owned(ConfigMap(metadata=ObjectMeta.like(task), data={}), by=task)
    have = await ctx.client.find(ConfigMap, "a", "default", live=True)
    if tries == MOST_TRIES or have is not None:
        return
    await ctx.set_status(TaskStatus(tries=tries + 1))
    await ctx.client.create(child)


class GivesUp(Scenario):
    """A Task is made."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("tasks")
        manager.controls(Task).owns(ConfigMap).reconcile(give_up)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(Task(metadata=named("a"), spec=Model()))
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        assert world.one(ConfigMap, "a") is not None, "nothing was made"

    def normalise(self, document: dict[str, object]) -> dict[str, object] | None:
        """How often it was tried may differ."""
        return None if document["kind"] == "Task" else document


def test_what_survives_one_crash_and_not_two_is_found_by_pairs_alone() -> None:
    assert not explore_scenario(GivesUp, modes=CRASH).failures
    failures = explore_scenario(GivesUp, modes=CRASH, pairs=True).failures
    assert "settled is broken: nothing was made" in str(failures)
    assert all(len(RunToken.parse(each.token).faults) == 2 for each in failures)


def test_a_right_controller_survives_every_pair() -> None:
    report = explore_scenario(GreetingLife, modes=[*CRASH, FaultMode.LOST], pairs=True)
    report.check()
    assert report.runs == report.planned


def test_the_second_fault_is_at_a_point_that_only_the_first_one_brings() -> None:
    explorer = Explorer(GreetingLife)
    single = explorer.plan(CRASH)[0]
    writes = sum(each.kind == "w" for each in explorer.undisturbed.trace.points)
    after = explorer.faults_after(single, CRASH)
    assert single.faults[0] not in after
    assert len(after) >= writes - 1
    for second in after:
        assert explorer.run(RunToken((*single.faults, second))) is None


def test_the_same_pairs_are_planned_every_time() -> None:
    explorer = Explorer(GreetingLife)
    planned = plan_pairs(explorer, CRASH)
    assert planned == plan_pairs(explorer, CRASH)
    assert len(planned) == len({*planned}) <= SAMPLED_PAIRS
