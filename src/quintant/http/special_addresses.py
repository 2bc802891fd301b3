"""Addresses that a stranger may not have a program of ours call, and names that lead to them.

Who names a server (in a kubeconfig, a provider, a snapshot's URL, a collector of telemetry) need
not be somebody who may ask what only this machine reaches: clouds answer their own machines at
link-local addresses, with credentials. So an address is looked at after its name was resolved, in
every spelling, and connected to is what was looked at: asked again, a name might lead elsewhere.

    link-local      169.254.0.0/16, fe80::/10: where clouds answer their own machines
    metadata        the addresses outside those at which some clouds do so
    multicast, unspecified, reserved

Private addresses and loopback are where servers of an installation are: they are not special. Only
the standard library is loaded.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254"))
)
"""Of Alibaba, Oracle, Azure and AWS."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""Where NAT64 puts addresses of the old kind."""


def special_kind(address: str) -> str:
    """Which special kind an address is of, in any of its spellings; empty for all others."""
    parsed = _parsed(address.partition("%")[0])
    kinds = (_kind(one) for one in _meant(parsed)) if parsed is not None else iter(())
    return next(filter(None, kinds), "")


def is_address(host: str) -> bool:
    """Whether a host is an address, and no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def resolve_host(host: str, port: int, *, guarded: bool) -> list[tuple[str, int]]:
    """Where to connect to; PermissionError if `guarded` and one of the addresses is special.

    The standard library is asked, since it knows the names of an embedded cluster; a faster loop
    does not.
    """
    addresses = [(host, port)]
    if not is_address(host):
        loop = asyncio.get_running_loop()
        addresses = await loop.run_in_executor(None, _resolve, host, port)
    for address, _ in addresses if guarded else ():
        if kind := special_kind(address):
            raise PermissionError(errno.EACCES, f"its address is {kind}, which is not allowed")
    return addresses


def _resolve(host: str, port: int) -> list[tuple[str, int]]:
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(str(info[4][0]), int(info[4][1])) for info in infos]


def _kind(address: Address) -> str:
    if address.is_link_local:
        return "link-local"
    if address in _METADATA:
        return "a cloud's metadata service"
    if address.is_unspecified:
        return "unspecified"
    if address.is_multicast:
        return "multicast"
    # The bits of loopback, and of what IPv4 addresses are written in, are reserved, too.
    inside = isinstance(address, ipaddress.IPv6Address) and any(_inside(address))
    return "reserved" if address.is_reserved and not address.is_loopback and not inside else ""


def _parsed(address: str) -> Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        pass
    try:  # 0xa9fea9fe, 2852039166, 169.254.43518: what the resolver takes for an address
        return ipaddress.IPv4Address(socket.inet_aton(address)) if address else None
    except (OSError, ValueError):
        return None


def _meant(address: Address) -> Iterator[Address]:
    """An address, and the one of the old kind that is inside it."""
    yield address
    if isinstance(address, ipaddress.IPv6Address):
        yield from _inside(address)


def _inside(address: ipaddress.IPv6Address) -> Iterator[Address]:
    for one in (address.ipv4_mapped, address.sixtofour):
        if one is not None:
            yield one
    if address in _NAT64:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
