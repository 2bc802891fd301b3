"""What a cluster needs to run a manager is read off its declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quintant import Context, Manager
from quintant.api.core import ConfigMap, Secret
from quintant.runtime.manager.manifests import (
    DeploymentOptions,
    install_manifests,
    part_manifests,
)
from quintant.runtime.manager.pod_placement import BORNE_SECONDS
from quintant.runtime.webhook import Admission

PROGRAM = DeploymentOptions("quintant:1", ("operator", "keeper"), replicas=2)


async def _nothing(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
    """A reconciler that finds everything in order."""


async def _no_secret(obj: Secret, ctx: Context[Secret]) -> None:
    """A reconciler that finds every secret in order."""


def _manager(**settings: Any) -> Manager:
    manager = Manager("keeper", **settings)
    manager.controls(ConfigMap).reconcile(_nothing)
    return manager


def _container(manager: Manager) -> Any:
    (deployment,) = install_manifests(manager, "home", PROGRAM)["deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return container


def test_manager_without_an_image_needs_permissions_only() -> None:
    assert list(install_manifests(_manager(), "home")) == ["rbac"]


def test_program_lives_in_its_namespace_as_its_service_account() -> None:
    found = install_manifests(_manager(), "home", PROGRAM)
    (deployment,) = found["deployment"]
    assert [obj["metadata"]["name"] for obj in found["namespace"]] == ["home"]
    assert deployment["metadata"]["namespace"] == "home"
    assert deployment["spec"]["replicas"] == 2
    account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
    assert {"kind": "ServiceAccount", "name": account, "namespace": "home"} in [
        subject
        for obj in found["rbac"]
        if obj["kind"] == "ClusterRoleBinding"
        for subject in obj["subjects"]
    ]


def test_of_several_replicas_one_stays_whatever_is_drained() -> None:
    (budget,) = install_manifests(_manager(), "home", PROGRAM)["disruption"]
    (deployment,) = install_manifests(_manager(), "home", PROGRAM)["deployment"]
    assert budget["spec"]["selector"] == deployment["spec"]["selector"]
    assert budget["spec"]["minAvailable"] == 1
    assert "disruption" not in install_manifests(_manager(), "home", replace(PROGRAM, replicas=1))


def test_replicas_are_spread_over_nodes_and_soon_leave_one_that_is_away() -> None:
    (deployment,) = install_manifests(_manager(), "home", PROGRAM)["deployment"]
    pod = deployment["spec"]["template"]["spec"]
    (spread,) = pod["topologySpreadConstraints"]
    assert spread["labelSelector"] == deployment["spec"]["selector"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["whenUnsatisfiable"] == "ScheduleAnyway"
    borne = {each["key"]: each["tolerationSeconds"] for each in pod["tolerations"]}
    assert borne == dict.fromkeys(
        ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"), BORNE_SECONDS
    )


def test_one_replica_has_nothing_to_be_spread_from() -> None:
    alone = install_manifests(_manager(), "home", replace(PROGRAM, replicas=1))
    (deployment,) = alone["deployment"]
    assert "topologySpreadConstraints" not in deployment["spec"]["template"]["spec"]


def test_program_listens_on_the_address_of_its_pod() -> None:
    container = _container(_manager())
    assert container["args"] == [
        "operator",
        "keeper",
        "--metrics=[$(POD_IP)]:8080",
        "--probes=[$(POD_IP)]:8081",
    ]
    assert {port["name"]: port["containerPort"] for port in container["ports"]} == {
        "metrics": 8080,
        "probes": 8081,
    }


def test_metrics_that_are_switched_off_have_no_port() -> None:
    assert [port["name"] for port in _container(_manager(metrics=""))["ports"]] == ["probes"]


def test_program_may_not_gain_privileges() -> None:
    (deployment,) = install_manifests(_manager(), "home", PROGRAM)["deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsGroup"] > 0
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


async def _allow(old: object, new: object, admission: Admission) -> None:
    """A validator that lets everything happen."""


def _hooked() -> Manager:
    manager = _manager()
    manager.webhooks.validating(ConfigMap, _allow)
    return manager


def _rules(found: dict[str, list[Any]], kind: str) -> list[Any]:
    return [
        rule
        for obj in found["rbac"]
        if obj["kind"] == kind and obj["metadata"]["name"] == "keeper-webhooks"
        for rule in obj["rules"]
    ]


def test_program_makes_the_keys_of_its_webhooks_and_may_do_no_more_than_that() -> None:
    found = install_manifests(_hooked(), "home", PROGRAM)
    deployment, service = found["deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert "--webhook-secret=keeper-webhook-cert" in pod["containers"][0]["args"]
    assert "volumes" not in pod
    assert service["spec"]["ports"][0]["port"] == 443
    assert _rules(found, "Role") == [
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": ["keeper-webhook-cert"],
            "verbs": ["create", "get", "patch"],
        }
    ]
    assert _rules(found, "ClusterRole") == [
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["validatingwebhookconfigurations"],
            "resourceNames": ["keeper-validating-webhook-configuration"],
            "verbs": ["get", "patch"],
        }
    ]


def test_given_keys_are_those_of_a_mounted_secret_and_need_no_permission() -> None:
    found = install_manifests(_hooked(), "home", replace(PROGRAM, given_keys=True))
    assert _rules(found, "Role") == _rules(found, "ClusterRole") == []
    deployment, service = found["deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["volumes"] == [
        {"name": "webhook-cert", "secret": {"secretName": "keeper-webhook-cert"}}
    ]
    (container,) = pod["containers"]
    (mount,) = container["volumeMounts"]
    assert f"--certificates={mount['mountPath']}" in container["args"]
    assert service["spec"]["ports"][0]["port"] == 443


def test_program_gets_settings_of_its_own() -> None:
    program = DeploymentOptions("quintant:1", (), env={"LEVEL": "high"}, memory="1Gi")
    (deployment,) = install_manifests(_manager(), "home", program)["deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert {"name": "LEVEL", "value": "high"} in container["env"]
    assert container["resources"]["limits"] == {"memory": "1Gi"}


def test_namespaces_that_come_with_a_program_are_made_before_the_roles_in_them() -> None:
    found = install_manifests(_manager(), "home", replace(PROGRAM, namespaces=("home", "devices")))

    assert [obj["metadata"]["name"] for obj in found["namespace"]] == ["home", "devices"]
    assert list(found).index("namespace") < list(found).index("rbac")


def test_roles_of_a_part_that_is_off_are_apart() -> None:
    manager = _manager()
    part = manager.part("secrets", on=False)
    part.controls(Secret, namespaces=["vault"]).reconcile(_no_secret)

    assert "keeper-secrets" not in str(install_manifests(manager, "home", PROGRAM))
    role, binding = part_manifests(manager, "home")["secrets"]
    assert (role["kind"], role["metadata"]["name"]) == ("Role", "keeper-secrets")
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "vault"
    assert binding["subjects"][0]["namespace"] == "home"


def test_a_program_that_starts_slowly_is_given_minutes_before_it_is_restarted() -> None:
    container = _container(_manager())
    probe = container["startupProbe"]
    assert probe["httpGet"] == container["livenessProbe"]["httpGet"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 300
