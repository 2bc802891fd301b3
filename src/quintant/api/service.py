"""Services and the endpoints behind them.

Re-exported by `api.core`. EndpointSlices, which replaced Endpoints, are in `api.discovery`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.api.meta import Condition, ObjectReference
from quintant.api.quantity import IntOrString
from quintant.core.object import Model, Object
from quintant.core.resource import resource


class ServicePort(Model):
    """A port of a service and the pods' port behind it."""

    port: int
    """The port of the Service."""
    name: str = ""
    """What the port is called; needed where there are several."""
    protocol: str = ""
    """TCP, UDP or SCTP; TCP if not given."""
    target_port: IntOrString | None = None
    """The port of the pods, by number or name; that of the Service if not given."""
    node_port: int | None = None
    """The port on every node, for the types NodePort and LoadBalancer."""
    app_protocol: str | None = None
    """What is spoken on it, such as https."""


class ClientIPConfig(Model):
    """How long a client stays with the pod it was sent to."""

    timeout_seconds: int | None = None


class SessionAffinityConfig(Model):
    """What session affinity by client address means."""

    client_ip: ClientIPConfig | None = msgspec.field(default=None, name="clientIP")


class ServiceSpec(Model):
    """Which pods a service fronts, and how it is reached; `cluster_ip` "None" is headless."""

    type: str = ""
    selector: Mapping[str, str] = {}
    ports: tuple[ServicePort, ...] = ()
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    cluster_ips: tuple[str, ...] = msgspec.field(default=(), name="clusterIPs")
    ip_families: tuple[str, ...] = ()
    ip_family_policy: str | None = None
    external_ips: tuple[str, ...] = msgspec.field(default=(), name="externalIPs")
    external_name: str = ""
    external_traffic_policy: str = ""
    internal_traffic_policy: str | None = None
    traffic_distribution: str | None = None
    load_balancer_ip: str = msgspec.field(default="", name="loadBalancerIP")
    load_balancer_class: str | None = None
    load_balancer_source_ranges: tuple[str, ...] = ()
    allocate_load_balancer_node_ports: bool | None = None
    health_check_node_port: int | None = None
    publish_not_ready_addresses: bool = False
    session_affinity: str = ""
    session_affinity_config: SessionAffinityConfig | None = None


class LoadBalancerIngress(Model):
    """An address of a load balancer."""

    ip: str = ""
    hostname: str = ""


class LoadBalancerStatus(Model):
    """Where a load balancer is reached."""

    ingress: tuple[LoadBalancerIngress, ...] = ()


class ServiceStatus(Model):
    """What the load balancer reported."""

    load_balancer: LoadBalancerStatus = LoadBalancerStatus()
    conditions: tuple[Condition, ...] = ()


@resource(group="", version="v1", status=True)
class Service(Object):
    """One stable address for a set of pods."""

    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class EndpointAddress(Model):
    """An address behind a service."""

    ip: str
    hostname: str = ""
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointPort(Model):
    """A port behind a service."""

    port: int
    name: str = ""
    protocol: str = ""
    app_protocol: str | None = None


class EndpointSubset(Model):
    """Addresses that share their ports."""

    addresses: tuple[EndpointAddress, ...] = ()
    not_ready_addresses: tuple[EndpointAddress, ...] = ()
    ports: tuple[EndpointPort, ...] = ()


@resource(group="", version="v1", plural="endpoints")
class Endpoints(Object):
    """The addresses behind a service, in the form older clients read."""

    subsets: tuple[EndpointSubset, ...] = ()
