"""ValidateServiceCreate, ValidateEndpointsCreate, ValidateEndpointSliceCreate: ports and names."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.golang.printing import GoStruct
from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    required,
)
from quintant.cluster.apiserver.meta.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    qualified_name_errors,
)
from quintant.cluster.apiserver.meta.service_ranges import (
    HEADLESS,
    NODE_PORTS,
    PORT_RANGE_ERROR,
    family_of,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    PORTS,
    PROTOCOLS,
    validate_enum,
    validate_immutable,
    validate_ip,
    validate_labels,
    validate_port,
    validate_range,
)
from quintant.cluster.apiserver.validation.service_exposure import exposure_causes, family_causes
from quintant.core.errors import Cause

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_POLICIES = ("Cluster", "Local")
_AFFINITIES = ("ClientIP", "None")
_FAMILIES = ("FQDN", "IPv4", "IPv6")


def validate_service(service: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a Service."""
    spec = service["spec"]
    unreadable, headed = [*_address_causes(spec)], [*_head_causes(spec)]
    unreadable += [] if spec.get("clusterIP") == HEADLESS else family_causes(spec)
    if unreadable or (headed and live is None):
        # Addresses are read, and given out, before anything else is looked at.
        yield from (*unreadable, *headed)
        return
    headless = spec.get("clusterIP") == HEADLESS
    if not spec.get("ports") and not headless and spec["type"] != "ExternalName":
        yield required("spec.ports")
    yield from _port_causes(spec)
    yield from validate_labels("spec.selector", spec.get("selector"))
    yield from validate_enum("spec.sessionAffinity", spec["sessionAffinity"], _AFFINITIES)
    yield from validate_enum("spec.type", spec["type"], _TYPES)
    yield from exposure_causes(spec)
    yield from headed
    yield from _traffic_causes(spec)
    yield from _ingress_causes(service)
    if live is not None:
        yield from _moved_causes(spec, live["spec"])


