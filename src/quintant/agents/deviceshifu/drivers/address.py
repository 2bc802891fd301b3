"""Where a device is: from what its EdgeDevice says to a socket.

Names and mapped ports of the embedded cluster are found here, for libraries that resolve names by
themselves would not. Containers of a pod there have no localhost of their own: such an address is
the pod's.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.dns.resolver import SocketAddress

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HERE = ("0.0.0.0", "localhost", "127.0.0.1", "::1", "::")
_PORTS = range(1, 65536)

P = TypeVar("P", bound=asyncio.Protocol)


class BadAddress(ValueError):
    """What an EdgeDevice has as its address is none."""


class DeviceAddress(NamedTuple):
    """A host and a port, as written."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def device_address(address: str, port: int | None = None) -> DeviceAddress:
    """From host, host:port or a URL; `port` is the protocol's own."""
    text = _SCHEME.sub("", address.strip(), count=1).partition("/")[0].rpartition("@")[2]
    host, number = text, ""
    if text.startswith("["):
        host, _, number = text[1:].partition("]")
        number = number.removeprefix(":")
    elif text.count(":") == 1:
        host, _, number = text.partition(":")
    if not host or not host.isprintable() or " " in host:
        raise BadAddress(f"no host in the address {address[:64]!r}")
    found = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else port
    if found is None or found not in _PORTS or (number and not number.isdigit()):
        raise BadAddress(f"no port in the address {address[:64]!r}")
    return DeviceAddress(host, found)


class DeviceDialer:
    """Opens connections to devices."""

    def __init__(self, resolver: HostResolver, pod_ip: str = "") -> None:
        self._resolver, self._pod_ip = resolver, pod_ip

    async def find(self, place: DeviceAddress) -> SocketAddress:
        """Where to connect, for a library that connects by itself. OSError if nobody knows."""
        host = self._pod_ip if self._pod_ip and place.host in _HERE else place.host
        found = await self._resolver.find(host, place.port)
        if not found:
            raise OSError(f"no such host: {place.host}")
        return found[0]

    async def connect(self, make: Callable[[], P], place: DeviceAddress) -> P:
        """A connection to a device. OSError if there is none."""
        found = await self.find(place)
        _, protocol = await asyncio.get_running_loop().create_connection(
            make, found.address, found.port
        )
        return protocol

    async def streams(
        self, place: DeviceAddress
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a device, as streams. OSError if there is none."""
        found = await self.find(place)
        return await asyncio.open_connection(found.address, found.port)
