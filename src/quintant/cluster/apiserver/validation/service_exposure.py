"""ValidateServiceClusterIPsRelatedFields: families, traffic policies, balancers of a Service."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, invalid_each
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, qualified_name_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_cidr,
    validate_enum,
    validate_required_name,
)
from quintant.core.errors import Cause

AFFINITIES = range(1, 86_401)
"""Seconds that a client is sent to the same pod: up to a day."""
_BALANCED = "LoadBalancer"
_ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_NEAR = ("PreferClose", "PreferSameZone", "PreferSameNode")
_FAMILIES = ("IPv4", "IPv6")
_STACKS = ("PreferDualStack", "RequireDualStack", "SingleStack")
_LOCAL = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
_RANGES = "spec.LoadBalancerSourceRanges"
"""How a real server spells it."""


def exposure_causes(spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with a Service beyond its ports and addresses."""
    yield from _affinity_causes(spec)
    for at, value in enumerate(spec.get("externalIPs") or ()):
        yield from outer_causes(f"spec.externalIPs[{at}]", value)
    if spec["type"] == "ExternalName":
        yield from _name_causes(spec)
    yield from _balancer_causes(spec)
    if spec.get("trafficDistribution") is not None:
        yield from validate_enum("spec.trafficDistribution", spec["trafficDistribution"], _NEAR)


def family_causes(spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with the families of addresses; there is one here, as on most clusters."""
    for at, family in enumerate(spec.get("ipFamilies") or ()):
        path = f"spec.ipFamilies[{at}]"
        yield from validate_enum(path, family, _FAMILIES)
        if family == "IPv6":
            yield invalid(path, family, "not configured on this cluster")
    policy = spec.get("ipFamilyPolicy")
    if policy is not None:
        yield from validate_enum("spec.ipFamilyPolicy", policy, _STACKS)
    if policy == "RequireDualStack":
        text = "this cluster is not configured for dual-stack services"
        yield invalid("spec.ipFamilyPolicy", policy, text)


def outer_causes(path: str, value: str) -> Iterator[Cause]:
    """What is wrong with an address that is reached from elsewhere."""
    try:
        found = ip_address(value)
    except ValueError:
        text = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        yield invalid(path, value, text)
        return
    if found.is_unspecified:
        yield invalid(path, value, f"may not be unspecified ({value})")
    if found.is_loopback:
        yield invalid(path, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if found.is_link_local:
        text = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        yield invalid(path, value, text)


def _affinity_causes(spec: JsonObject) -> Iterator[Cause]:
    client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
    seconds = client.get("timeoutSeconds")
    if seconds is not None and seconds not in AFFINITIES:
        path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        yield invalid(path, seconds, "must be greater than 0 and less than 86400")


def _name_causes(spec: JsonObject) -> Iterator[Cause]:
    if spec.get("clusterIPs") or spec.get("clusterIP"):
        yield forbidden("spec.clusterIPs", "may not be set for ExternalName services")
    name = (spec.get("externalName") or "").removesuffix(".")
    yield from validate_required_name("spec.externalName", name, dns1123_subdomain_errors)


def _balancer_causes(spec: JsonObject) -> Iterator[Cause]:
    balanced, ranges = spec["type"] == _BALANCED, spec.get("loadBalancerSourceRanges") or []
    if ranges and not balanced:
        yield forbidden(_RANGES, _ONLY_BALANCED)
    for at, text in enumerate(ranges):
        yield from validate_cidr(f"{_RANGES}[{at}]", text.strip())
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        yield forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCED)
    kind = spec.get("loadBalancerClass")
    if kind is not None and not balanced:
        yield forbidden("spec.loadBalancerClass", _ONLY_BALANCED)
    elif kind is not None:
        yield from invalid_each("spec.loadBalancerClass", kind, qualified_name_errors(kind))
    port, policy = spec.get("healthCheckNodePort"), spec.get("externalTrafficPolicy")
    if port and not (balanced and policy == "Local"):
        yield invalid("spec.healthCheckNodePort", port, _LOCAL)
