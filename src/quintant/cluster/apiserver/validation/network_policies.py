"""ValidateNetworkPolicy: its selectors, peers and ports."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network

from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    PORTS,
    parse_cidr,
    validate_cidr,
    validate_enum,
    validate_port,
    validate_range,
)
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.core.errors import Cause

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_DIRECTIONS = ("Ingress", "Egress")
_SELECTORS = ("podSelector", "namespaceSelector")


def validate_network_policy(policy: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a NetworkPolicy."""
    spec = policy["spec"]
    yield from selector_causes("spec.podSelector", spec.get("podSelector") or {})
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for at, rule in enumerate(spec.get(direction) or ()):
            yield from _rule_causes(f"spec.{direction}[{at}]", rule, peers)
    kinds = spec.get("policyTypes") or []
    if len(kinds) > len(_DIRECTIONS):
        yield invalid("spec.policyTypes", kinds, "may not specify more than two policyTypes")
        return
    for at, kind in enumerate(kinds):
        yield from validate_enum(f"spec.policyTypes[{at}]", kind, _DIRECTIONS)


def _rule_causes(path: str, rule: JsonObject, peers: str) -> Iterator[Cause]:
    for at, each in enumerate(rule.get("ports") or ()):
        yield from _port_causes(f"{path}.ports[{at}]", each)
    for at, peer in enumerate(rule.get(peers) or ()):
        yield from _peer_causes(f"{path}.{peers}[{at}]", peer)


def _port_causes(path: str, each: JsonObject) -> Iterator[Cause]:
    yield from validate_enum(f"{path}.protocol", each.get("protocol"), _PROTOCOLS)
    first, last = each.get("port"), each.get("endPort")
    if last is not None and not isinstance(first, int):
        why = "not specified" if first is None else "non-numeric"
        yield invalid(f"{path}.endPort", last, f"may not be specified when `port` is {why}")
    if first is not None:
        yield from validate_port(f"{path}.port", first)
    if last is not None and isinstance(first, int):
        if last < first:
            yield invalid(f"{path}.endPort", first, "must be greater than or equal to `port`")
        yield from validate_range(f"{path}.endPort", last, PORTS)


def _peer_causes(path: str, peer: JsonObject) -> Iterator[Cause]:
    selectors = [name for name in _SELECTORS if peer.get(name) is not None]
    for name in selectors:
        yield from selector_causes(f"{path}.{name}", peer[name])
    block = peer.get("ipBlock")
    if block is not None:
        yield from _block_causes(f"{path}.ipBlock", block)
    if block is not None and selectors:
        yield forbidden(path, "may not specify both ipBlock and another peer")
    elif block is None and not selectors:
        yield required(path, "must specify a peer")


def _block_causes(field_path: str, block: JsonObject) -> Iterator[Cause]:
    if not block.get("cidr"):
        yield required(f"{field_path}.cidr")
        return
    yield from validate_cidr(f"{field_path}.cidr", block["cidr"])
    whole = parse_cidr(block["cidr"])
    for at, text in enumerate(block.get("except") or () if whole is not None else ()):
        path = f"{field_path}.except[{at}]"
        yield from validate_cidr(path, text)
        if parse_cidr(text) is not None and not _inside(text, block["cidr"]):
            yield invalid(path, text, "must be a strict subset of `cidr`")


def _inside(part: str, whole: str) -> bool:
    """Whether a range is a part of another, and not all of it."""
    small, large = parse_cidr(part), parse_cidr(whole)
    if isinstance(small, IPv4Network) and isinstance(large, IPv4Network):
        return small != large and small.subnet_of(large)
    if isinstance(small, IPv6Network) and isinstance(large, IPv6Network):
        return small != large and small.subnet_of(large)
    return False


POLICIES = {"networkpolicies": validate_network_policy}
