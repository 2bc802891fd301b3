"""library.IP, library.CIDR, library.URLs: addresses, networks and URLs in expressions."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import parse_qs

from quintant.cluster.apiserver.cel.conversions import tells
from quintant.cluster.apiserver.cel.functions import Function
from quintant.cluster.apiserver.cel.types import CIDR, IP, URL
from quintant.cluster.apiserver.cel.values import CelError, OpaqueValue
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.golang.url import BadUrl, Url, parse_request

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _ip(value: Any) -> OpaqueValue:
    if isinstance(value, OpaqueValue):
        return OpaqueValue(IP.name, value.value.ip)
    if "%" in value:
        raise CelError(f"IP address {quoted(value)} with zone value is not allowed")
    try:
        found = ip_address(value)
    except ValueError:
        why = f"ParseAddr({quoted(value)}): unable to parse IP"
        text = f"IP Address {quoted(value)} parse error during conversion from string: {why}"
        raise CelError(text) from None
    _refuse_mapped(found, value)
    return OpaqueValue(IP.name, found)


def _refuse_mapped(address: Address, text: str) -> None:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise CelError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")


class _Prefix:
    """An address with the length of its network; unlike a network it keeps its host bits."""

    def __init__(self, ip: Address, bits: int) -> None:
        self.ip, self.bits = ip, bits

    @property
    def network(self) -> Network:
        return ip_network((self.ip, self.bits), strict=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Prefix) and (self.ip, self.bits) == (other.ip, other.bits)

    def __hash__(self) -> int:
        return hash((self.ip, self.bits))

    def __str__(self) -> str:
        return f"{self.ip}/{self.bits}"


def _cidr(text: str) -> OpaqueValue:
    address, slash, bits = text.partition("/")
    try:
        found = ip_address(address)
        if not slash or not bits.isdigit() or int(bits) > found.max_prefixlen or "%" in text:
            raise ValueError(text)
    except ValueError:
        why = f"netip.ParsePrefix({quoted(text)}): no '/'" if not slash else "invalid prefix"
        message = f"network address parse error during conversion from string: {why}"
        raise CelError(message) from None
    _refuse_mapped(found, text)
    return OpaqueValue(CIDR.name, _Prefix(found, int(bits)))


def _contains_ip(network: OpaqueValue, address: Any) -> bool:
    found = _ip(address) if isinstance(address, str) else address
    return bool(found.value in network.value.network)


def _contains_cidr(network: OpaqueValue, other: Any) -> bool:
    found = (_cidr(other) if isinstance(other, str) else other).value
    inside = found.ip in network.value.network
    return bool(inside and found.bits >= network.value.bits)


def _masked(network: OpaqueValue) -> OpaqueValue:
    value = network.value
    return OpaqueValue(CIDR.name, _Prefix(value.network.network_address, value.bits))


def _of(read: Callable[[Any], Any]) -> Function:
    return lambda opaque: read(opaque.value)


def _global(ip: Address) -> bool:
    return not (ip.is_unspecified or ip.is_loopback or ip.is_multicast or ip.is_link_local) and (
        str(ip) != "255.255.255.255"
    )


def _local_multicast(ip: Address) -> bool:
    if isinstance(ip, IPv4Address):
        return ip in ip_network("224.0.0.0/24")
    return int(ip) >> 112 & 0xFF0F == 0xFF02


def _url(text: str) -> OpaqueValue:
    try:
        return OpaqueValue(URL.name, parse_request(text))
    except BadUrl as error:
        raise CelError(f"URL parse error during conversion from string: {error}") from None


def _query(url: Url) -> dict[str, list[str]]:
    return parse_qs(url.query, keep_blank_values=True)


def _host(url: Url) -> str:
    return url.host


NETWORK: dict[str, Function] = {
    "ip": _ip,
    "isIP": tells(_ip),
    "ip.isCanonical": lambda text: str(_ip(text).value) == text,
    "family": _of(lambda ip: ip.version),
    "isUnspecified": _of(lambda ip: ip.is_unspecified),
    "isLoopback": _of(lambda ip: ip.is_loopback),
    "isLinkLocalMulticast": _of(_local_multicast),
    "isLinkLocalUnicast": _of(lambda ip: ip.is_link_local),
    "isGlobalUnicast": _of(_global),
    "cidr": _cidr,
    "isCIDR": tells(_cidr),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "masked": _masked,
    "prefixLength": _of(lambda prefix: prefix.bits),
    "url": _url,
    "isURL": tells(_url),
    "getScheme": _of(lambda url: url.scheme),
    "getHost": _of(_host),
    "getHostname": _of(lambda url: url.hostname),
    "getPort": _of(lambda url: url.port),
    "getEscapedPath": _of(lambda url: url.path),
    "getQuery": _of(_query),
}
