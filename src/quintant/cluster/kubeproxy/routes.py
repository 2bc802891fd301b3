"""ServiceChangeTracker, EndpointsChangeTracker: from Services and slices to routes. Pure.

A connection goes to a backend that is ready. If there is none it goes to one that still serves
although it is being deleted, and if there is none of those either, the route has no backends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from quintant.api.core import Service, ServicePort
from quintant.api.discovery import Endpoint, EndpointSlice
from quintant.cluster.host.loopback import LoopbackShare, is_service_ip

AFFINITY_SECONDS = 10_800.0
"""How long a client stays with its backend where the service does not say: Kubernetes' default."""
TCP = "TCP"
UDP = "UDP"


class RealServer(NamedTuple):
    """Where a pod listens."""

    address: str
    port: int


class VirtualServer(NamedTuple):
    """Where clients connect."""

    protocol: str
    address: str
    port: int


class ServiceRoute(Struct, frozen=True):
    """From where clients connect to what is behind it."""

    virtual_server: VirtualServer
    real_servers: tuple[RealServer, ...] = ()
    affinity: float = 0.0
    """Seconds for which a client comes back to the same backend; 0 spreads every connection."""


def service_routes(
    service: Service, slices: Iterable[EndpointSlice], share: LoopbackShare
) -> tuple[ServiceRoute, ...]:
    """The routes of a service, node ports at the host of a share.

    None for a service without an address, or with one that is not of the share: whatever an object
    says, nothing listens where the cluster is not at home.
    """
    spec, given = service.spec, tuple(slices)
    if not is_service_ip(share, spec.cluster_ip):
        return ()
    stay = _affinity(service)
    return tuple(
        ServiceRoute(virtual_server, real_servers(port, given), stay)
        for port in spec.ports
        for virtual_server in _virtual_servers(spec.cluster_ip, port, share.host)
    )


def _virtual_servers(address: str, port: ServicePort, host: str) -> Iterator[VirtualServer]:
    protocol = port.protocol or TCP
    yield VirtualServer(protocol, address, port.port)
    if port.node_port:
        yield VirtualServer(protocol, host, port.node_port)


def _affinity(service: Service) -> float:
    if service.spec.session_affinity != "ClientIP":
        return 0.0
    config = service.spec.session_affinity_config
    given = config.client_ip.timeout_seconds if config and config.client_ip else None
    return AFFINITY_SECONDS if given is None else float(given)


def real_servers(port: ServicePort, slices: Sequence[EndpointSlice]) -> tuple[RealServer, ...]:
    """Where the endpoints of a port are: those that are ready, or else those that still serve."""
    members = list(_members(port, slices))
    ready = {
        real_server for real_server, endpoint in members if endpoint.conditions.ready is not False
    }
    serving = {
        real_server for real_server, endpoint in members
        if endpoint.conditions.serving and endpoint.conditions.terminating
    }  # fmt: skip
    return tuple(sorted(ready or serving))


def _members(
    port: ServicePort, slices: Iterable[EndpointSlice]
) -> Iterator[tuple[RealServer, Endpoint]]:
    protocol = port.protocol or TCP
    for each in slices:
        for target in each.ports or ():
            named = (target.name or "", target.protocol or TCP) == (port.name, protocol)
            if named and target.port:
                for endpoint in each.endpoints or ():
                    for address in endpoint.addresses:
                        yield RealServer(address, target.port), endpoint
