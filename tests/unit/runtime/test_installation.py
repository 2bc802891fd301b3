"""What a cluster needs to run a manager is read off its declarations."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.keys.hidden import Hidden
from quintant.keys.tls import KeyPair
from quintant.runtime.installation import Keys, Program, installation
from quintant.runtime.webhook import Admission

PROGRAM = Program("quintant:1", ("operator", "keeper"), replicas=2)


async def _nothing(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
    """A reconciler that finds everything in order."""


def _manager(**settings: Any) -> Manager:
    manager = Manager("keeper", **settings)
    manager.controls(ConfigMap).reconcile(_nothing)
    return manager


def _container(manager: Manager) -> Any:
    (deployment,) = installation(manager, "home", PROGRAM)["deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return container


def test_manager_without_an_image_needs_permissions_only() -> None:
    assert list(installation(_manager(), "home")) == ["rbac"]


def test_program_lives_in_its_namespace_as_its_service_account() -> None:
    found = installation(_manager(), "home", PROGRAM)
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
    (deployment,) = installation(_manager(), "home", PROGRAM)["deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


async def _allow(old: object, new: object, admission: Admission) -> None:
    """A validator that lets everything happen."""


def test_webhooks_are_served_with_the_keys_of_a_secret_and_trusted_by_their_authority() -> None:
    manager = _manager()
    manager.webhooks.validating(ConfigMap, _allow)
    keys = Keys(KeyPair(Hidden(b"cert"), Hidden(b"key")), b"authority")
    found = installation(manager, "home", PROGRAM, keys)
    secret, configuration = found["webhooks"]
    assert secret["stringData"] == {"tls.crt": "cert", "tls.key": "key"}
    assert secret["metadata"]["name"] == "keeper-webhook-cert"
    (webhook,) = configuration["webhooks"]
    assert b64decode(webhook["clientConfig"]["caBundle"]) == b"authority"
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
    program = Program("quintant:1", (), env={"LEVEL": "high"})
    (deployment,) = installation(_manager(), "home", program)["deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert {"name": "LEVEL", "value": "high"} in container["env"]
