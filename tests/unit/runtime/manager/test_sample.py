"""Samples can be applied to any cluster: where `restricted` is enforced, and without a pull."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest

from quintant.operators import OPERATORS
from quintant.runtime.manager.sample import Sample

Plain = Mapping[str, Any]


def sample_of(operator: str) -> Sample:
    """What the demo applies for an operator."""
    found: Sample = import_module(f"quintant.operators.{operator}.sample").SAMPLE
    return found


def pods(operator: str) -> Iterator[Plain]:
    """The specs of all pods that a sample asks for by itself."""
    for manifest in sample_of(operator).manifests:
        spec = manifest.get("spec", {})
        if manifest["kind"] == "Pod":
            yield spec
        elif manifest["kind"] == "Deployment":
            yield spec["template"]["spec"]


WITH_PODS = [name for name in OPERATORS if any(pods(name))]


def test_four_samples_bring_pods_and_the_fifth_has_them_made() -> None:
    assert {*OPERATORS} - {*WITH_PODS} == {"cosmos"}


@pytest.mark.parametrize("operator", WITH_PODS)
def test_a_pod_of_a_sample_meets_the_restricted_standard(operator: str) -> None:
    for pod in pods(operator):
        own = pod["securityContext"]
        assert own["runAsNonRoot"] is True
        assert own["runAsUser"] > 0
        assert own["runAsGroup"] > 0
        assert own["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            confined = container["securityContext"]
            assert confined["allowPrivilegeEscalation"] is False
            assert confined["capabilities"]["drop"] == ["ALL"]


@pytest.mark.parametrize("operator", WITH_PODS)
def test_a_pod_of_a_sample_gets_no_token_of_the_api_server(operator: str) -> None:
    assert {pod["automountServiceAccountToken"] for pod in pods(operator)} == {False}


def test_relays_of_a_sample_ask_for_tokens() -> None:
    """In a pod of a real cluster they listen to the world, and refuse to do so without."""
    relays = [
        each for pod in pods("portal") for each in pod["containers"] if "relay" in each["name"]
    ]
    assert relays
    assert [each["name"] for each in relays if "--tokens" not in each["args"]] == []


@pytest.mark.parametrize("operator", WITH_PODS)
def test_an_image_of_a_sample_has_a_tag(operator: str) -> None:
    """Without one it is `latest`, which a kubelet pulls each time, though it is there."""
    images = [each["image"] for pod in pods(operator) for each in pod["containers"]]
    assert images
    assert [image for image in images if ":" not in image.rpartition("/")[2]] == []
