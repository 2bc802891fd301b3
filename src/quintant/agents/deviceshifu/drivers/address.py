"""The way to a device: from its address to a socket.

Names and mapped ports of the embedded cluster are found here, and every driver connects by it:
libraries that resolve names by themselves find none of them. Containers of a pod there have no
localhost of their own: such an address is the pod's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from errno import EACCES
from typing import TypeVar

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.dns.resolver import SocketAddress
from quintant.http.special_addresses import special_kind
from quintant.wire.shifu import DeviceAddress

_HERE = ("0.0.0.0", "localhost", "127.0.0.1", "::1", "::")

P = TypeVar("P", bound=asyncio.Protocol)

AddressKind = Callable[[str], str]
"""Why an address is refused; empty for all that are not."""


def any_address(address: str) -> str:
    """Refuses none."""
    return ""


def special_device_kind(address: str) -> str:
    """Refuses special addresses, but for that of a driver in the same pod (0.0.0.0 at upstream)."""
    kind = special_kind(address)
    return "" if kind == "unspecified" else kind


class DeviceDialer:
    """Opens connections to devices."""

    def __init__(
        self, resolver: HostResolver, pod_ip: str = "", refused: AddressKind = any_address
    ) -> None:
        self._resolver, self._pod_ip, self._refused = resolver, pod_ip, refused

    def guarded(self) -> DeviceDialer:
        """One that opens none to special addresses, whatever devices may be at."""
        return DeviceDialer(self._resolver, self._pod_ip, special_kind)

    async def _find(self, address: DeviceAddress) -> SocketAddress:
        """Where to connect. OSError if nobody knows."""
        host = self._pod_ip if self._pod_ip and address.host in _HERE else address.host
        found = await self._resolver.find(host, address.port)
        if not found:
            raise OSError(f"no such host: {address.host}")
        if kind := self._refused(found[0].address):
            raise PermissionError(EACCES, f"its address is {kind}, which is not allowed")
        return found[0]

    async def connect(self, make: Callable[[], P], address: DeviceAddress) -> P:
        """A connection to a device. OSError if there is none."""
        found = await self._find(address)
        _, protocol = await asyncio.get_running_loop().create_connection(
            make, found.address, found.port
        )
        return protocol

    async def streams(
        self, address: DeviceAddress
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a device, as streams. OSError if there is none."""
        found = await self._find(address)
        return await asyncio.open_connection(found.address, found.port)
