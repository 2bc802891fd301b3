"""Templates of pods and volumes are held to Kubernetes' own schema before a pod is made of them."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from quintant.core.errors import ApiError
from testbeds.cosmos import NAMESPACE, CosmosTestbed, full_node

POD = {"name": "beside", "containers": [{"name": "a", "image": "i"}]}
JOB = {
    "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "StatefulJob",
    "metadata": {"name": "job", "namespace": NAMESPACE},
    "spec": {
        "selector": {"a": "b"}, "volumeClaimTemplate": {"storageClassName": "standard"},
        "podTemplate": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "a", "image": "i", "imagePulPolicy": "Always"}]},
        },
    },
}  # fmt: skip
WRONG: list[tuple[dict[str, Any], str]] = [
    (full_node(pod={"containers": [{"name": "node", "imagePulPolicy": "Always"}]}),
     "podTemplate.containers"),
    (full_node(pod={"initContainers": [{"name": "a", "image": "i", "comand": ["x"]}]}),
     "podTemplate.initContainers"),
    (full_node(pod={"volumes": [{"name": "a", "emptyDirr": {}}]}), "podTemplate.volumes"),
    (full_node(pod={"volumes": [{"name": "a", "emptyDir": {"sizelimit": 1}}]}), "emptyDir"),
    (full_node(pod={"affinity": {"nodeAfinity": {}}}), "podTemplate.affinity"),
    (full_node(pod={"tolerations": [{"keys": "a"}]}), "podTemplate.tolerations"),
    (full_node(pod={"resources": {"request": {"cpu": 1}}}), "podTemplate.resources"),
    (full_node(pod={"containers": [{"name": "node", "ports": "26657"}]}), "containers"),
    (full_node(additionalVersionedPods=[{**POD, "hostNetwrk": True}]), "additionalVersionedPods"),
    (JOB, "podTemplate.spec.containers"),
]  # fmt: skip


@pytest.mark.parametrize(("manifest", "field"), WRONG)
async def test_a_field_that_pods_do_not_have_is_refused(
    testbed: CosmosTestbed, manifest: dict[str, Any], field: str
) -> None:
    """As kubectl asks the server to check what it creates."""
    plural = f"{manifest['kind'].lower()}s"
    path = f"/apis/{manifest['apiVersion']}/namespaces/{NAMESPACE}/{plural}"
    with pytest.raises(ApiError, match=re.escape(field)):
        await testbed.cluster.client.raw(
            "POST", f"{path}?fieldValidation=Strict", body=msgspec.json.encode(manifest)
        )


async def test_what_pods_have_may_be_said_and_reaches_them(testbed: CosmosTestbed) -> None:
    node = {
        "name": "node", "imagePullPolicy": "Always", "ports": [{"containerPort": 99}],
        "livenessProbe": {"httpGet": {"path": "/", "port": "rpc"}, "periodSeconds": 7},
        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    }  # fmt: skip
    beside = {**POD, "preferSameNode": True, "metadata": {"labels": {"a": "b"}}, "hostUsers": True}
    await testbed.run(
        replicas=1,
        pod={"containers": [node], "tolerations": [{"key": "a", "operator": "Exists"}]},
        additionalVersionedPods=[beside],
    )
    pods = await testbed.pods()
    (made,) = [each for each in pods["hub-0"].spec.containers if each.name == "node"]
    assert made.image_pull_policy == "Always"
    assert made.liveness_probe is not None
    assert pods["beside-0"].metadata.labels["a"] == "b"


async def test_every_field_of_a_pod_is_listed_by_explain(testbed: CosmosTestbed) -> None:
    reply = await testbed.cluster.client.raw("GET", "/openapi/v3/apis/cosmos.strange.love/v1")
    schemas = msgspec.json.decode(reply)["components"]["schemas"]
    (kind,) = [each for name, each in schemas.items() if name.endswith(".CosmosFullNode")]
    template = kind["properties"]["spec"]["properties"]["podTemplate"]["properties"]
    assert "imagePullPolicy" in template["containers"]["items"]["properties"]
    assert "emptyDir" in template["volumes"]["items"]["properties"]
    assert "nodeAffinity" in template["affinity"]["properties"]
