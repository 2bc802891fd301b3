"""What others do to children and parents between two writes."""

from __future__ import annotations

import pytest

from quintant import Context, Manager, replace
from quintant.api.core import ConfigMap
from quintant.core.object import ObjectMeta
from quintant.testing import FaultMode, Scenario, ScenarioWorld, explore_scenario
from testbeds.exploring import (
    Greeting,
    GreetingLife,
    GreetingStatus,
    child_of,
    manager_of,
)

OTHERS = (
    FaultMode.CHILD_EDITED,
    FaultMode.CHILD_DELETED,
    FaultMode.CHILD_RECREATED,
    FaultMode.PARENT_EDITED,
    FaultMode.PARENT_DELETED,
)


def found(scenario: type[Scenario]) -> dict[str, str]:
    """The modes that find something, and the first thing each finds."""
    failures = explore_scenario(scenario, modes=OTHERS).failures
    return {each.token.partition("@")[0]: each.why for each in reversed(failures)}


def test_who_applies_and_owns_its_children_stands_all_of_it() -> None:
    assert found(GreetingLife) == {}


class Replaced(GreetingLife):
    """The mistake: an old child is deleted by its name, whatever has that name by now."""

    careful = False

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def exchange(it: Greeting, ctx: Context[Greeting]) -> None:
            wanted = child_of(it)
            known = await ctx.client.find(ConfigMap, it.metadata.name, it.metadata.namespace)
            if known is not None and known.data != wanted.data:
                named = ObjectMeta(name=known.metadata.name, namespace=known.metadata.namespace)
                gone = known if self.careful else replace(known, metadata=named)
                await ctx.client.delete(gone)
            await ctx.apply(wanted)
            await ctx.set_status(GreetingStatus(greeted=True))

        return [manager_of(exchange)]


class ReplacedByUid(Replaced):
    """The same, and only the very child is deleted that was looked at."""

    careful = True


@pytest.mark.parametrize("mistaken", [True, False])
def test_deleting_by_name_is_found(mistaken: bool) -> None:
    told = found(Replaced if mistaken else ReplacedByUid)
    blind = (
        "it deletes configmaps default/a, which somebody made anew, and it has not seen that one"
    )
    assert (told.get("child-recreated") == blind) is mistaken


class Untended(GreetingLife):
    """The mistake: a child is made once, and never looked at again."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def once(it: Greeting, ctx: Context[Greeting]) -> None:
            if it.status is None:
                await ctx.apply(child_of(it))
                await ctx.set_status(GreetingStatus(greeted=True))

        return [manager_of(once)]


def test_a_child_that_nobody_looks_after_is_found() -> None:
    told = found(Untended)
    assert "data.text is" in told["child-edited"]
    assert told["child-deleted"].endswith("configmaps default/a is missing")
