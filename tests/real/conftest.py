"""Real control planes for the whole run, a client for each test, and real time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from time import monotonic

import pytest
import pytest_asyncio

from envtest import RealCluster
from foreign.catalogue import IM
from foreign.errors import announce
from infrastructure_manager import InfrastructureManager
from quintant import Client, Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest


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


@pytest.fixture(scope="package")
def dummy_manager(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[InfrastructureManager]:
    """One Infrastructure Manager for all; each test takes back the faults it asked for."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    folder = tmp_path_factory.mktemp("infrastructure-manager")
    # It is installed where it is missing, which takes a minute and says how far it is.
    with capture.global_and_fixture_disabled():
        IM.provide(os.environ)
    began = monotonic()
    with InfrastructureManager(folder) as manager:
        with capture.global_and_fixture_disabled():
            announce(f"Infrastructure Manager is ready after {monotonic() - began:.1f} s")
        yield manager


@pytest_asyncio.fixture
async def transport(real_cluster: RealCluster) -> AsyncIterator[HttpTransport]:
    opened = HttpTransport(Config.load(real_cluster.kubeconfig))
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def client(transport: HttpTransport) -> Client:
    return Client(Rest(transport), manager="tests")
