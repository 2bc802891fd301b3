"""The way from a controller to a real API server, with faults on it.

A `Proxy` stands in between and treats connections badly; `calls` are the controller's requests as
it made them. Time limits are short: a test cannot wait for those that suit production.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import aiohttp

from quintant import Config, Environment
from quintant.runtime.client.faults import FaultTransport
from quintant.runtime.client.http import HttpTransport, Limits
from real.proxy import Proxy
from realpair import RealCluster

LIMITS = Limits(connect=2.0, answer=3.0, head=3.0)
# What has no key in the range below: only the revision is wanted.
NO_KEY = {"key": "AA=="}


@dataclass(frozen=True, slots=True)
class Way:
    """A proxy, and the transport through it."""

    proxy: Proxy
    faults: FaultTransport

    @property
    def environment(self) -> Environment:
        """What a manager is bound to, to go this way."""
        return Environment(self.faults)


@asynccontextmanager
async def way_to(cluster: RealCluster) -> AsyncIterator[Way]:
    """A way to a cluster, as long as the context."""
    config = Config.load(cluster.kubeconfig)
    server = urlsplit(config.server)
    host = server.hostname or ""
    async with Proxy.before(host, server.port or 443) as proxy:
        trust = replace(config.trust, server_name=config.trust.server_name or host)
        there = replace(config, server=f"https://127.0.0.1:{proxy.port}", trust=trust)
        transport = HttpTransport(there, limits=LIMITS)
        try:
            yield Way(proxy, FaultTransport(transport))
        finally:
            await transport.close()


async def compact(store: str) -> None:
    """Make etcd forget its history; an API server that keeps none itself answers 410 from then."""
    async with aiohttp.ClientSession(store, raise_for_status=True) as etcd:
        async with etcd.post("/v3/kv/range", json=NO_KEY) as answer:
            revision = (await answer.json())["header"]["revision"]
        body = {"revision": revision, "physical": True}
        async with etcd.post("/v3/kv/compaction", json=body):
            pass
