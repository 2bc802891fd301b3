"""What is merged into a workload has the properties of that workload."""

from __future__ import annotations

import pytest

from quintant.testing.explore.specs.schema import Schema, properties
from quintant.testing.explore.specs.workloads import OPEN, with_workloads

ANYTHING: Schema = {"type": "object", OPEN: True}


def names(schema: Schema) -> set[str]:
    return {each.name for each in properties(with_workloads(schema))}


def nested(*path: str) -> Schema:
    schema = ANYTHING
    for name in reversed(path):
        schema = {"type": "object", "properties": {name: schema}}
    return schema


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("statefulSet", "spec"), "statefulSet.spec.template.spec.serviceAccountName"),
        (("pod", "podTemplate"), "pod.podTemplate.spec.affinity"),
        (("podSpec",), "podSpec.tolerations"),
    ],
)
def test_a_workload_that_is_taken_as_it_is_has_its_properties(
    path: tuple[str, ...], found: str
) -> None:
    assert found in names(nested(*path))


def test_what_takes_everything_and_is_no_workload_is_left_as_it_is() -> None:
    assert names(nested("settings", "spec")) == {"settings", "settings.spec"}
    assert with_workloads(nested("settings")) == nested("settings")


def test_a_schema_of_its_own_counts_more_than_a_name() -> None:
    own = {"type": "object", OPEN: True, "properties": {"size": {"type": "integer"}}}
    assert names({"properties": {"podSpec": own}}) == {"podSpec", "podSpec.size"}
