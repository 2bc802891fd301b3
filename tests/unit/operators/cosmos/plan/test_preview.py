"""What a change would do is told beforehand, with the field that is to blame."""

from __future__ import annotations

from typing import Any

from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.plan.preview import PreviewInputs, changed_fields, preview
from unit.operators.cosmos.full_nodes import full_node

GIVEN = PreviewInputs(Tools("tools:1"))


def told(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    lines = preview(full_node(**before), full_node(**after), GIVEN)
    return {f"{line.action} {line.kind} {line.name}": line.because for line in lines}


def test_nothing_changes_nothing() -> None:
    assert told({}, {}) == {}


def test_a_new_one_is_made_whole() -> None:
    lines = preview(None, full_node(replicas=2), GIVEN)
    assert len(lines) == 12
    assert {line.action for line in lines} == {"create"}


def test_another_image_restarts_pods_and_says_why() -> None:
    found = told({"replicas": 2}, {"replicas": 2, "image": "gaia:v2"})
    assert found["restart Pod hub-0"] == ("spec.podTemplate.image",)
    assert "restart Pod hub-1" in found


def test_scaling_restarts_nobody() -> None:
    found = told({"replicas": 2}, {"replicas": 3})
    assert not [each for each in found if each.startswith("restart")]
    assert found["create Pod hub-2"] == ("spec.replicas",)
    assert found["change ConfigMap hub-0"] == ("spec.replicas",)
    back = told({"replicas": 3}, {"replicas": 2})
    assert "delete Pod hub-2" in back
    assert "keep Service hub-p2p-2" in back
    assert "keep ConfigMap hub-2" in back


def test_every_field_is_blamed_for_what_it_changes() -> None:
    after = {
        "chain": {"logLevel": "debug"}, "claim": {"resources": {"requests": {"storage": "2Ti"}}},
    }  # fmt: skip
    found = told({"replicas": 1}, {"replicas": 1, **after})
    assert found["restart Pod hub-0"] == ("spec.chain.logLevel",)
    assert found["change PersistentVolumeClaim pvc-hub-0"] == (
        "spec.volumeClaimTemplate.resources.requests.storage",
    )


def test_fields_are_compared_as_deep_as_they_are_maps() -> None:
    one, other = {"a": {"b": 1, "c": [1]}, "d": 1}, {"a": {"b": 2, "c": [2]}, "e": 1}
    assert list(changed_fields(one, other)) == [("a", "b"), ("a", "c"), ("d",), ("e",)]
