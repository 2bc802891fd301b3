"""Defaults of built-in kinds: each where its message occurs, none where something was said."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.defaulting.constants import CONSTANTS
from quintant.cluster.apiserver.defaulting.rules import RULES
from quintant.cluster.apiserver.defaulting.walk import defaulter
from quintant.cluster.apiserver.go_types.coerce import coerce
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.registry.builtin import builtin_kinds


def completed(api_version: str, kind: str, **content: Any) -> dict[str, Any]:
    message = go_types.find(api_version, kind)
    assert message is not None
    obj: dict[str, Any] = {"metadata": {}, **content}
    coerce(message, obj)
    fill = defaulter(message)
    assert fill is not None
    fill(obj)
    return obj


def test_every_default_belongs_to_a_field_that_exists() -> None:
    for name, constants in CONSTANTS.items():
        assert constants.keys() <= go_types.message(name).fields.keys()
    assert all(go_types.message(name) for name in RULES)


@pytest.mark.parametrize("kind", builtin_kinds(), ids=lambda kind: kind.resource.full_name)
def test_defaults_are_brought_in_once(kind: Kind) -> None:
    fill = kind.strategy.default
    assert fill is not None
    assert kind.message is not None
    once: dict[str, Any] = {"metadata": {"name": "a"}}
    coerce(kind.message, once)
    fill(once)
    twice = deepcopy(once)
    fill(twice)
    assert twice == once


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("a", "Always"),
        ("a:latest", "Always"),
        ("a:1", "IfNotPresent"),
        ("host:5000/a", "Always"),
        ("host:5000/a:1", "IfNotPresent"),
        ("a@sha256:0", "IfNotPresent"),
        ("a:latest@sha256:0", "Always"),
    ],
)
def test_images_without_a_fixed_tag_are_always_pulled(image: str, policy: str) -> None:
    pod = completed("v1", "Pod", spec={"containers": [{"name": "c", "image": image}]})
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_what_was_said_is_kept() -> None:
    probe = {"exec": {}, "periodSeconds": 3}
    container = {"name": "c", "image": "a:1", "imagePullPolicy": "Never", "livenessProbe": probe}
    pod = completed("v1", "Pod", spec={"containers": [container], "enableServiceLinks": False})
    found = pod["spec"]["containers"][0]
    assert found["imagePullPolicy"] == "Never"
    assert found["livenessProbe"]["periodSeconds"] == 3
    assert pod["spec"]["enableServiceLinks"] is False


def test_the_job_of_a_cron_job_is_completed_when_it_is_made() -> None:
    cron = completed("batch/v1", "CronJob", spec={"jobTemplate": {"spec": {"template": {}}}})
    assert "backoffLimit" not in cron["spec"]["jobTemplate"]["spec"]
    template = cron["spec"]["jobTemplate"]["spec"]["template"]
    assert template["spec"]["dnsPolicy"] == "ClusterFirst"
