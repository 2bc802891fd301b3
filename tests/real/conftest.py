"""Real control planes for the whole run, a client for each test, and real time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

import pytest
import pytest_asyncio

from envtest import RealCluster
from quintant import Client, Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from testbeds.dummy_manager import dummy_manager
from testbeds.infra_real import provider_proxy, real_infra, small_cloud

__all__ = ["dummy_manager", "provider_proxy", "real_infra", "small_cloud"]


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"real": asyncio.new_event_loop}


@pytest.fixture(scope="package")
def real_cluster() -> Iterator[RealCluster]:
    with RealCluster() as cluster:
        yield cluster


@pytest.fixture(scope="package")
def forgetful_cluster() -> Iterator[RealCluster]:
    """A control plane that remembers no more of ConfigMaps than etcd does."""
    with RealCluster(apiserver=("--watch-cache-sizes=configmaps#0",)) as cluster:
        if not cluster.store:
            pytest.skip("a given cluster's history cannot be compacted")
        yield cluster


@pytest_asyncio.fixture
async def transport(real_cluster: RealCluster) -> AsyncIterator[HttpTransport]:
    opened = HttpTransport(Config.load(real_cluster.kubeconfig))
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def client(transport: HttpTransport) -> Client:
    return Client(Rest(transport), manager="tests")
