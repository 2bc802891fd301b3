"""The real API server that benchmarks talk to, and the custom resource they use on it."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.operators.kind import Greeter
from benchmarks.sizes import Sizes
from envtest import RealCluster
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.errors import ApiError
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_crds

# A definition that was just accepted is not served at once, and its cache a moment later.
SERVED_SECONDS = 0.2
SETTLED_SECONDS = 1.0

# What operators write, in the words of the server's own counters.
_WRITES = re.compile(
    r'^apiserver_request_total\{(?=.*resource="(?:configmaps|greeters)")'
    r'(?=.*verb="(?:POST|PUT|PATCH|APPLY|DELETE)").*\} (\S+)$',
    re.MULTILINE,
)
_LEASE_PATCHES = re.compile(
    r'^apiserver_request_total\{(?=.*resource="leases")(?=.*verb="PATCH").*\} (\S+)$',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class EnvtestServer:
    """A real API server with the CRD installed: how programs find it, and its processes."""

    env: dict[str, str]
    pids: list[int]


@contextmanager
def envtest_server(sizes: Sizes) -> Iterator[EnvtestServer]:
    """A fresh one, never a cluster of the user's."""
    with RealCluster(environ={**os.environ, "QUINTANT_DISPOSABLE": ""}) as cluster:
        asyncio.run(_prepare(Config.load(cluster.kubeconfig)))
        env = {
            "KUBECONFIG": str(cluster.kubeconfig),
            "BENCH_SERVER": cluster.server,
            "BENCH_TOKEN": cluster.token,
            "BENCH_CA": str(cluster.ca),
            "BENCH_WORKERS": str(sizes.workers),
        }
        yield EnvtestServer(env, list(cluster.pids.values()))


def write_requests(env: Mapping[str, str]) -> int:
    """How many requests to change a Greeter or a ConfigMap the server has answered so far."""
    return count_writes(server_metrics(env))


def server_metrics(env: Mapping[str, str]) -> str:
    """The server's own series."""
    asked = urllib.request.Request(
        f"{env['BENCH_SERVER']}/metrics", headers={"Authorization": f"Bearer {env['BENCH_TOKEN']}"}
    )
    trusted = ssl.create_default_context(cafile=env["BENCH_CA"])
    with urllib.request.urlopen(asked, context=trusted) as answer:
        text: str = answer.read().decode()
        return text


def count_writes(metrics: str) -> int:
    """The requests to change a Greeter or a ConfigMap, as the server's metrics have them."""
    return sum(int(float(each)) for each in _WRITES.findall(metrics))


def count_lease_patches(metrics: str) -> int:
    """The renewals of Leases by programs: the server renews its own by PUT."""
    return sum(int(float(each)) for each in _LEASE_PATCHES.findall(metrics))


async def _prepare(config: Config) -> None:
    transport = HttpTransport(config)
    await install_crds(transport, [Greeter])
    client = Client(Rest(transport))
    await _served(client)
    await asyncio.sleep(SETTLED_SECONDS)
    await transport.close()


async def _served(client: Client) -> None:
    while True:
        try:
            await client.list(Greeter, live=True)
        except ApiError:
            await asyncio.sleep(SERVED_SECONDS)
        else:
            return
