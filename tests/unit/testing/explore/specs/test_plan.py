"""Which cases are tried, and that they are the same for the same seed."""

from __future__ import annotations

from typing import Any

from quintant.testing.explore.specs.plan import SpecPlan, plan_specs
from quintant.testing.explore.specs.schema import Spec

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "x-kubernetes-validations": [
        {"rule": "!self.fast || self.size < 3", "message": "fast ones are small"}
    ],
    "properties": {
        "size": {"type": "integer", "minimum": 0, "maximum": 5},
        "fast": {"type": "boolean"},
        "text": {"type": "string"},
        "never": {"type": "string"},
    },
}
GOOD: Spec = {"size": 2, "fast": False}


async def refusal(spec: Spec) -> str:
    if "never" in spec:
        return "never"
    if not 0 <= spec.get("size", -1) <= 5:
        return "size is out of range"
    return "fast ones are small" if spec.get("fast") and spec["size"] >= 3 else ""


async def plan(count: int, seed: int = 1) -> SpecPlan:
    return await plan_specs(SCHEMA, GOOD, refusal, count=count, seed=seed)


async def test_every_property_is_set_changed_and_removed_first() -> None:
    made = await plan(4)
    assert {each.about for each in made.cases} == {("size",), ("fast",), ("text",), ("never",)}
    (text,) = (each for each in made.cases if each.about == ("text",))
    assert [each.get("text") for each in text.specs] == ["a", "b-2", None]


async def test_what_the_server_refuses_is_tried_as_well() -> None:
    specs = [spec for case in (await plan(60)).cases for spec in case.specs]
    assert any(spec["size"] == 6 for spec in specs if "size" in spec)
    assert any("never" in spec for spec in specs)


async def test_what_is_fixed_is_left_as_it_is() -> None:
    made = await plan_specs(SCHEMA, GOOD, refusal, count=30, seed=1, fixed=["text", "never"])
    assert made.properties == ("size", "fast")
    assert not any({"text", "never"} & {*spec} for case in made.cases for spec in case.specs)


async def test_there_is_a_spec_on_both_sides_of_a_rule() -> None:
    made = await plan(30)
    (ruled,) = (each for each in made.cases if each.about == ("fast", "size"))
    refused, taken, _ = ruled.specs
    assert await refusal(refused) == "fast ones are small"
    assert not await refusal(taken)
    assert not made.one_sided


async def test_a_rule_that_refuses_nothing_is_named() -> None:
    async def all_is_well(spec: Spec) -> str:
        return ""

    made = await plan_specs(SCHEMA, GOOD, all_is_well, count=30, seed=1)
    assert made.one_sided == ("!self.fast || self.size < 3",)


async def test_properties_of_which_nothing_is_taken_are_named() -> None:
    assert list((await plan(20)).untaken) == ["never"]


async def test_so_many_cases_as_are_wanted_the_same_for_the_same_seed() -> None:
    assert len((await plan(50)).cases) == 50
    assert (await plan(50)).cases == (await plan(50)).cases
    assert (await plan(50, 2)).cases != (await plan(50)).cases


async def test_several_properties_are_changed_together() -> None:
    made = await plan(60)
    assert any(len(each.about) > 2 for each in made.cases)
