"""endpointslicemirroring.Controller: EndpointSlices of Endpoints that a user wrote.

A Service without a selector has the addresses that its Endpoints name. Whoever reads slices, the
proxy and DNS among them, finds the same there. Slices are the Endpoints', and go with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from quintant.api.core import EndpointAddress, EndpointPort, Endpoints, EndpointSubset, Service
from quintant.api.discovery import (
    SERVICE_LABEL,
    Endpoint,
    EndpointConditions,
    EndpointSlice,
    SlicePort,
)
from quintant.api.meta import ObjectMeta
from quintant.cluster.apiserver.kinds.metadata_rules import generate_name
from quintant.cluster.apiserver.meta.service_ranges import family_of
from quintant.cluster.controllers.endpoints.backends import has_selector
from quintant.cluster.controllers.endpoints.slices import MANAGER_LABEL
from quintant.cluster.controllers.namespaces.terminating import ignore_terminating
from quintant.core.object import Request, replace
from quintant.core.owner import owned
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context

NAME = "endpoint-slice-mirroring-controller"
MANAGER = "endpointslicemirroring-controller.k8s.io"
SKIP_LABEL = "endpointslice.kubernetes.io/skip-mirror"
LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader"
"""Endpoints that are a lock of old clients, and no addresses."""
MOST = 1000
"""Addresses of one subset that are mirrored."""
ENDPOINTS_INDEX = "endpoints"
"""The index of our EndpointSlices by the Endpoints that they mirror."""
_NOT_COPIED = frozenset(
    {
        "endpoints.kubernetes.io/last-change-trigger-time",
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)


class PortGroup(Struct, frozen=True):
    """What the addresses of one slice have in common."""

    family: str
    ports: tuple[SlicePort, ...] | None


def declare(manager: Manager) -> None:
    """Add the controller that mirrors Endpoints."""
    (
        manager.controls(Endpoints, name=NAME)
        .watches(Service, to=lambda service: (service.key,))
        .owns(EndpointSlice, index={ENDPOINTS_INDEX: mirrored_endpoints})
        .reconcile(reconcile)
    )


async def reconcile(endpoints: Endpoints, ctx: Context[Endpoints]) -> None:
    """Make slices say what Endpoints say, and nothing where another controller does."""
    client = ctx.client
    service = await client.find(Service, *endpoints.key)
    existing = await client.list(EndpointSlice, index=(ENDPOINTS_INDEX, str(endpoints.key)))
    wanted = plan(endpoints, existing) if is_mirrored(endpoints, service) else []
    known = {each.metadata.name: each for each in existing}
    for made in wanted:
        known.pop(made.metadata.name, None)
        name = made.metadata.name or generate_name(f"{endpoints.metadata.name}-", ctx.random)
        with ignore_terminating():
            await ctx.apply(replace(made, metadata=replace(made.metadata, name=name)))
    for left in known.values():
        await client.delete(left)


def is_mirrored(endpoints: Endpoints, service: Service | None) -> bool:
    """Whether slices are to be made: not by us for a Service whose selector finds its pods."""
    if service is None or has_selector(service):
        return False
    meta = endpoints.metadata
    return meta.labels.get(SKIP_LABEL) != "true" and LEADER_ANNOTATION not in meta.annotations


def plan(endpoints: Endpoints, existing: Sequence[EndpointSlice]) -> list[EndpointSlice]:
    """The slices of Endpoints: one for each family and set of ports; one without name is new."""
    names = {PortGroup(each.address_type, each.ports): each.metadata.name for each in existing}
    return [
        _slice(endpoints, group, listed, names.get(group, ""))
        for group, listed in _groups(endpoints).items()
    ]


def mirrored_endpoints(mirror: EndpointSlice) -> Iterator[str]:
    """Where the index files a slice: under its Endpoints, if it is ours."""
    meta = mirror.metadata
    if meta.labels.get(MANAGER_LABEL) == MANAGER and (name := meta.labels.get(SERVICE_LABEL)):
        yield str(Request(name, meta.namespace))


def _groups(endpoints: Endpoints) -> Mapping[PortGroup, dict[str, Endpoint]]:
    """The addresses by what they share, each once."""
    groups: dict[PortGroup, dict[str, Endpoint]] = {}
    for subset in endpoints.subsets or ():
        ports = tuple(map(_port, subset.ports or ())) or None
        for address, ready in list(_addresses(subset))[:MOST]:
            group = PortGroup(family_of(address.ip), ports)
            groups.setdefault(group, {}).setdefault(address.ip, _endpoint(address, ready))
    return groups


def _addresses(subset: EndpointSubset) -> Iterator[tuple[EndpointAddress, bool]]:
    for address in subset.addresses or ():
        yield address, True
    for address in subset.not_ready_addresses or ():
        yield address, False


def _slice(
    endpoints: Endpoints, group: PortGroup, listed: Mapping[str, Endpoint], name: str
) -> EndpointSlice:
    meta = endpoints.metadata
    annotations = {key: text for key, text in meta.annotations.items() if key not in _NOT_COPIED}
    made = EndpointSlice(
        metadata=ObjectMeta(
            name=name,
            namespace=meta.namespace,
            labels={**meta.labels, SERVICE_LABEL: meta.name, MANAGER_LABEL: MANAGER},
            annotations=annotations,
        ),
        address_type=group.family,
        endpoints=tuple(listed.values()),
        ports=group.ports,
    )
    return owned(made, by=endpoints)


def _endpoint(address: EndpointAddress, ready: bool) -> Endpoint:
    return Endpoint(
        addresses=(address.ip,),
        conditions=EndpointConditions(ready=ready),
        hostname=address.hostname or None,
        node_name=address.node_name or None,
        target_ref=address.target_ref,
    )


def _port(port: EndpointPort) -> SlicePort:
    return SlicePort(
        name=port.name, port=port.port, protocol=port.protocol, app_protocol=port.app_protocol
    )
