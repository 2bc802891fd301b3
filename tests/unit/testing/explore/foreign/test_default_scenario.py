"""Without a scenario, a sample is created, changed, scaled, deleted and created again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.default_scenario import default_scenario


def definition(*, scaled: bool = False) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 0, "maximum": 5}
    spec = {"limit": {**number, "maximum": 3}, "count": number, "replicas": number}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}, **({"scale": scale} if scaled else {})},
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "spec": {"type": "object", "properties": spec},
                    "status": {"type": "object", "properties": {"replicas": number}},
                },
            }
        },
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


def files(folder: Path, spec: dict[str, Any], *, scaled: bool = False) -> tuple[Path, Path]:
    sample = {
        "apiVersion": "demo.dev/v1",
        "kind": "Widget",
        "metadata": {"name": "a"},
        "spec": spec,
    }
    crd, path = folder / "crd.yaml", folder / "sample.yaml"
    crd.write_text(yaml.safe_dump(definition(scaled=scaled)))
    path.write_text(yaml.safe_dump(sample))
    return crd, path


async def test_the_first_number_that_may_change_is_changed(tmp_path: Path) -> None:
    crd, sample = files(tmp_path, {"limit": 3, "count": 1})
    scenario = await default_scenario([crd], sample)
    assert [each.action for each in scenario.steps] == [
        "apply",
        "patch",
        "delete",
        "apply",
        "delete",
    ]
    assert scenario.steps[1].patch is not None
    # One more than 3 is refused by the definition.
    assert scenario.steps[1].patch.merge == {"spec": {"count": 2}}


async def test_replicas_are_scaled_down_and_up(tmp_path: Path) -> None:
    crd, sample = files(tmp_path, {"replicas": 2}, scaled=True)
    scenario = await default_scenario([crd], sample)
    scaled = [each.scale.replicas for each in scenario.steps if each.scale is not None]
    assert scaled == [1, 2]


async def test_one_replica_is_scaled_up_and_down(tmp_path: Path) -> None:
    crd, sample = files(tmp_path, {"replicas": 1})
    scenario = await default_scenario([crd], sample)
    merges = [each.patch.merge for each in scenario.steps if each.patch is not None]
    assert merges == [{"spec": {"replicas": 2}}, {"spec": {"replicas": 1}}]


async def test_what_is_changed_is_the_object_whose_kind_is_defined(tmp_path: Path) -> None:
    crd, sample = files(tmp_path, {"replicas": 1})
    beside = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "b"}}
    sample.write_text(sample.read_text() + "---\n" + yaml.safe_dump(beside))
    scenario = await default_scenario([crd], sample)
    assert {each.delete.kind for each in scenario.steps if each.delete} == {"Widget"}


async def test_without_a_scale_subresource_the_number_is_patched(tmp_path: Path) -> None:
    crd, sample = files(tmp_path, {"replicas": 2})
    scenario = await default_scenario([crd], sample)
    merges = [each.patch.merge for each in scenario.steps if each.patch is not None]
    assert merges == [{"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}]


async def test_a_sample_that_the_server_refuses_is_an_error(tmp_path: Path) -> None:
    crd, sample = files(tmp_path, {"count": 9})
    with pytest.raises(ConfigError, match="cannot explore the sample"):
        await default_scenario([crd], sample)
