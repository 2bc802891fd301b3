"""Specs of a foreign kind are made from its definition and a sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.specs.plan import (
    GOOD,
    SpecSubject,
    plan_foreign_specs,
    spec_subject,
)

SIZE: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 5}


def definition(schema: dict[str, Any] | None) -> dict[str, Any]:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or anything},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.demo.dev"},
        "spec": {
            "group": "demo.dev",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    }


def subject(folder: Path, properties: dict[str, Any] | None) -> SpecSubject:
    spec = {"type": "object", "properties": properties}
    schema = {"type": "object", "properties": {"spec": spec}} if properties else None
    widget = {"apiVersion": "demo.dev/v1", "kind": "Widget", "metadata": {"name": "a"}}
    beside = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "b"}}
    (folder / "crd.yaml").write_text(yaml.safe_dump(definition(schema)))
    sample = folder / "sample.yaml"
    sample.write_text(yaml.safe_dump_all([{**widget, "spec": {"size": 2}}, beside]))
    return spec_subject([folder / "crd.yaml"], sample)


async def test_each_case_begins_and_ends_with_the_good_spec(tmp_path: Path) -> None:
    made = subject(tmp_path, {"size": SIZE})
    plan = await plan_foreign_specs(made, 3, 1)
    assert plan.cases
    for case in plan.cases:
        patches = made.patches(case)
        assert (patches[0], patches[-1]) == (GOOD, GOOD)
        assert all("size" in json.loads(each) for each in patches[1:-1])


async def test_what_the_server_refuses_is_tried_as_well(tmp_path: Path) -> None:
    plan = await plan_foreign_specs(subject(tmp_path, {"size": SIZE}), 20, 1)
    [tried] = plan.tried
    assert 6 in tried.refused
    assert 5 in tried.taken


async def test_the_same_seed_is_the_same_cases(tmp_path: Path) -> None:
    made = subject(tmp_path, {"size": SIZE, "name": {"type": "string"}})
    assert await plan_foreign_specs(made, 9, 4) == await plan_foreign_specs(made, 9, 4)


async def test_a_definition_without_a_schema_has_nothing_to_change(tmp_path: Path) -> None:
    plan = await plan_foreign_specs(subject(tmp_path, None), 5, 1)
    assert (plan.cases, plan.properties) == ((), ())


def test_what_the_sample_holds_beside_the_object_is_there_before(tmp_path: Path) -> None:
    made = subject(tmp_path, {"size": SIZE})
    assert [each["kind"] for each in made.surroundings] == ["Secret"]
    assert [each["kind"] for each in made.scenario((GOOD,)).prepared] == ["Secret"]


def test_a_sample_of_another_kind_is_an_error(tmp_path: Path) -> None:
    crd, sample = tmp_path / "crd.yaml", tmp_path / "sample.yaml"
    crd.write_text(yaml.safe_dump(definition(None)))
    sample.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    with pytest.raises(ConfigError, match="no object with a spec whose kind --crds defines"):
        spec_subject([crd], sample)