def validate_endpoints(endpoints: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with Endpoints."""
    for at, subset in enumerate(endpoints.get("subsets") or ()):
        item_path, kinds = f"subsets[{at}]", ("addresses", "notReadyAddresses")
        if not any(subset.get(kind) for kind in kinds):
            yield required(item_path, "must specify `addresses` or `notReadyAddresses`")
        for kind in kinds:
            for index, each in enumerate(subset.get(kind) or ()):
                path = f"{item_path}.{kind}[{index}].ip"
                for cause in validate_ip(path, each.get("ip", "")):
                    yield cause
                    yield invalid(path, each.get("ip", ""), "must be a valid IP address")
                if name := each.get("hostname"):
                    host = f"{item_path}.{kind}[{index}].hostname"
                    yield from invalid_each(host, name, dns1123_label_errors(name))
        yield from _subset_port_causes(f"{item_path}.ports", subset.get("ports") or [])


def _subset_port_causes(path: str, ports: list[JsonObject]) -> Iterator[Cause]:
    for at, each in enumerate(ports):
        name = each.get("name") or ""
        if name:
            yield from invalid_each(f"{path}[{at}].name", name, dns1123_label_errors(name))
        elif len(ports) > 1:
            yield required(f"{path}[{at}].name")
        yield from validate_range(f"{path}[{at}].port", each.get("port", 0), PORTS)
        yield from validate_enum(f"{path}[{at}].protocol", each.get("protocol"), PROTOCOLS)


def validate_endpoint_slice(endpoints: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with an EndpointSlice."""
    family = endpoints.get("addressType")
    if not family:
        yield required("addressType")
    else:
        yield from validate_enum("addressType", family, _FAMILIES)
    for at, each in enumerate(endpoints.get("endpoints") or ()):
        item_path = f"endpoints[{at}].addresses"
        if not each.get("addresses"):
            yield required(item_path, "must contain at least 1 address")
        for index, value in enumerate(each.get("addresses") or ()):
            yield from _family_causes(item_path, index, value, family)
        if name := each.get("hostname"):
            yield from invalid_each(f"endpoints[{at}].hostname", name, dns1123_label_errors(name))
    yield from _slice_port_causes(endpoints.get("ports") or [])
    if live is not None:
        yield from validate_immutable("addressType", family, live.get("addressType"))


def _family_causes(path: str, index: int, value: str, family: str | None) -> Iterator[Cause]:
    """What is wrong with an address of a kind."""
    if family == "FQDN":
        yield from invalid_each(f"{path}[{index}]", value, dns1123_subdomain_errors(value))
    elif family in ("IPv4", "IPv6"):
        bad = [*validate_ip(f"{path}[{index}]", value)]
        yield from bad
        if not bad and family_of(value) != family:
            yield invalid(path, value, f"must be an {family} address")


def _slice_port_causes(ports: list[JsonObject]) -> Iterator[Cause]:
    names: set[str] = set()
    for at, each in enumerate(ports):
        name = each.get("name") or ""
        if name:
            yield from invalid_each(f"ports[{at}].name", name, dns1123_label_errors(name))
        if name in names:
            yield duplicate(f"ports[{at}].name", name)
        names.add(name)
        yield from validate_enum(f"ports[{at}].protocol", each.get("protocol"), PROTOCOLS)


def _port_causes(spec: JsonObject) -> Iterator[Cause]:
    ports, names = spec.get("ports") or [], set[str]()
    for at, each in enumerate(ports):
        item_path, name = f"spec.ports[{at}]", each.get("name")
        if name:
            yield from invalid_each(f"{item_path}.name", name, dns1123_label_errors(name))
            if name in names:
                yield duplicate(f"{item_path}.name", name)
            names.add(name)
        elif len(ports) > 1:
            yield required(f"{item_path}.name")
        yield from validate_range(f"{item_path}.port", each.get("port", 0), PORTS)
        protocol = each.get("appProtocol")
        if protocol is not None:
            yield from invalid_each(
                f"{item_path}.appProtocol", protocol, qualified_name_errors(protocol)
            )
        yield from validate_enum(f"{item_path}.protocol", each["protocol"], PROTOCOLS)
        if spec.get("clusterIP") != HEADLESS:
            yield from validate_port(f"{item_path}.targetPort", each["targetPort"])
        yield from _node_port_causes(item_path, each, spec["type"])
    places: dict[tuple[str, int], int] = {}
    for at, each in enumerate(ports):
        protocol, number = each["protocol"], each.get("port", 0)
        if places.setdefault((protocol, number), at) != at:
            seen = GoStruct(Name="", Protocol=protocol, AppProtocol=None)
            seen |= {"Port": number, "TargetPort": 0, "NodePort": 0}
            yield duplicate(f"spec.ports[{at}]", seen)


def _node_port_causes(path: str, each: JsonObject, kind: str) -> Iterator[Cause]:
    number = each.get("nodePort")
    if number and kind == "ClusterIP":
        text = "may not be used when `type` is 'ClusterIP'"
        yield forbidden(f"{path}.nodePort", text)
    elif number and number not in NODE_PORTS:
        yield invalid(f"{path}.nodePort", number, PORT_RANGE_ERROR)


def _address_causes(spec: JsonObject) -> Iterator[Cause]:
    for at, value in enumerate(spec.get("clusterIPs") or ()):
        if value != HEADLESS:
            yield from validate_ip(f"spec.clusterIPs[{at}]", value)


def _head_causes(spec: JsonObject) -> Iterator[Cause]:
    for at, value in enumerate(spec.get("clusterIPs") or ()):
        if value == HEADLESS and spec["type"] in ("NodePort", "LoadBalancer"):
            text = f"may not be set to 'None' for {spec['type']} services"
            yield invalid(f"spec.clusterIPs[{at}]", value, text)


def _traffic_causes(spec: JsonObject) -> Iterator[Cause]:
    policy, path = spec.get("externalTrafficPolicy"), "spec.externalTrafficPolicy"
    if spec["type"] in ("NodePort", "LoadBalancer") or spec.get("externalIPs"):
        yield from validate_enum(path, policy, _POLICIES)
    elif policy:
        yield invalid(path, policy, "may only be set for externally-accessible services")
    internal = spec.get("internalTrafficPolicy")
    if internal is not None:
        yield from validate_enum("spec.internalTrafficPolicy", internal, _POLICIES)


def _ingress_causes(service: JsonObject) -> Iterator[Cause]:
    path = "status.loadBalancer.ingress"
    points = service["status"]["loadBalancer"].get("ingress") or ()
    if points and service["spec"]["type"] != "LoadBalancer":
        yield forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for at, point in enumerate(points):
        if point.get("ip"):
            yield from validate_ip(f"{path}[{at}].ip", point["ip"])


def _moved_causes(spec: JsonObject, before: JsonObject) -> Iterator[Cause]:
    now, then = spec.get("clusterIPs"), before.get("clusterIPs")
    if "ExternalName" not in (spec["type"], before["type"]) and then and now != then:
        yield invalid("spec.clusterIPs[0]", now, "may not change once set")
