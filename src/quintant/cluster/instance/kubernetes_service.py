"""kubernetesservice.Controller: the Service `kubernetes` in the namespace `default`.

Programs in pods expect it there. Its endpoints are written by the server, not by a controller:
nobody else knows where it listens.
"""

from __future__ import annotations

from ipaddress import IPv4Network, ip_address

from quintant.api.core import (
    EndpointAddress,
    EndpointPort,
    Endpoints,
    EndpointSubset,
    Service,
    ServicePort,
    ServiceSpec,
)
from quintant.api.discovery import (
    SERVICE_LABEL,
    Endpoint,
    EndpointConditions,
    EndpointSlice,
    SlicePort,
)
from quintant.api.kubernetes.networking_v1 import ServiceCIDR, ServiceCIDRSpec
from quintant.api.meta import ObjectMeta
from quintant.client.rest import Rest
from quintant.cluster.apiserver.meta.service_ranges import family_of
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.https import LOOPBACK
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.component.component import transport_as
from quintant.core.address import BindAddress
from quintant.core.object import Object
from quintant.runtime.cache.client import Client

NAME = "kubernetes"
MANAGER = "kube-apiserver"
PORT = 443
_HTTPS = "https"
_TCP = "TCP"


async def advertise(server: ApiServer, address: BindAddress, services: IPv4Network) -> None:
    """Say where the API server is reached from this machine, also as a service, the first of all.

    The range of services is there as a real server has it: as the ServiceCIDR `kubernetes`.
    """
    async with transport_as(server, admin("system:apiserver")) as transport:
        client = Client(Rest(transport), manager=MANAGER)
        await _publish_range(client, str(services))
        for obj in service_objects(address, str(services[1])):
            await client.apply(obj)


async def _publish_range(client: Client, cidr: str) -> None:
    found = await client.find(ServiceCIDR, NAME)
    if found is not None and found.spec.cidrs != (cidr,):
        # A range cannot be changed, and the cluster is in another one now.
        await client.delete(found)
        found = None
    if found is None:
        wanted = ServiceCIDR(metadata=ObjectMeta(name=NAME), spec=ServiceCIDRSpec(cidrs=(cidr,)))
        await client.create(wanted)


def service_objects(address: BindAddress, service: str) -> tuple[Object, ...]:
    """The service, and its one endpoint as both kinds tell it."""
    host, port = _number(address.host), address.port
    return _service(service, port), _endpoints(host, port), _slice(host, port)


def _service(address: str, port: int) -> Service:
    served = ServicePort(name=_HTTPS, port=PORT, protocol=_TCP, target_port=port)
    return Service(
        metadata=_meta({"component": "apiserver", "provider": "kubernetes"}),
        spec=ServiceSpec(type="ClusterIP", cluster_ip=address, ports=(served,)),
    )


def _endpoints(host: str, port: int) -> Endpoints:
    served = EndpointPort(name=_HTTPS, port=port, protocol=_TCP)
    return Endpoints(
        metadata=_meta({"endpointslice.kubernetes.io/skip-mirror": "true"}),
        subsets=(EndpointSubset(addresses=(EndpointAddress(ip=host),), ports=(served,)),),
    )


def _slice(host: str, port: int) -> EndpointSlice:
    ready = EndpointConditions(ready=True)
    return EndpointSlice(
        metadata=_meta({SERVICE_LABEL: NAME}),
        address_type=family_of(host),
        endpoints=(Endpoint(addresses=(host,), conditions=ready),),
        ports=(SlicePort(name=_HTTPS, port=port, protocol=_TCP),),
    )


def _meta(labels: dict[str, str]) -> ObjectMeta:
    return ObjectMeta(name=NAME, namespace="default", labels=labels)


def _number(host: str) -> str:
    """A host as endpoints name it: by its address."""
    try:
        return str(ip_address(host))
    except ValueError:
        return LOOPBACK
