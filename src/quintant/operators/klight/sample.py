"""A network of three pods, each a lightpeer of its own, and a file that they keep alike."""

from __future__ import annotations

from typing import Any

from quintant.operators.klight.api import LABEL
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.rules import object_name
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import Sample, SampleProgress, restricted
from quintant.version import QUINTANT
from quintant.wire.lightpeer import PORT

NAMESPACE = "klight-demo"
NETWORK = "myFirstNetwork"
PODS = 3


def _pod(number: int) -> dict[str, Any]:
    own = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    container = {
        "name": "lightpeer",
        "image": f"quintant:{QUINTANT}",
        "args": ["agent", "lightpeer", "-repo=/blocks", "-host=$(POD_IP)", "-on-join=merge"],
        "env": [own],
        "ports": [{"name": "klight", "containerPort": PORT}],
        "readinessProbe": {"grpc": {"port": PORT}, "periodSeconds": 2},
        "volumeMounts": [{"name": "blocks", "mountPath": "/blocks"}],
    }
    meta = {"name": f"peer-{number}", "namespace": NAMESPACE, "labels": {LABEL: NETWORK}}
    spec = {
        "containers": [container],
        "volumes": [{"name": "blocks", "emptyDir": {}}],
        "terminationGracePeriodSeconds": 10,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": restricted(spec)}


async def _look(client: Client) -> SampleProgress:
    name = object_name(NETWORK)
    lightnetwork = await client.find(LightNetwork, name, NAMESPACE, live=True)
    if lightnetwork is None or lightnetwork.status is None:
        return SampleProgress(False, "no LightNetwork yet")
    status = lightnetwork.status
    done = status.phase == "Ready" and status.ready == PODS
    contact = f", contact {status.contact}" if status.contact else ""
    return SampleProgress(done, f"{NETWORK}: {status.ready} of {PODS} peers joined{contact}")


SAMPLE = Sample(
    NAMESPACE,
    tuple(_pod(number) for number in range(1, PODS + 1)),
    _look,
    (
        f"kubectl -n {NAMESPACE} get lightnetworks,pods",
        f"kubectl -n {NAMESPACE} delete pod peer-3",
        f"kubectl -n {NAMESPACE} events",
    ),
)
