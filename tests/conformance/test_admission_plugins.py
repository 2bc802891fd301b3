"""What a server adds to pods and claims by itself: accounts, tokens, priorities, classes."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.target import until
from unit.cluster.api import JsonObject

PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PREFIX = "kube-api-access-"


def pod(name: str, /, **spec: Any) -> JsonObject:
    gates = [{"name": "check.example.com/never"}]
    containers = [{"name": "c", "image": "i"}]
    content = {"containers": containers, "schedulingGates": gates, **spec}
    return {"metadata": {"name": name}, "spec": content}


def claim(name: str, **spec: Any) -> JsonObject:
    resources = {"requests": {"storage": "1Gi"}}
    content = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {"name": name}, "spec": content}


async def spec_of(cluster: ControllerCluster, body: JsonObject) -> JsonObject:
    made = await cluster.create(cluster.path("pods"), body)
    spec: JsonObject = made["spec"]
    return spec


async def admitted(cluster: ControllerCluster, body: JsonObject) -> None:
    """Wait until a pod would be let in: a real server hears of what it refers to a bit later."""

    async def code() -> int:
        return (await cluster.send("POST", cluster.path("pods"), body, dryRun="All")).status

    assert await until(code, lambda found: found == 201) == 201


async def test_a_pod_gets_the_default_account_and_its_token(cluster: ControllerCluster) -> None:
    spec = await spec_of(cluster, pod("a", initContainers=[{"name": "i", "image": "i"}]))
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    (volume,) = spec["volumes"]
    assert volume["name"].startswith(PREFIX)
    assert len(volume["name"]) == len(PREFIX) + 5
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    assert volume["projected"] == {
        "defaultMode": 0o644,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {
                "configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }
            },
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
        ],
    }
    mount = {"name": volume["name"], "readOnly": True, "mountPath": MOUNT}
    for container in (*spec["containers"], *spec["initContainers"]):
        assert container["volumeMounts"] == [mount]


async def test_nobody_owns_what_the_server_adds(cluster: ControllerCluster) -> None:
    made = await cluster.create(cluster.path("pods"), pod("a"), fieldManager="me")
    (entry,) = made["metadata"]["managedFields"]
    assert entry["manager"] == "me"
    added = ("f:volumes", "f:serviceAccountName", "f:serviceAccount", "f:tolerations", "f:priority")
    assert not set(added) & set(entry["fieldsV1"]["f:spec"])


async def test_a_pod_of_an_account_that_is_missing_is_refused(cluster: ControllerCluster) -> None:
    told = await cluster.create(cluster.path("pods"), pod("a", serviceAccountName="nope"), code=403)
    where = f"{cluster.namespace}/nope"
    assert told["reason"] == "Forbidden"
    assert told["message"] == (
        f'pods "a" is forbidden: error looking up service account {where}: '
        'serviceaccount "nope" not found'
    )


@pytest.mark.parametrize(
    ("account", "own", "mounted"),
    [(None, False, False), (False, None, False), (False, True, True), (True, None, True)],
)
async def test_tokens_are_left_out_where_somebody_says_so(
    cluster: ControllerCluster, account: bool | None, own: bool | None, mounted: bool
) -> None:
    said = {} if account is None else {"automountServiceAccountToken": account}
    await cluster.create(cluster.path("serviceaccounts"), {"metadata": {"name": "s"}, **said})
    more = {} if own is None else {"automountServiceAccountToken": own}
    spec = await spec_of(cluster, pod("a", serviceAccountName="s", **more))
    assert bool(spec.get("volumes")) is mounted
    assert bool(spec["containers"][0].get("volumeMounts")) is mounted


async def test_what_is_mounted_in_place_of_a_token_stays(cluster: ControllerCluster) -> None:
    container = {"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": MOUNT}]}
    spec = await spec_of(
        cluster, pod("a", containers=[container], volumes=[{"name": "v", "emptyDir": {}}])
    )
    assert [volume["name"] for volume in spec["volumes"]] == ["v"]
    named = [{"name": f"{PREFIX}x", "emptyDir": {}}]
    spec = await spec_of(cluster, pod("b", volumes=named))
    assert spec["volumes"] == named
    assert spec["containers"][0]["volumeMounts"][0]["name"] == f"{PREFIX}x"


async def test_pull_secrets_come_with_the_account(cluster: ControllerCluster) -> None:
    account = {"metadata": {"name": "s"}, "imagePullSecrets": [{"name": "pull"}]}
    await cluster.create(cluster.path("serviceaccounts"), account)
    spec = await spec_of(cluster, pod("a", serviceAccountName="s"))
    assert spec["imagePullSecrets"] == [{"name": "pull"}]
    mine = [{"name": "mine"}]
    spec = await spec_of(cluster, pod("b", serviceAccountName="s", imagePullSecrets=mine))
    assert spec["imagePullSecrets"] == mine


async def test_a_pod_in_a_new_namespace_waits_for_its_account(cluster: ControllerCluster) -> None:
    namespace = f"{cluster.namespace}-new"
    await cluster.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    made = await cluster.create(cluster.elsewhere(namespace, "pods"), pod("a"))
    assert made["spec"]["serviceAccountName"] == "default"


async def test_priorities_follow_from_classes(cluster: ControllerCluster) -> None:
    ordinary = await spec_of(cluster, pod("a"))
    assert (ordinary["priority"], ordinary["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    name = f"low.{cluster.namespace}"
    body = {"metadata": {"name": name}, "value": 7, "preemptionPolicy": "Never"}
    await cluster.create(PRIORITIES, body)
    try:
        await admitted(cluster, pod("b", priorityClassName=name))
        low = await spec_of(cluster, pod("b", priorityClassName=name))
        assert (low["priority"], low["preemptionPolicy"]) == (7, "Never")
    finally:
        await cluster.delete(f"{PRIORITIES}/{name}")
    critical = await spec_of(cluster, pod("c", priorityClassName="system-node-critical"))
    assert critical["priority"] == 2_000_001_000


REFUSED: list[tuple[JsonObject, str]] = [
    (
        {"priority": 5},
        "the integer value of priority (5) must not be provided in pod spec; priority admission "
        "controller computed 0 from the given PriorityClass name",
    ),
    (
        {"preemptionPolicy": "Never"},
        "the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority "
        "admission controller computed PreemptLowerPriority from the given PriorityClass name",
    ),
    ({"priorityClassName": "nope"}, "no PriorityClass with name nope was found"),
]


@pytest.mark.parametrize(("spec", "why"), REFUSED)
async def test_priorities_cannot_be_claimed(
    cluster: ControllerCluster, spec: JsonObject, why: str
) -> None:
    told = await cluster.create(cluster.path("pods"), pod("a", **spec), code=403)
    assert told["message"] == f'pods "a" is forbidden: {why}'


async def test_pods_tolerate_a_lost_node_for_a_while(cluster: ControllerCluster) -> None:
    keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    spec = await spec_of(cluster, pod("a"))
    assert [each["key"] for each in spec["tolerations"]] == keys
    own = {"key": keys[0], "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    spec = await spec_of(cluster, pod("b", tolerations=[own]))
    assert [each["tolerationSeconds"] for each in spec["tolerations"]] == [5, 300]
    spec = await spec_of(cluster, pod("c", tolerations=[{"operator": "Exists"}]))
    assert spec["tolerations"] == [{"operator": "Exists"}]


async def test_claims_and_volumes_are_protected(cluster: ControllerCluster) -> None:
    made = await cluster.create(cluster.path("persistentvolumeclaims"), claim("a"))
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    name = f"volume.{cluster.namespace}"
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Mi"},
        "hostPath": {"path": "/none"},
        "storageClassName": f"none.{cluster.namespace}",
    }
    path = "/api/v1/persistentvolumes"
    volume = await cluster.create(path, {"metadata": {"name": name}, "spec": spec})
    assert volume["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    await cluster.delete(f"{path}/{name}")


async def test_claims_get_the_default_class(cluster: ControllerCluster) -> None:
    # Of several, the newest counts, and of those the first by name.
    name = f"a.{cluster.namespace}"
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    path = cluster.path("persistentvolumeclaims")
    body = {"metadata": {"name": name, "annotations": annotations}, "provisioner": "none"}
    await cluster.create(STORAGE, body)
    try:
        made = await until_class(cluster, claim("a"))
        assert made == name
        own = await cluster.create(path, claim("b", storageClassName=""))
        assert own["spec"]["storageClassName"] == ""
    finally:
        await cluster.delete(f"{STORAGE}/{name}")


async def until_class(cluster: ControllerCluster, body: JsonObject) -> str:
    """The class that a claim would get; a real server needs a moment to learn of a new one."""

    async def attempt() -> str:
        made = await cluster.create(cluster.path("persistentvolumeclaims"), body, dryRun="All")
        return str(made["spec"].get("storageClassName", ""))

    return await until(attempt)
