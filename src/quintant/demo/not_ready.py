"""Why a system does not come up: what its pods and Deployments complain about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quintant.api.apps import Deployment
from quintant.api.core import Node, Pod
from quintant.cluster.common.labels import POD, SIMULATED
from quintant.core.object import Metadata
from quintant.runtime.cache.client import Client

# More would bury what matters.
MOST = 6


async def simulated_pods(client: Client, namespaces: Iterable[str]) -> list[str]:
    """The pods that only look as if they ran; on a simulated node there are no others."""
    pods = [pod for each in namespaces for pod in await client.list(Pod, each, live=True)]
    found = await client.list(Metadata[Node], labels={SIMULATED: "true"}, live=True)
    nodes = {node.metadata.name for node in found}
    return [
        f"pod {pod.metadata.namespace}/{pod.metadata.name}"
        for pod in pods
        if POD in pod.metadata.annotations and pod.spec.node_name not in nodes
    ]


async def not_ready_reasons(client: Client, namespaces: Iterable[str]) -> tuple[str, ...]:
    """What is wrong there, as far as can be seen."""
    found: list[str] = []
    for namespace in namespaces:
        pods = await client.list(Pod, namespace, live=True)
        found += [text for pod in pods for text in _of_pod(pod)]
        if not pods:
            deployments = await client.list(Deployment, namespace, live=True)
            found += [text for each in deployments for text in _of_deployment(each)]
    return tuple(found[:MOST])


def _of_pod(pod: Pod) -> Iterator[str]:
    name = f"pod {pod.metadata.namespace}/{pod.metadata.name}"
    states = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    if not states and not pod.ready:
        yield f"{name}: {pod.status.phase or 'Pending'} {_unmet(pod)}".rstrip()
    for each in states:
        if each.ready:
            continue
        waiting, ended = each.state.waiting, each.last_state.terminated or each.state.terminated
        why = f"{waiting.reason} {waiting.message}".strip() if waiting else "not ready"
        code = f"; it ended with {ended.exit_code} ({ended.reason})" if ended else ""
        yield f"{name}, container {each.name}: {why}{code}"


def _unmet(pod: Pod) -> str:
    for condition in pod.status.conditions:
        if condition.status != "True" and condition.message:
            return f"({condition.message})"
    return ""


def _of_deployment(deployment: Deployment) -> Iterator[str]:
    name = f"deployment {deployment.metadata.namespace}/{deployment.metadata.name}"
    for condition in deployment.status.conditions:
        if condition.type == "ReplicaFailure" or condition.status == "False":
            yield f"{name}: {condition.reason} {condition.message}".rstrip()
