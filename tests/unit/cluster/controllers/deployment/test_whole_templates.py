"""A template reaches its pods whole, whatever Kubernetes has fields for."""

from __future__ import annotations

from quintant.cluster.controllers import deployment, replicaset
from quintant.core.codec import encode
from unit.cluster.api import Api, JsonObject
from unit.cluster.controllers.running_controllers import controlled
from unit.cluster.controllers.stub_kubelet import APPS, attended, pods, ready, settled, workload
from unit.cluster.full_pod import every_field

DEPLOYMENT = f"{APPS}/deployments/a"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


def runtime_class(spec: JsonObject) -> JsonObject:
    """The class that a pod names, with the overhead that it says it has."""
    meta = {"name": spec["runtimeClassName"]}
    return {"metadata": meta, "handler": "any", "overhead": {"podFixed": spec["overhead"]}}


async def rolled(api: Api, spec: JsonObject) -> JsonObject:
    """The only pod there is after a rollout of this template."""
    found = await api.get(DEPLOYMENT)
    found["spec"]["template"]["spec"] = spec
    await api.put(DEPLOYMENT, found)
    await settled(api, "deployments")
    for gated in (pod for pod in await pods(api) if "schedulingGates" in pod["spec"]):
        await ready(api, gated["metadata"]["name"])
    await settled(api, "deployments")
    (pod,) = await pods(api)
    return pod


def kept(spec: JsonObject, wanted: JsonObject) -> JsonObject:
    """What a pod has of what was wanted; admission adds tolerations at the end."""
    given = len(wanted["tolerations"])
    found = {name: spec.get(name) for name in wanted}
    return {**found, "tolerations": spec["tolerations"][:given]}


async def test_pod_with_every_field_survives_rollouts_byte_for_byte() -> None:
    wanted = every_field()
    async with controlled(deployment.declare, replicaset.declare) as api, attended(api):
        await api.create(RUNTIME_CLASSES, runtime_class(wanted))
        await api.create(f"{APPS}/deployments", workload(replicas=1))
        first = await rolled(api, wanted)
        assert encode(kept(first["spec"], wanted)) == encode(wanted)
        changed = {**wanted, "hostname": "other"}
        second = await rolled(api, changed)
        assert first["metadata"]["uid"] != second["metadata"]["uid"]
        assert encode(kept(second["spec"], changed)) == encode(changed)
