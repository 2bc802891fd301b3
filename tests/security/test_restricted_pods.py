"""Every pod that is made runs where a namespace enforces `restricted`; a user may ask for more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quintant.core import codec
from quintant.core.object import ObjectMeta, Opaque
from quintant.core.yaml import load_all
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.stateful_job import (
    StatefulJob,
    StatefulJobClaim,
    StatefulJobSpec,
)
from quintant.operators.cosmos.builders.additional_pod_builder import build_additional_pods
from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import instances
from quintant.operators.cosmos.builders.pod_builder import PodInputs, build_pod
from quintant.operators.cosmos.stateful_job.builders import build_job
from testbeds.pod_security import violations
from unit.operators.cosmos.full_nodes import full_node

DEPLOY = Path(__file__).parents[2] / "deploy"
EXAMPLES = Path(__file__).parents[2] / "examples"
BESIDE = [{"name": "metrics", "containers": [{"name": "m", "image": "m"}],
           "initContainers": [{"name": "i", "image": "m"}]}]  # fmt: skip
EVERY: dict[str, dict[str, Any]] = {
    "plain": {},
    "sentry": {"type": "Sentry"},
    "versions": {"chain": {"versions": [{"height": 0, "image": "a"}]}},
    "urls": {"chain": {"genesisURL": "https://a/g.json", "snapshotURL": "https://a/s.tar"}},
    "scripts": {"chain": {"genesisScript": "g", "addrbookScript": "a", "snapshotScript": "s"}},
    "own containers": {
        "pod": {
            "containers": [{"name": "side", "image": "s"}, {"name": "node", "image": "n"}],
            "initContainers": [{"name": "first", "image": "s"}],
        }
    },
    "beside": {"additionalVersionedPods": BESIDE},
}


def pods(of: CosmosFullNode) -> list[dict[str, Any]]:
    """The specs of all pods of a CosmosFullNode."""
    found = []
    for each in instances(of):
        pod = build_pod(of, each, PodInputs("x"), Tools("tools"))
        assert pod is not None
        found += [pod, *build_additional_pods(of, each, 0)]
    return [codec.to_plain(each)["spec"] for each in found]


def job_pod(spec: dict[str, Any]) -> dict[str, Any]:
    made = StatefulJob(
        metadata=ObjectMeta(name="job", namespace="test"),
        spec=StatefulJobSpec(
            selector={},
            pod_template=Opaque.of({"spec": spec}),
            volume_claim_template=StatefulJobClaim(storage_class_name="standard"),
        ),
    )
    pod: dict[str, Any] = codec.to_plain(build_job(made))["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize("name", EVERY)
def test_every_pod_of_a_chain_is_restricted(name: str) -> None:
    assert [violations(spec) for spec in pods(full_node(**EVERY[name]))] == [[]] * len(
        pods(full_node(**EVERY[name]))
    )


def test_the_pod_of_a_job_is_restricted() -> None:
    assert violations(job_pod({"containers": [{"name": "a", "image": "i"}]})) == []


def test_what_a_user_asks_for_wins() -> None:
    asked = {"capabilities": {"add": ["SYS_PTRACE"]}, "runAsUser": 7}
    root = {"runAsUser": 0}
    of = full_node(pod={"containers": [{"name": "node", "securityContext": asked}]})
    node = next(each for each in pods(of)[0]["containers"] if each["name"] == "node")
    assert node["securityContext"] == {"allowPrivilegeEscalation": False, **asked}
    pod = job_pod({"containers": [{"name": "a", "image": "i"}], "securityContext": root})
    assert pod["securityContext"]["runAsUser"] == 0
    assert "runAsNonRoot" not in pod["securityContext"]


def test_a_privileged_container_is_no_contradiction() -> None:
    context = {"privileged": True}
    pod = job_pod({"containers": [{"name": "a", "image": "i", "securityContext": context}]})
    assert "allowPrivilegeEscalation" not in pod["containers"][0]["securityContext"]


def _deployed() -> list[Path]:
    return sorted(DEPLOY.glob("*/operator/deployment.yaml"))


@pytest.mark.parametrize("path", _deployed(), ids=lambda path: path.parts[-3])
def test_every_operator_is_restricted_and_its_namespace_enforces_it(path: Path) -> None:
    objects = [each for each in load_all(path.read_text()) if each["kind"] == "Deployment"]
    assert [violations(each["spec"]["template"]["spec"]) for each in objects] == [[]]
    contexts = [each["spec"]["template"]["spec"]["securityContext"] for each in objects]
    assert all(each["runAsGroup"] > 0 for each in contexts)
    # A group without a user is what containerd makes no sandbox for.
    assert all(each.get("runAsUser", 0) > 0 for each in contexts)
    [home, *_] = load_all((path.parent / "namespace.yaml").read_text())
    assert home["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def _examples() -> list[Path]:
    return sorted(EXAMPLES.rglob("*.yaml"))


def _pod_spec(manifest: dict[str, Any]) -> dict[str, Any] | None:
    """The spec of the pods of a manifest that a user applies; None if it has none."""
    spec = manifest.get("spec") or {}
    if manifest.get("kind") == "Pod":
        return dict(spec)
    template = (spec.get("template") or {}).get("spec")
    return dict(template) if template else None


@pytest.mark.parametrize("path", _examples(), ids=lambda path: path.stem)
def test_every_example_may_be_applied_where_restricted_is_enforced(path: Path) -> None:
    specs = [_pod_spec(each) for each in load_all(path.read_text()) if isinstance(each, dict)]
    assert [violations(spec) for spec in specs if spec is not None and violations(spec)] == []
