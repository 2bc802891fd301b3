from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from examples_support import EXAMPLES
from quintant.cli import main


def printed(example: str, *options: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(main, ["manifests", str(EXAMPLES / f"{example}.py"), *options])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def test_everything_a_cluster_needs_is_printed_in_the_order_to_apply_it() -> None:
    assert [each["kind"] for each in printed("01_greeter")] == [
        "CustomResourceDefinition",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
    ]


def test_program_lives_in_the_namespace_that_is_asked_for() -> None:
    account, *_ = (e for e in printed("01_greeter", "-n", "ours") if e["kind"] == "ServiceAccount")
    assert account["metadata"]["namespace"] == "ours"


def test_webhooks_are_expected_behind_a_service_of_the_managers_name() -> None:
    found = [each for each in printed("06_webhooks", "-n", "ours") if "webhooks" in each]
    services = [w["clientConfig"]["service"] for each in found for w in each["webhooks"]]
    assert {(s["name"], s["namespace"]) for s in services} == {("topics", "ours")}


def test_with_an_image_everything_is_printed_that_kubectl_apply_needs() -> None:
    found = printed("06_webhooks", "--image", "registry.example.com/topics:1", "--replicas", "2")
    assert list(dict.fromkeys(each["kind"] for each in found)) == [
        "CustomResourceDefinition",
        "Namespace",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "Deployment",
        "Service",
        "PodDisruptionBudget",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ]
    homes = {e["metadata"].get("namespace") for e in found} - {None}
    assert homes == {"topics-system"}


def test_the_program_keeps_to_the_restricted_level_that_its_namespace_asks_for() -> None:
    found = printed("01_greeter", "--image", "greeter:1")
    (home,) = (each for each in found if each["kind"] == "Namespace")
    assert home["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}
    (deployment,) = (each for each in found if each["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"] == {
        "runAsGroup": 65532,
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    (container,) = pod["containers"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["args"][:2] == ["run", str(EXAMPLES / "01_greeter.py")]


def test_for_one_namespace_there_are_roles_for_no_other() -> None:
    found = printed("01_greeter", "--image", "greeter:1", "--watch-namespace", "shop")
    kinds = {each["kind"] for each in found}
    assert not kinds & {"ClusterRole", "ClusterRoleBinding"}
    roles = [each["metadata"]["namespace"] for each in found if each["kind"] == "Role"]
    assert set(roles) == {"shop", "greeter-system"}
    (deployment,) = (each for each in found if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert "--namespace=shop" in container["args"]


def test_the_namespace_default_is_not_made_anew() -> None:
    found = printed("01_greeter", "--image", "greeter:1", "-n", "default")
    assert "Namespace" not in {each["kind"] for each in found}


def test_file_without_a_manager_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("")
    result = CliRunner().invoke(main, ["manifests", str(path)])
    assert result.exit_code == 1
    assert "declares no manager" in result.output


def test_with_monitoring_alerts_and_a_dashboard_come_last() -> None:
    kinds = [each["kind"] for each in printed("01_greeter", "--image", "g:1", "--monitoring")]
    assert kinds[-3:] == ["PodMonitor", "PrometheusRule", "ConfigMap"]
    assert "PodMonitor" not in [each["kind"] for each in printed("01_greeter", "--image", "g:1")]


def test_an_operator_of_ours_has_the_given_image_and_reads_it_for_the_pods_it_makes() -> None:
    image = "registry.example.com/quintant:1"
    result = CliRunner().invoke(main, ["manifests", "portal", "--image", image])
    assert result.exit_code == 0, result.output
    (deployment,) = (
        each for each in yaml.safe_load_all(result.stdout) if each["kind"] == "Deployment"
    )
    assert deployment["metadata"]["namespace"] == "portal-system"
    assert deployment["spec"]["replicas"] == 2
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == image
    assert container["args"][:3] == ["operator", "portal", "--leader-elect"]
    # Whatever becomes of the image later, as by kustomize's `images:`, is read from the own pod.
    assert "TUNNEL_IMAGE" not in [each["name"] for each in container["env"]]
    name = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    assert name in container["env"]


def of_operator(*words: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(main, ["manifests", *words])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


@pytest.mark.parametrize("name", ["cosmos", "infra", "klight", "portal"])
def test_a_sharded_operator_starts_so_and_may_do_with_leases_what_members_do(name: str) -> None:
    found = of_operator(name, "--shards", "--image", "registry.example.com/quintant:1")
    (deployment,) = [each for each in found if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["args"][:3] == ["operator", name, "--shards"]
    rules = [rule for each in found if each["kind"] == "Role" for rule in each["rules"]]
    verbs = {verb for rule in rules if "leases" in rule["resources"] for verb in rule["verbs"]}
    assert verbs >= {"list", "delete"}


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["manifests", "shifu", "--shards"], "shifu cannot be sharded"),
        (["operator", "shifu", "--shards"], "shifu cannot be sharded"),
        (
            ["manifests", str(EXAMPLES / "01_greeter.py"), "--shards"],
            "01_greeter.py is not sharded",
        ),
    ],
)
def test_what_is_not_to_be_sharded_says_so_in_three_lines(words: list[str], first: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    what, because, hint = result.output.splitlines()[-3:]
    assert first in what
    assert because.startswith("because: ")
    assert hint.startswith("try: ")
