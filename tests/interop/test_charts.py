"""Helm makes of the charts what kubectl makes of the kustomizations, and refuses what is wrong.

Beside its own labels and annotations nothing may differ, so that an operator is the same however it
was installed.
"""

from __future__ import annotations

import subprocess

import pytest
import yaml

from conformance.kubectl import programs
from quintant.operators import OPERATORS
from testbeds.helm import CRDS_CHART, OPERATORS_CHART, Helm, Key, Plain, by_key
from testbeds.kustomize import DEPLOY

MONITORED = ("podMonitor", "alerts", "dashboards")


def kustomized(*folders: str) -> dict[Key, Plain]:
    """What `kubectl kustomize` makes of folders."""
    kubectls = programs()
    if not kubectls:
        pytest.skip("there is no kubectl")
    texts = [
        subprocess.run(
            [kubectls[0], "kustomize", DEPLOY / each], capture_output=True, text=True, check=True
        ).stdout
        for each in folders
    ]
    return by_key(each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader))


def without_namespace(objects: dict[Key, Plain]) -> dict[Key, Plain]:
    return {key: found for key, found in objects.items() if key[0] != "Namespace"}


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_an_operator_by_helm_is_that_of_kubectl(helm: Helm, name: str) -> None:
    home, enabled = OPERATORS[name].namespace, f"operators.{name}.enabled=true"
    expected = without_namespace(kustomized(f"{name}/operator"))
    assert helm.render(OPERATORS_CHART, enabled, namespace=home) == expected


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_definitions_by_helm_are_those_of_kubectl(helm: Helm, name: str) -> None:
    enabled = f"operators.{name}.enabled=true"
    assert helm.render(CRDS_CHART, enabled) == kustomized(f"{name}/crds")


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_an_operator_for_one_namespace_is_the_same_too(helm: Helm, name: str) -> None:
    home, watched = OPERATORS[name].namespace, next(iter(OPERATORS[name].namespaces), "default")
    sets = f"operators.{name}.enabled=true", f"namespaces={{{watched}}}"
    expected = without_namespace(kustomized(f"{name}/namespaced/operator"))
    assert helm.render(OPERATORS_CHART, *sets, namespace=home) == expected


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_what_watches_over_an_operator_is_the_same_too(helm: Helm, name: str) -> None:
    home = OPERATORS[name].namespace
    switches = [f"monitoring.{each}.enabled=true" for each in MONITORED]
    found = helm.render(
        OPERATORS_CHART, f"operators.{name}.enabled=true", *switches, namespace=home
    )
    assert found == without_namespace(kustomized(f"{name}/operator", f"{name}/monitoring"))


def test_the_console_by_helm_is_that_of_kubectl(helm: Helm) -> None:
    found = helm.render(OPERATORS_CHART, "console.enabled=true", namespace="quintant-console")
    assert found == without_namespace(kustomized("console"))


def test_the_console_is_where_its_release_is_and_runs_what_values_say(helm: Helm) -> None:
    sets = "console.enabled=true", "image.tag=next", "console.env[0].name=A", "tolerations=null"
    found = helm.render(OPERATORS_CHART, *sets, namespace="tools")
    homes = {home for _, home, _ in found if home}
    assert homes == {"tools"}
    (subject,) = found["ClusterRoleBinding", "", "quintant-console"]["subjects"]
    assert subject["namespace"] == "tools"
    pod = found["Deployment", "tools", "quintant-console"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (container["image"], container["env"][-1]) == ("quintant:next", {"name": "A"})
    assert "tolerations" not in pod


def test_lint_has_nothing_to_say(helm: Helm) -> None:
    done = helm.run("lint", "--strict", str(OPERATORS_CHART), str(CRDS_CHART))
    assert done.returncode == 0, done.stdout
    assert "WARNING" not in done.stdout + done.stderr


def test_nothing_is_installed_unless_it_is_switched_on(helm: Helm) -> None:
    assert helm.render(OPERATORS_CHART) == {}
    assert helm.render(CRDS_CHART) == {}


def test_all_programs_fit_into_one_namespace(helm: Helm) -> None:
    every = [f"operators.{name}.enabled=true" for name in OPERATORS]
    found = helm.render(OPERATORS_CHART, *every, "console.enabled=true", namespace="quintant")
    programs = {name for kind, home, name in found if (kind, home) == ("Deployment", "quintant")}
    assert programs == {*(program.name for program in OPERATORS.values()), "quintant-console"}


WRONG = {
    'replica={"count": 3}': "additional properties 'replica'",
    'operators.klight.replicas="two"': "/operators/klight/replicas",
    "operators.klight.replicas=0": "/operators/klight/replicas",
    "operators.klihgt.enabled=true": "additional properties 'klihgt'",
    "operators.klight.enabled=1": "/operators/klight/enabled",
    'operators.klight.env=[{"nam": "A"}]': "additional properties 'nam'",
    'operators.klight.resources={"limit": {}}': "additional properties 'limit'",
    'namespaces=["Not_A_Name"]': "/namespaces/0",
    'namespaces=["a", "a"]': "/namespaces",
    "image.tag=1": "/image/tag",
    'image.repository=""': "/image/repository",
    'image.pullPolicy="Sometimes"': "/image/pullPolicy",
    'tolerations=[{"seconds": 3}]': "additional properties 'seconds'",
    "console.replicas=2": "additional properties 'replicas'",
    'console.enabled="yes"': "/console/enabled",
    'monitoring.alert={"enabled": true}': "additional properties 'alert'",
}
"""Values that are not taken, and what Helm says of each."""


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_value_is_refused_by_its_name(helm: Helm, wrong: str) -> None:
    assert WRONG[wrong] in helm.refusal(OPERATORS_CHART, wrong)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ("operators.klihgt.enabled=true", "additional properties 'klihgt'"),
        ('operators.klight.enabled="yes"', "/operators/klight/enabled"),
        ('operators.klight={"enable": true}', "additional properties 'enable'"),
        ('image.tag="next"', "additional properties 'image'"),
    ],
)
def test_the_chart_of_definitions_refuses_a_wrong_value_by_its_name(
    helm: Helm, wrong: str, name: str
) -> None:
    assert name in helm.refusal(CRDS_CHART, wrong)


