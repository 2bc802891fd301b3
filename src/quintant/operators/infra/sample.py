"""Two clusters on machines of a simulator: real ones, small, and reached by their own kubeconfigs.

The simulator stands in for an Infrastructure Manager and is named as such. What it makes are real:
each front machine is a process that serves the Kubernetes API, each worker a node that runs pods.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.core.secret_hosts import url_host
from quintant.operators.infra.api import GROUP, HOSTS, VERSION, Cluster
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import Sample, SampleProgress, restricted
from quintant.version import QUINTANT

NAMESPACE = "infra-demo"
CLUSTERS = {"sample": 1, "second": 0}
"""The clusters, and how many workers each has beside its front machine."""
PORT = 8800
_IMAGE = f"quintant:{QUINTANT}"
_TYPE = "demo.nodes.Compute"
_USER = {"username": "demo", "password": "demo"}
"""The simulator takes any, and keeps apart what each asked for."""

Plain = dict[str, Any]


def template(workers: int) -> Plain:
    """A front machine and some workers."""
    count = {"scalable": {"properties": {"count": {"get_input": "workers"}}}}
    nodes = {"front": {"type": _TYPE}, "worker": {"type": _TYPE, "capabilities": count}}
    return {
        "tosca_definitions_version": "tosca_simple_yaml_1_0",
        "node_types": {_TYPE: {"derived_from": "tosca.nodes.Compute"}},
        "topology_template": {
            "inputs": {"workers": {"type": "integer", "default": workers}},
            "node_templates": nodes,
            "outputs": {"kubeconfig": {"value": {"get_attribute": ["front", "kubeconfig"]}}},
        },
    }


def _manifests() -> tuple[Plain, ...]:
    im: Plain = {
        "url": f"http://im.{NAMESPACE}.svc.cluster.local:{PORT}",
        "credentialsSecretRef": {"name": "im-credentials"},
    }
    ref = {"kind": "InfrastructureProvider", "name": "im"}
    return (
        *_simulator(),
        _credentials(im["url"]),
        _ours("InfrastructureProvider", "im", {"type": "im", "im": im}),
        _ours("Cloud", "laptop", {"type": "dummy", "providerRef": ref}),
        *(_ours("Cluster", name, _wanted(workers)) for name, workers in CLUSTERS.items()),
    )


def _credentials(url: str) -> Plain:
    word = {"username": "demo", "password": "demo"}
    secret = _part("v1", "Secret", "im-credentials", stringData=word)
    secret["metadata"]["annotations"] = {HOSTS: url_host(url)}
    return secret


def _wanted(workers: int) -> Plain:
    observer = {"interval": "5s", "requireNodes": True}
    return {"tosca": template(workers), "observer": observer}


def _simulator() -> tuple[Plain, Plain]:
    own = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    container = {
        "name": "im",
        "image": _IMAGE,
        "args": ["agent", "imsimulator", "--listen", "$(POD_IP)"],
        "env": [own],
        "readinessProbe": {"httpGet": {"path": "/version", "port": PORT}, "periodSeconds": 1},
    }
    labels = {"app": "im"}
    pods = {"metadata": {"labels": labels}, "spec": restricted({"containers": [container]})}
    spec = {"selector": {"matchLabels": labels}, "template": pods}
    ports = [{"name": "http", "port": PORT}]
    return (
        _part("apps/v1", "Deployment", "im", spec=spec),
        _part("v1", "Service", "im", spec={"selector": labels, "ports": ports}),
    )


def _ours(kind: str, name: str, spec: Plain) -> Plain:
    return _part(f"{GROUP}/{VERSION}", kind, name, spec=spec)


def _part(version: str, kind: str, name: str, **rest: Any) -> Plain:
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


async def _look(client: Client) -> SampleProgress:
    """Look at both; once they are there, the second is scaled, for who looks on."""
    lines = []
    for name in CLUSTERS:
        cluster = await client.find(Cluster, name, NAMESPACE, live=True)
        status = cluster.status if cluster is not None else None
        state = (status.state if status is not None else None) or "PENDING"
        nodes = status.nodes.ready if status is not None and status.nodes is not None else 0
        lines.append(f"{name} {state}, {nodes} nodes")
    done = all(" ONLINE," in each for each in lines)
    if done:
        await _scale(client, "second", CLUSTERS["second"] + 1)
        lines.append("second is being scaled")
    return SampleProgress(done, "; ".join(lines))


async def _scale(client: Client, name: str, workers: int) -> None:
    inputs = {"workers": {"default": workers}}
    change = {"spec": {"tosca": {"topology_template": {"inputs": inputs}}}}
    await client.raw(
        "PATCH",
        f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/clusters/{name}",
        body=msgspec.json.encode(change),
        headers={"Content-Type": "application/merge-patch+json"},
    )


_SCALE = '{"spec":{"tosca":{"topology_template":{"inputs":{"workers":{"default":3}}}}}}'
SAMPLE = Sample(
    NAMESPACE,
    _manifests(),
    _look,
    (
        f"kubectl -n {NAMESPACE} get clusters --watch",
        f"kubectl -n {NAMESPACE} get clouds,infrastructureproviders",
        f"quintant infra describe sample -n {NAMESPACE}",
        f"quintant infra kubeconfig sample -n {NAMESPACE} > made; "
        "kubectl --kubeconfig made get nodes",
        f"kubectl -n {NAMESPACE} patch cluster second --type merge -p '{_SCALE}'",
    ),
    settings={"DUMMY_CLOUDS": "true", "POLL_MIN": "1s"},
)
