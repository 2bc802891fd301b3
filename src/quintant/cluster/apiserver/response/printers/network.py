"""printService, printIngress, printNetworkPolicy: printer columns of what connects workloads."""

from __future__ import annotations

from collections.abc import Iterable

from quintant.cluster.apiserver.meta.selectors import selector_text
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    UNSET,
    Printer,
    column,
    joined,
    part,
    spec,
    wide,
)

MAX_ENDPOINTS = 3
"""Endpoints, ports or hosts named before the rest is only counted."""


def _some(texts: list[str]) -> str:
    """The first few of many."""
    more = len(texts) - MAX_ENDPOINTS
    return ",".join(texts[:MAX_ENDPOINTS]) + (f" + {more} more..." if more > 0 else "")


def _cluster_ip(service: JsonObject) -> str:
    addresses: list[str] = spec(service).get("clusterIPs") or [spec(service).get("clusterIP", "")]
    return addresses[0] or NONE


def _external_ip(service: JsonObject) -> str:
    external = spec(service).get("externalIPs") or []
    match spec(service).get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or NONE
        case "LoadBalancer":
            return ",".join([*_balancers(service), *external]) or "<pending>"
        case "ExternalName":
            return str(spec(service).get("externalName", ""))
    return UNKNOWN


def _ports(service: JsonObject) -> str:
    return ",".join(_port(port) for port in spec(service).get("ports") or ()) or NONE


def _port(port: JsonObject) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port['port']}{node}/{port.get('protocol', 'TCP')}"


def _endpoints(endpoints: JsonObject) -> str:
    subsets = endpoints.get("subsets") or ()
    return _some([text for each in subsets for text in _pairs(each)]) if subsets else NONE


def _pairs(subset: JsonObject) -> Iterable[str]:
    addresses = [each["ip"] for each in subset.get("addresses") or ()]
    for port in subset.get("ports") or ():
        for ip in addresses:
            yield f"[{ip}]:{port['port']}" if ":" in ip else f"{ip}:{port['port']}"
    if not subset.get("ports"):
        yield from addresses


def _slice_ports(each: JsonObject) -> str:
    ports = [str(port.get("port") or port.get("name") or "*") for port in each.get("ports") or ()]
    return _some(ports) if ports else UNSET


def _slice_addresses(each: JsonObject) -> str:
    found = [ip for end in each.get("endpoints") or () for ip in end.get("addresses") or ()]
    return _some(found) if each.get("endpoints") else UNSET


def _hosts(ingress: JsonObject) -> str:
    hosts = [rule["host"] for rule in spec(ingress).get("rules") or () if rule.get("host")]
    return _some(hosts) if hosts else "*"


def _balancers(obj: JsonObject) -> list[str]:
    """Where the balancers of a service or an ingress are reached."""
    found = part(obj, "status", "loadBalancer").get("ingress") or ()
    return sorted({each.get("ip") or each.get("hostname") or "" for each in found} - {""})


def _parameters(each: JsonObject) -> str:
    found = spec(each).get("parameters")
    if not found:
        return NONE
    group = found.get("apiGroup")
    kind = f"{found.get('kind', '')}.{group}" if group else found.get("kind", "")
    return f"{kind}/{found.get('name', '')}"


SERVICE = Printer(
    (
        NAME,
        column("Type", lambda obj: spec(obj).get("type", "")),
        column("Cluster-IP", _cluster_ip),
        column("External-IP", _external_ip),
        column("Port(s)", _ports),
        AGE,
        wide("Selector", lambda obj: joined(spec(obj).get("selector"))),
    )
)
ENDPOINTS = Printer((NAME, column("Endpoints", _endpoints), AGE))
ENDPOINT_SLICE = Printer(
    (
        NAME,
        column("AddressType", lambda obj: obj.get("addressType", "")),
        column("Ports", _slice_ports),
        column("Endpoints", _slice_addresses),
        AGE,
    )
)
NETWORK_POLICY = Printer(
    (
        NAME,
        column("Pod-Selector", lambda each: selector_text(spec(each).get("podSelector")) or NONE),
        AGE,
    )
)
INGRESS = Printer(
    (
        NAME,
        column("Class", lambda each: spec(each).get("ingressClassName") or NONE),
        column("Hosts", _hosts),
        column("Address", lambda each: ",".join(_balancers(each))),
        column("Ports", lambda each: "80, 443" if spec(each).get("tls") else "80"),
        AGE,
    )
)
INGRESS_CLASS = Printer(
    (
        NAME,
        column("Controller", lambda each: spec(each).get("controller", "")),
        column("Parameters", _parameters),
        AGE,
    )
)