def test_a_namespace_that_has_a_role_anyhow_has_one_role_with_the_rules_of_both(helm: Helm) -> None:
    sets = "operators.shifu.enabled=true", "namespaces={quintant,deviceshifu,default,hall}"
    found = helm.render(OPERATORS_CHART, *sets, namespace="quintant")
    rules = {
        home: {kind for rule in role["rules"] for kind in rule["resources"]}
        for (kind, home, name), role in found.items()
        if (kind, name) == ("Role", "shifu")
    }
    assert rules["hall"] == rules["default"] == {"events", "edgedevices", "edgedevices/status"}
    assert rules["quintant"] == rules["hall"] | {"pods"}
    assert rules["deviceshifu"] >= rules["hall"] | {"deployments", "configmaps", "secrets"}


def test_values_reach_the_pods(helm: Helm) -> None:
    found = helm.render(
        OPERATORS_CHART,
        "operators.portal.enabled=true",
        "operators.portal.replicas=1",
        "operators.portal.env[0].name=CLUSTER_DOMAIN",
        "operators.portal.env[0].value=example.test",
        "operators.portal.resources.limits.memory=1Gi",
        "image.repository=registry.example.com/quintant",
        "image.tag=next",
        "image.pullPolicy=Always",
        "imagePullSecrets[0].name=registry",
        "priorityClassName=important",
        "nodeSelector.disk=ssd",
        "podAnnotations.team=edge",
        "tolerations=null",
        namespace="portal-system",
    )
    assert ("PodDisruptionBudget", "portal-system", "portal") not in found, "of one replica"
    template = found["Deployment", "portal-system", "portal"]["spec"]["template"]
    pod, (container,) = template["spec"], template["spec"]["containers"]
    assert container["image"] == "registry.example.com/quintant:next"
    assert container["imagePullPolicy"] == "Always"
    assert container["env"][-1] == {"name": "CLUSTER_DOMAIN", "value": "example.test"}
    assert container["resources"]["limits"] == {"memory": "1Gi"}
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    assert (pod["priorityClassName"], pod["nodeSelector"]) == ("important", {"disk": "ssd"})
    assert template["metadata"]["annotations"] == {"team": "edge"}
    assert not {"tolerations", "topologySpreadConstraints"} & set(pod)


def test_operators_and_the_console_stay_on_nodes_of_the_images_architecture(helm: Helm) -> None:
    every = [f"operators.{name}.enabled=true" for name in OPERATORS]
    on_arm = "nodeSelector.kubernetes\\.io/arch=arm64"
    found = helm.render(OPERATORS_CHART, *every, "console.enabled=true", on_arm, namespace="a")
    pods = [
        each["spec"]["template"]["spec"] for (kind, _, _), each in found.items()
        if kind == "Deployment"
    ]  # fmt: skip
    assert len(pods) == len(OPERATORS) + 1
    assert [pod["nodeSelector"] for pod in pods] == [{"kubernetes.io/arch": "arm64"}] * len(pods)


def test_what_a_cluster_has_elsewhere_is_in_its_policies(helm: Helm) -> None:
    found = helm.render(
        OPERATORS_CHART,
        "operators.portal.enabled=true",
        "networkPolicy.apiServerPorts={16443}",
        "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.team=monitoring",
        "networkPolicy.extraEgress[0].ports[0].port=4318",
        namespace="a",
    )
    spec = found["NetworkPolicy", "a", "portal"]["spec"]
    ports = [port["port"] for rule in spec["egress"] for port in rule["ports"]]
    assert ports == [53, 53, 16443, 9808, 4318]
    (metrics, webhook) = spec["ingress"]
    assert metrics["from"] == [{"namespaceSelector": {"matchLabels": {"team": "monitoring"}}}]
    assert webhook == {"ports": [{"port": "webhook", "protocol": "TCP"}]}
    off = "operators.shifu.enabled=true", "networkPolicy.enabled=false"
    assert "NetworkPolicy" not in {kind for kind, _, _ in helm.render(OPERATORS_CHART, *off)}


def test_a_digest_stands_instead_of_a_tag(helm: Helm) -> None:
    sets = "operators.klight.enabled=true", "image.digest=sha256:abc", "image.tag=next"
    found = helm.render(OPERATORS_CHART, *sets, namespace="a")
    (container,) = found["Deployment", "a", "klight"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "quintant@sha256:abc"
