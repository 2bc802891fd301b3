"""Allocators, allocateCreate: service IP allocation: cluster IPs and node ports, kept over updates.

Addresses are of loopback, so that they can be dialled without a network of the cluster's own. A
service gets the same address in every run unless another has it: the search begins at an offset
that follows from its name. An address or a node port that its author names (ipallocator.Allocate,
portallocator.Allocate) has to be in the range and free: a client that dials it would otherwise
reach another service. What a service has already is not looked at again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from itertools import chain
from typing import Any
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.core import Service
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_object
from quintant.cluster.apiserver.meta.service_ranges import HEADLESS, NODE_PORTS, PORT_RANGE_ERROR
from quintant.cluster.apiserver.meta.status import StatusError, internal_error
from quintant.cluster.apiserver.meta.types import JsonObject, OtherObjects
from quintant.cluster.host.loopback import FIRST
from quintant.core.errors import Cause
from quintant.core.resource import resource_of

NETWORK = FIRST.services
"""Where services are unless the cluster has another share."""
RESERVED = 10
"""Addresses at the beginning of the network for services that belong to the cluster."""

_NODE_PORT_TYPES = ("NodePort", "LoadBalancer")
_ADDRESSED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
_BALANCED = ("healthCheckNodePort", "allocateLoadBalancerNodePorts", "loadBalancerClass")
_EXPOSED = ("externalTrafficPolicy",)
_TAKEN_PORT = "provided port is already allocated"
_TAKEN_IP = "provided IP is already allocated"
_FOREIGN_IP = "the provided network does not match the current range"
_IPS = "spec.clusterIPs"


def with_service_network(kinds: Iterable[Kind], network: IPv4Network) -> tuple[Kind, ...]:
    """Kinds as they are where services get their addresses from a network."""
    assign = partial(assign_service_ips, network=network)
    return tuple(
        replace(kind, strategy=replace(kind.strategy, assign=assign))
        if kind.resource.full_name == "services"
        else kind
        for kind in kinds
    )


def assign_service_ips(
    service: JsonObject,
    live: JsonObject | None,
    others: OtherObjects,
    network: IPv4Network = NETWORK,
) -> None:
    """Give a service the address, families and ports that its author left to the server."""
    spec, before = service["spec"], (live or {}).get("spec") or {}
    if before:
        _drop(spec, before)
        _carry(spec, before)
        if before["type"] != spec["type"] != "LoadBalancer":
            service["status"] = {**(service.get("status") or {}), "loadBalancer": {}}
    if spec["type"] == "ExternalName":
        return
    metadata = service["metadata"]
    key = f"{metadata['namespace']}/{metadata.get('name', '')}"
    check_addresses_agree(service)
    # An address that a service has stays; that it is not changed is for validation to see.
    if not before.get("clusterIP") and spec.get("clusterIP") != HEADLESS:
        taken = {other["spec"].get("clusterIP") for other in others()}
        if spec.get("clusterIP"):
            check_given_ip(service, network, taken)
        else:
            spec["clusterIP"] = _free("an IP", key, _Addresses(network), taken)
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    _families(spec)
    if spec["type"] in _NODE_PORT_TYPES:
        _node_ports(key, service, before, others)


def _drop(spec: JsonObject, before: JsonObject) -> None:
    """A change of the type takes along what only the old type had, unless it was set anew."""
    if spec["type"] == before["type"]:
        return
    gone = set(_ADDRESSED) if spec["type"] == "ExternalName" else set()
    gone |= set(_BALANCED) if spec["type"] != "LoadBalancer" else set()
    gone |= set(_EXPOSED) if spec["type"] not in _NODE_PORT_TYPES else set()
    for name in gone:
        if name in spec and spec[name] == before.get(name):
            del spec[name]
    if spec["type"] not in _NODE_PORT_TYPES:
        old = {port.get("nodePort") for port in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            if port.get("nodePort") in old:
                port.pop("nodePort", None)


def _carry(spec: JsonObject, before: JsonObject) -> None:
    """Keep what was given out before where an update does not name it."""
    if "ExternalName" in (spec["type"], before["type"]):
        return
    for name in ("clusterIP", "clusterIPs"):
        if name in before and not spec.get(name):
            spec[name] = before[name]
    if (
        spec.get("clusterIP") != before.get("clusterIP")
        and spec["clusterIPs"] == before["clusterIPs"]
    ):
        spec["clusterIPs"] = [spec["clusterIP"]]
    if spec["type"] in _NODE_PORT_TYPES:
        old = {_identity(port): port.get("nodePort") for port in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            if not port.get("nodePort") and old.get(_identity(port)):
                port["nodePort"] = old[_identity(port)]


def _families(spec: JsonObject) -> None:
    anywhere = spec["clusterIP"] == HEADLESS and not spec.get("selector")
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if anywhere else "SingleStack")
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if anywhere else ["IPv4"])


def _node_ports(key: str, service: JsonObject, before: JsonObject, others: OtherObjects) -> None:
    spec, kept = service["spec"], set(node_ports(before))
    ports = (spec.get("ports") or ()) if spec.get("allocateLoadBalancerNodePorts", True) else ()
    wanting = [port for port in ports if not port.get("nodePort")]
    local = spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    unchecked = local and not spec.get("healthCheckNodePort")
    if not wanting and not unchecked and kept.issuperset(filter(None, node_ports(spec))):
        return
    foreign = set(chain.from_iterable(node_ports(other["spec"]) for other in others()))
    check_given_ports(service, kept, foreign)
    taken = {*node_ports(spec), *foreign}
    for port in wanting:
        port["nodePort"] = _free("a nodePort", f"{key}:{port['port']}", NODE_PORTS, taken)
        taken.add(port["nodePort"])
    if unchecked:
        spec["healthCheckNodePort"] = _free("a nodePort", f"{key}:health", NODE_PORTS, taken)


def _identity(port: JsonObject) -> tuple[Any, Any]:
    return port.get("protocol"), port.get("port")


class _Addresses(Struct, frozen=True):
    """The addresses to give out, by number."""

    network: IPv4Network

    def __len__(self) -> int:
        return self.network.num_addresses - RESERVED - 1

    def __getitem__(self, at: int) -> str:
        return str(self.network[RESERVED + at])


def _free(what: str, key: str, choices: Any, taken: Set[Any]) -> Any:
    """The first free choice, from an offset that follows from the key; 500 if none is free."""
    start = crc32(key.encode())
    found = (choices[(start + step) % len(choices)] for step in range(len(choices)))
    choice = next((choice for choice in found if choice not in taken), None)
    if choice is None:
        raise internal_error(f"failed to allocate {what}: range is full")
    return choice


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
