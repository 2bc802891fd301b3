"""endpointslice.Controller: endpoint slices of Services: what kube-proxy and DNS read.

A pod whose node does not exist is not listed: nobody could say which zone it is in, and it is
probably gone. Slices are the service's, and go with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.core import Service
from quintant.api.discovery import SERVICE_LABEL, EndpointSlice
from quintant.cluster.apiserver.kinds.metadata_rules import generate_name
from quintant.cluster.controllers.endpoints.backends import (
    LABEL_INDEX,
    SELECTOR_INDEX,
    ServicePod,
    find_service_pods,
    has_selector,
    label_values,
    selector_values,
)
from quintant.cluster.controllers.endpoints.slices import (
    MANAGER,
    MANAGER_LABEL,
    plan,
    pods_without_node,
)
from quintant.cluster.controllers.namespaces.terminating import ignore_terminating
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import Request, replace
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

NAME = "endpoint-slice-controller"
SERVICE_INDEX = "service"
"""The index of our EndpointSlices by the Service that they are of."""
NODE_SECONDS = 1.0
"""How soon to look again for a node that is not known yet."""


def declare(manager: Manager) -> None:
    """Add the controller of EndpointSlices."""
    (
        manager.controls(Service, name=NAME)
        .index(SELECTOR_INDEX, selector_values)
        .owns(EndpointSlice, index={SERVICE_INDEX: managed_service})
        .watches(
            PodState,
            to=by_index(SELECTOR_INDEX, label_values),
            index={LABEL_INDEX: label_values},
        )
        .watches(NodeState, to=lambda node: ())
        .reconcile(reconcile)
    )


async def reconcile(service: Service, ctx: Context[Service]) -> Result | None:
    """Make the slices of a service list the pods behind it."""
    if not has_selector(service):
        return None
    client = ctx.client
    found = await find_service_pods(service, client)
    nodes = {node.metadata.name: node for node in await client.list(NodeState)}
    existing = await client.list(EndpointSlice, index=(SERVICE_INDEX, str(service.key)))
    missing = pods_without_node(service, found, nodes)
    planned = plan(service, [each for each in found if each not in missing], nodes, existing)
    for made in planned.write:
        name = made.metadata.name or generate_name(made.metadata.generate_name, ctx.random)
        with ignore_terminating():
            await ctx.apply(replace(made, metadata=replace(made.metadata, name=name)))
    for old in planned.delete:
        await client.delete(old)
    if not missing:
        return None
    ctx.event("FailedToUpdateEndpointSlices", _error_message(service, missing), type="Warning")
    return Result(after=NODE_SECONDS)


def managed_service(listed: EndpointSlice) -> Iterator[str]:
    """Where the index files a slice: under its Service, if we manage it."""
    meta = listed.metadata
    if meta.labels.get(MANAGER_LABEL) == MANAGER and (name := meta.labels.get(SERVICE_LABEL)):
        yield str(Request(name, meta.namespace))


def _error_message(service: Service, missing: list[ServicePod]) -> str:
    skipped = [
        f"skipping Pod {each.pod.metadata.name} for Service {service.key}: "
        f"Node {each.pod.spec.node_name} Not Found"
        for each in missing
    ]
    why = skipped[0] if len(skipped) == 1 else f"[{', '.join(skipped)}]"
    return f"Error updating Endpoint Slices for Service {service.key}: {why}"
