"""A real API server behind a proxy with faults.

A `Proxy` stands in between and treats connections badly; a `FaultTransport` before it remembers
what was asked. Time limits are short: a test cannot wait for those that suit production.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from msgspec.structs import replace

from envtest import RealCluster
from quintant import Config, Environment
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.testing.faults.transport import FaultTransport
from real.proxy import Proxy

LIMITS = TransportLimits(connect=2.0, answer=3.0, head=3.0)
# etcd says its revision with every answer, so any question will do.
ANY_KEY = {"key": "AA=="}


@dataclass(frozen=True, slots=True)
class FaultyProxy:
    """The proxy, and the transport that leads through it."""

    proxy: Proxy
    faults: FaultTransport

    @property
    def environment(self) -> Environment:
        """What a manager is bound to, to go through the proxy."""
        return Environment(self.faults)


@asynccontextmanager
async def faulty_proxy(cluster: RealCluster) -> AsyncIterator[FaultyProxy]:
    """A proxy before a cluster, as long as the context."""
    config = Config.load(cluster.kubeconfig)
    server = urlsplit(config.server)
    host = server.hostname or ""
    async with Proxy.before(host, server.port or 443) as proxy:
        trust = replace(config.trust, server_name=config.trust.server_name or host)
        there = replace(config, server=f"https://127.0.0.1:{proxy.port}", trust=trust)
        transport = HttpTransport(there, limits=LIMITS)
        try:
            yield FaultyProxy(proxy, FaultTransport(transport))
        finally:
            await transport.close()


async def compact(store: str) -> None:
    """Make etcd forget its history; an API server that keeps none itself answers 410 from then."""
    revision = (await _ask(f"{store}/v3/kv/range", ANY_KEY))["header"]["revision"]
    await _ask(f"{store}/v3/kv/compaction", {"revision": revision, "physical": True})


async def _ask(url: str, body: dict[str, Any]) -> Any:
    async with aiohttp.request("POST", url, json=body, raise_for_status=True) as answer:
        return await answer.json()
