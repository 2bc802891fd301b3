"""Steps of a scenario are told in words."""

from __future__ import annotations

from quintant.testing.explore.foreign.scenario_file import PatchTarget, ScaleStep, ScenarioStep
from quintant.testing.explore.foreign.steps import describe


def test_a_change_of_an_object_is_told() -> None:
    patch = ScenarioStep(patch=PatchTarget("Widget", "a", {"spec": {"size": 2}}))
    assert describe(patch) == 'patch Widget default/a {"spec":{"size":2}}'
    assert describe(ScenarioStep(scale=ScaleStep("Widget", "a", 3))) == "scale Widget default/a 3"


def test_of_a_secret_that_is_changed_the_name_is_told_and_no_value() -> None:
    patch = ScenarioStep(patch=PatchTarget("Secret", "a", {"stringData": {"key": "hunter"}}))
    assert describe(patch) == "patch Secret default/a"
