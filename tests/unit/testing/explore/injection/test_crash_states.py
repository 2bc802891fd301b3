"""Crashes that leave the same are one run, and no others are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from quintant import Context, Manager, ObjectMeta, owned, replace
from quintant.api.core import ConfigMap
from quintant.testing import RemoteModel, Scenario, ScenarioWorld, effect, explore_scenario, named
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.crash_states import fingerprint
from quintant.testing.explore.injection.trace import PointKind
from testbeds.exploring import Greeting, greeting

SAME = ("crash-after@w0", "crash-before@w1")


class Port(RemoteModel):
    """Counts who asks it, which is no effect and still changes what it is."""

    def __init__(self) -> None:
        self.questions = 0

    async def ask(self) -> int:
        self.questions += 1
        return self.questions

    @effect
    async def moor(self, name: str) -> None:
        await asyncio.sleep(5)
        self.ledger.add("ship", name)


class TwoWrites(Scenario):
    """Makes two children, with something between."""

    def __init__(self) -> None:
        self.seen = 0

    def remotes(self) -> dict[str, RemoteModel]:
        return {"port": Port()}

    async def between(self, world: ScenarioWorld) -> None:
        """Nothing, at first."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def reconcile(it: Greeting, ctx: Context[Greeting]) -> None:
            await ctx.apply(child(it, "bow"))
            await self.between(world)
            await ctx.apply(child(it, "stern"))

        manager = Manager("greetings")
        manager.controls(Greeting).owns(ConfigMap).reconcile(reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(greeting("a"))
        await world.quiet()


def child(it: Greeting, part: str) -> ConfigMap:
    meta = ObjectMeta(name=f"{it.metadata.name}-{part}", namespace=it.metadata.namespace)
    return owned(ConfigMap(metadata=meta), by=it)


class Asked(TwoWrites):
    """A remote is asked in between, which it remembers."""

    async def between(self, world: ScenarioWorld) -> None:
        await world.remotes["port"].ask()


class Later(TwoWrites):
    """Time passes in between."""

    async def between(self, world: ScenarioWorld) -> None:
        await asyncio.sleep(1)


class Noted(TwoWrites):
    """The scenario, which outlives its managers, remembers something in between."""

    async def between(self, world: ScenarioWorld) -> None:
        self.seen += 1


class Told(TwoWrites):
    """The script acts in between."""

    async def between(self, world: ScenarioWorld) -> None:
        world.trace.tell("- something that changes nothing")


class Other(TwoWrites):
    """Somebody else writes in between."""

    async def prepare(self, cluster: InProcessCluster) -> None:
        await cluster.create(ConfigMap(metadata=named("other")))

    async def between(self, world: ScenarioWorld) -> None:
        other = await world.client.get(ConfigMap, "other", "default")
        await world.client.patch(replace(other, data={"seen": "yes"}), since=other)


def classes(scenario: type[Scenario]) -> list[set[str]]:
    """The runs that count as one, by their tokens."""
    explorer = Explorer(scenario)
    alike = explorer.alike(explorer.plan()).items()
    return [{str(first), *map(str, others)} for first, others in alike if others]


def test_a_crash_after_a_write_is_one_before_the_next() -> None:
    assert [each for each in classes(TwoWrites) if set(SAME) <= each]


@pytest.mark.parametrize("between", [Asked, Later, Noted, Told, Other])
def test_what_happens_in_between_makes_another_run(between: type[Scenario]) -> None:
    assert Explorer(between).points[PointKind.WRITE] == 2
    assert not [each for each in classes(between) if set(SAME) <= each]


def test_other_modes_are_never_the_same() -> None:
    for each in classes(TwoWrites):
        assert {token.partition("@")[0] for token in each} <= {"crash-before", "crash-after"}


def test_runs_that_are_the_same_are_counted_and_said() -> None:
    report = explore_scenario(TwoWrites)
    assert report.runs == report.planned == len(set(report.tried))
    assert report.same > 0
    assert f"({report.same} the same as others)" in report.summary
    report.check()


def test_what_fails_is_told_of_every_run_that_is_the_same() -> None:
    class Fragile(TwoWrites):
        """Who starts again finds a child, and gives up."""

        def managers(self, world: ScenarioWorld) -> list[Manager]:
            self.seen += 1
            if (
                world.one(ConfigMap, "a-bow") is not None
                and world.one(ConfigMap, "a-stern") is None
            ):
                return [idle()]
            return super().managers(world)

    failed = {each.token.partition("~")[0] for each in explore_scenario(Fragile).failures}
    assert set(SAME) <= failed


def idle() -> Manager:
    """A manager that does nothing."""

    async def reconcile(it: Greeting, ctx: Context[Greeting]) -> None:
        return

    manager = Manager("greetings")
    manager.controls(Greeting).owns(ConfigMap).reconcile(reconcile)
    return manager


# What can be told of values.


class Plain:
    def __init__(self, held: Any) -> None:
        self.held = held


def counting(start: int) -> Callable[[], int]:
    def count() -> int:
        return start

    return count


def generated() -> Iterator[int]:
    yield 1


def test_values_are_told_apart_however_deep_they_are_held() -> None:
    values = (1, "1", [1], {"a": 1}, Plain(1), Plain([Plain(2)]), counting(1), counting(2), Plain)
    told = [fingerprint(Plain({"deep": [each]})) for each in values]
    assert None not in told
    assert len(set(told)) == len(values)
    assert told == [fingerprint(Plain({"deep": [each]})) for each in values]


async def test_an_event_that_was_set_is_another_one() -> None:
    event = asyncio.Event()
    before = fingerprint(Plain(event))
    event.set()
    assert None not in (before, fingerprint(Plain(event)))
    assert fingerprint(Plain(event)) != before


async def test_what_holds_a_task_or_a_generator_cannot_be_told() -> None:
    task = asyncio.ensure_future(asyncio.sleep(0))
    assert fingerprint(Plain([task])) is None
    assert fingerprint(Plain(generated())) is None
    assert fingerprint(Plain([task]), (asyncio.Task,)) is not None
    await task
