"""Addresses and ports that a service asks for by itself: in range and free, or refused.

A service whose author names its address could otherwise take one of another service, or one that
is none of the cluster's, and whoever dials it would reach somebody else. What a service has already
is its own and not looked at again. Texts are those of a real server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from quintant.api.core import Service
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_object
from quintant.cluster.apiserver.meta.status import StatusError, internal_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.errors import Cause
from quintant.core.resource import resource_of

NODE_PORTS = range(30000, 32768)
HEADLESS = "None"
PORT_RANGE_ERROR = (
    "provided port is not in the valid range. The range of valid ports is "
    f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
)
_TAKEN_PORT = "provided port is already allocated"
_TAKEN_IP = "provided IP is already allocated"
_FOREIGN_IP = "the provided network does not match the current range"
_IPS = "spec.clusterIPs"


def check_addresses_agree(service: JsonObject) -> None:
    """422 unless the one address and the list of addresses begin alike."""
    spec = service["spec"]
    first, addresses = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if addresses and not first:
        text = "must be empty when `clusterIP` is not specified"
    elif addresses and addresses[0] != first:
        text = "first value must match `clusterIP`"
    else:
        return
    raise _refused(service, invalid(_IPS, addresses, text))


def check_given_ip(service: JsonObject, network: IPv4Network, taken: Collection[Any]) -> None:
    """422 for an address that is not of the network, or that another service has.

    What is no IPv4 address is for validation to refuse.
    """
    given = service["spec"]["clusterIP"]
    try:
        address = IPv4Address(given)
    except ValueError:
        return
    edges = (network.network_address, network.broadcast_address)
    if address not in network or address in edges:
        why = _FOREIGN_IP
    elif given in taken:
        why = _TAKEN_IP
    else:
        return
    text = f"failed to allocate IP {given}: {why}"
    raise _refused(service, invalid(_IPS, [given], text))


def check_given_ports(service: JsonObject, kept: Collection[Any], taken: Collection[Any]) -> None:
    """422, or 500 for the one of health checks, for a node port that is not to be had.

    `kept` are those that the service has, `taken` those of others.
    """
    spec, own = service["spec"], dict[int, set[str]]()
    for at, port in enumerate(spec.get("ports") or ()):
        number = port.get("nodePort")
        if not number:
            continue
        protocols = own.setdefault(number, set())
        # Of one service, ports of different protocols may share a number.
        clash = port.get("protocol") in protocols or (number in taken and number not in kept)
        protocols.add(port.get("protocol") or "")
        if why := _port_error(number, clash):
            raise _refused(service, invalid(f"spec.ports[{at}].nodePort", number, why))
    health = spec.get("healthCheckNodePort")
    if health and health not in kept and (why := _port_error(health, health in {*taken, *own})):
        raise internal_error(f"failed to allocate requested HealthCheck NodePort {health}: {why}")


def node_ports(spec: JsonObject) -> Iterator[Any]:
    """The ports of a service at nodes; None for one that has not been given out."""
    yield spec.get("healthCheckNodePort")
    yield from (port.get("nodePort") for port in spec.get("ports") or ())


def _port_error(number: int, taken: bool) -> str:
    if number not in NODE_PORTS:
        return PORT_RANGE_ERROR
    return _TAKEN_PORT if taken else ""


def _refused(service: JsonObject, cause: Cause) -> StatusError:
    return invalid_object(resource_of(Service), service["metadata"].get("name", ""), cause)
