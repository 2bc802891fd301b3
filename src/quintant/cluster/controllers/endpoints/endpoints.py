"""endpoint.Controller: Endpoints, for clients that do not read EndpointSlices.

They have the service's name, and go with it: they are deleted here, not by the garbage collector,
because Endpoints that a user made for a service without a selector go the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from quintant.api.core import (
    EndpointAddress,
    EndpointPort,
    Endpoints,
    EndpointSubset,
    Service,
)
from quintant.api.meta import ObjectMeta
from quintant.cluster.controllers.endpoints.backends import (
    LABEL_INDEX,
    SELECTOR_INDEX,
    ServicePod,
    ServicePodPort,
    find_service_pods,
    has_selector,
    is_headless,
    label_values,
    labels,
    selector_values,
)
from quintant.cluster.controllers.namespaces.terminating import ignore_terminating
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import Request
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context, KeyContext
from quintant.runtime.source import predicates

NAME = "endpoint-controller"
CLEANUP = "endpoint-cleanup"
MANAGER_LABEL = "endpoints.kubernetes.io/managed-by"
CAPACITY_ANNOTATION = "endpoints.kubernetes.io/over-capacity"
MOST = 1000
"""Addresses in one object; ready ones come first."""


def declare(manager: Manager) -> None:
    """Add the controllers of Endpoints: one that writes them, one that removes them."""
    (
        manager.controls(Service, name=NAME)
        .index(SELECTOR_INDEX, selector_values)
        .watches(
            PodState,
            to=by_index(SELECTOR_INDEX, label_values),
            index={LABEL_INDEX: label_values},
        )
        .watches(Endpoints, to=lambda obj: (obj.key,))
        .uses(Endpoints, "create", "patch")
        .reconcile(reconcile)
    )
    (
        manager.keyed(CLEANUP)
        .watches(Service, to=lambda service: (service.key,), when=predicates.deleted)
        .watches(
            Endpoints, to=lambda obj: (obj.key,), when=predicates.created & predicates.any(_ours)
        )
        .uses(Endpoints, "delete")
        .reconcile(remove_stale)
    )


async def reconcile(service: Service, ctx: Context[Service]) -> None:
    """Make the Endpoints of a service list the pods behind it."""
    if not has_selector(service):
        return
    found = await find_service_pods(service, ctx.client)
    with ignore_terminating():
        await ctx.apply(endpoints(service, found))


async def remove_stale(request: Request, ctx: KeyContext) -> None:
    """Remove the Endpoints of a service that is no more."""
    if await ctx.client.find(Service, *request) is None:
        left = await ctx.client.find(Endpoints, *request)
        if left is not None:
            await ctx.client.delete(left)


def endpoints(service: Service, backends: Iterable[ServicePod]) -> Endpoints:
    """What the Endpoints of a service should be."""
    early = service.spec.publish_not_ready_addresses
    # Services without an address may do without ports; others have nothing to offer then.
    able = [
        each
        for each in backends
        if (early or not each.terminating)
        and (each.ports or is_headless(service))
        and each.address(service.spec.ip_families[0])
    ]
    listed = sorted(able, key=lambda each: not (early or each.serving))
    kept = list(islice(listed, MOST))
    over = {CAPACITY_ANNOTATION: "truncated"} if len(listed) > MOST else {}
    meta = ObjectMeta.like(service, labels=labels(service, {MANAGER_LABEL: NAME}), annotations=over)
    return Endpoints(metadata=meta, subsets=tuple(_subsets(service, kept)))


def _ours(obj: Endpoints) -> bool:
    return obj.metadata.labels.get(MANAGER_LABEL) == NAME


def _subsets(service: Service, backends: Sequence[ServicePod]) -> Iterator[EndpointSubset]:
    """Backends by port: ports of the same backends share a subset."""
    alike: dict[tuple[int, ...], list[ServicePodPort]] = {}
    for port in sorted({port for backend in backends for port in backend.ports}):
        members = tuple(at for at, each in enumerate(backends) if port in each.ports)
        alike.setdefault(members, []).append(port)
    if backends and not alike:
        alike[tuple(range(len(backends)))] = []
    for places, ports in alike.items():
        yield _subset(service, [backends[at] for at in places], ports)


def _subset(
    service: Service, members: Iterable[ServicePod], ports: Iterable[ServicePodPort]
) -> EndpointSubset:
    early, family = service.spec.publish_not_ready_addresses, service.spec.ip_families[0]
    split: dict[bool, list[EndpointAddress]] = {True: [], False: []}
    for each in members:
        split[early or each.serving].append(_address(each, each.address(family)))
    return EndpointSubset(
        addresses=tuple(split[True]),
        not_ready_addresses=tuple(split[False]),
        ports=tuple(map(_port, ports)),
    )


def _address(backend: ServicePod, address: str) -> EndpointAddress:
    return EndpointAddress(
        ip=address,
        hostname=backend.hostname,
        node_name=backend.pod.spec.node_name or None,
        target_ref=backend.reference,
    )


def _port(port: ServicePodPort) -> EndpointPort:
    return EndpointPort(
        port=port.number, name=port.name, protocol=port.protocol, app_protocol=port.application
    )
