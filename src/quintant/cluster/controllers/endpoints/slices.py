"""reconcileByPortMapping: which EndpointSlices of a Service to write, and which to delete. Pure.

Slices hold backends with the same ports and addresses of the same family, at most `MOST` of them.
A backend stays in the slice it is in; new ones fill the fullest slice that has room. A service
without backends has one empty slice per family: no slice at all means, not looked at yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from quintant.api.core import Service
from quintant.api.discovery import (
    SERVICE_LABEL,
    Endpoint,
    EndpointConditions,
    EndpointSlice,
    SlicePort,
)
from quintant.api.meta import ObjectMeta
from quintant.cluster.controllers.endpoints.backends import ServicePod, labels
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.core.object import replace
from quintant.core.owner import owned

MOST = 100
"""Backends in a slice."""
MANAGER_LABEL = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
ZONE_LABEL = "topology.kubernetes.io/zone"

_Ports = tuple[SlicePort, ...] | None
_Wanted = dict[tuple[str, ...], Endpoint]


class SlicePlan(Struct, frozen=True):
    """What is to be done; a slice without a name is a new one."""

    write: tuple[EndpointSlice, ...] = ()
    delete: tuple[EndpointSlice, ...] = ()


def plan(
    service: Service,
    backends: Iterable[ServicePod],
    nodes: Mapping[str, NodeState],
    existing: Sequence[EndpointSlice],
) -> SlicePlan:
    """What brings the slices of a service in line with the pods behind it."""
    backends, families = list(backends), service.spec.ip_families
    write: list[EndpointSlice] = []
    kept: set[str] = set()
    for family in families:
        mine = [each for each in existing if each.address_type == family]
        for made in _packed(service, family, _wanted(service, backends, nodes, family), mine):
            kept.add(made.metadata.name)
            write.append(made)
    known = {each.metadata.name: each for each in existing}
    changed = tuple(each for each in write if not _same(each, known.get(each.metadata.name)))
    return SlicePlan(changed, tuple(each for name, each in known.items() if name not in kept))


def pods_without_node(
    service: Service, backends: Iterable[ServicePod], nodes: Mapping[str, NodeState]
) -> list[ServicePod]:
    """The backends that cannot be listed because nobody knows their node."""
    if service.spec.publish_not_ready_addresses:
        return []
    return [each for each in backends if (name := each.pod.spec.node_name) and name not in nodes]


def _wanted(
    service: Service, backends: Iterable[ServicePod], nodes: Mapping[str, NodeState], family: str
) -> dict[_Ports, _Wanted]:
    """The endpoints of one family by their ports, each by its address and pod."""
    groups: dict[_Ports, _Wanted] = {}
    for backend in backends:
        if address := backend.address(family):
            ports = tuple(
                SlicePort(name=port.name, port=port.number, protocol=port.protocol,
                          app_protocol=port.application)
                for port in backend.ports
            )  # fmt: skip
            endpoint = _endpoint(service, backend, address, nodes)
            groups.setdefault(ports or None, {})[_identity(endpoint)] = endpoint
    return groups


def _endpoint(
    service: Service, backend: ServicePod, address: str, nodes: Mapping[str, NodeState]
) -> Endpoint:
    node = nodes.get(backend.pod.spec.node_name)
    ready = backend.serving and not backend.terminating
    return Endpoint(
        addresses=(address,),
        conditions=EndpointConditions(
            ready=ready or service.spec.publish_not_ready_addresses,
            serving=backend.serving,
            terminating=backend.terminating,
        ),
        hostname=backend.hostname or None,
        node_name=backend.pod.spec.node_name or None,
        zone=node.metadata.labels.get(ZONE_LABEL) if node is not None else None,
        target_ref=backend.reference,
    )


def _packed(
    service: Service, family: str, groups: Mapping[_Ports, _Wanted], mine: Sequence[EndpointSlice]
) -> Iterator[EndpointSlice]:
    """The slices of one family as they should be: those that are there first."""
    if not groups:
        spare = next((each for each in mine if not each.endpoints), None) or next(iter(mine), None)
        yield _slice(service, family, None, (), spare)
        return
    spares = [each for each in mine if each.ports not in groups]
    for ports, wanted in groups.items():
        left = dict(wanted)
        for each, filled in _refilled([each for each in mine if each.ports == ports], left):
            yield _slice(service, family, ports, filled, each)
        fresh = list(left.values())
        for at in range(0, len(fresh), MOST):
            spare = spares.pop() if spares else None
            yield _slice(service, family, ports, fresh[at : at + MOST], spare)


def _refilled(
    slices: Sequence[EndpointSlice], left: _Wanted
) -> Iterator[tuple[EndpointSlice, list[Endpoint]]]:
    """Slices with those who stay in them, and room filled up, the fullest first.

    Whoever finds a place is taken from `left`; a slice that nobody stays in is left out.
    """
    kept_endpoints = []
    for each in slices:
        known = (_identity(old) for old in each.endpoints or ())
        kept_endpoints.append((each, [left.pop(key) for key in known if key in left]))
    for each, stay in sorted(kept_endpoints, key=lambda kept: -len(kept[1])):
        filled = [*stay, *(left.pop(key) for key in list(left)[: MOST - len(stay)])]
        if filled:
            yield each, filled


def _slice(
    service: Service,
    family: str,
    ports: _Ports,
    endpoints: Sequence[Endpoint],
    old: EndpointSlice | None,
) -> EndpointSlice:
    meta = service.metadata
    own = {SERVICE_LABEL: meta.name, MANAGER_LABEL: MANAGER}
    made = EndpointSlice(
        metadata=ObjectMeta(
            name=old.metadata.name if old is not None else "",
            generate_name=f"{meta.name}-",
            namespace=meta.namespace,
            labels=labels(service, own),
        ),
        address_type=family,
        endpoints=tuple(endpoints) or None,
        ports=ports,
    )
    return owned(made, by=service)


def _identity(endpoint: Endpoint) -> tuple[str, ...]:
    uid = endpoint.target_ref.uid if endpoint.target_ref is not None else ""
    return (uid, *endpoint.addresses)


def _same(made: EndpointSlice, known: EndpointSlice | None) -> bool:
    """Whether a slice says already what it should."""
    if known is None:
        return False
    there = replace(
        known.metadata,
        uid="", resource_version="", generation=0, creation_timestamp=None,
        generate_name=made.metadata.generate_name, annotations={},
    )  # fmt: skip
    return replace(known, metadata=there) == made
