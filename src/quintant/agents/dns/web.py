"""The resolver of an aiohttp client in a pod: cluster names first, then the system's.

For programs on uvloop, whose own resolver is not Python's:

    aiohttp.TCPConnector(resolver=resolver())
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from quintant.agents.dns.resolver import ClusterResolver, is_ip_address


def resolver(environ: Mapping[str, str] = os.environ) -> AbstractResolver:
    """A resolver that knows the cluster that the environment names, if it names one."""
    names = ClusterResolver.find(environ)
    return ThreadedResolver() if names is None else _Resolver(names)


class _Resolver(AbstractResolver):
    """Cluster names by asking the cluster, others by asking the system."""

    def __init__(self, names: ClusterResolver) -> None:
        self._names, self._system = names, ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._names.resolve(host, port)
        if not found or not is_ip_address(found[0].address):
            other = found[0].address if found else host
            return await self._system.resolve(other, port, family)
        return [
            ResolveResult(
                hostname=host, host=place.address, port=place.port, family=socket.AF_INET,
                proto=0, flags=socket.AI_NUMERICHOST,
            )
            for place in found
        ]  # fmt: skip

    async def close(self) -> None:
        await self._system.close()
