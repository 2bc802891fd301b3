"""A cluster of ours for programs of others, as `quintant up` would run it, and real time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import pytest_asyncio

from foreign import ProgramError
from foreign.catalogue import HELM
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from testbeds.dummy_manager import dummy_manager
from testbeds.helm import Helm
from testbeds.infra_real import provider_proxy, real_infra, small_cloud

__all__ = ["dummy_manager", "provider_proxy", "real_infra", "small_cloud"]

Aloud = Callable[[], AbstractContextManager[None]]
"""A context in which output is shown at once, and not kept for the report of a failure."""


@pytest.fixture
def aloud(request: pytest.FixtureRequest) -> Aloud:
    """For whatever takes minutes, and tells how far it is."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    shown: Aloud = capture.global_and_fixture_disabled
    return shown


@pytest.fixture
def helm(aloud: Aloud, tmp_path: Path) -> Helm:
    """Helm, built if it is not there."""
    try:
        with aloud():
            return Helm(HELM.provide(os.environ), tmp_path)
    except ProgramError as error:
        pytest.skip(str(error))


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"real": asyncio.new_event_loop}


@pytest_asyncio.fixture
async def kubeconfig(tmp_path: Path) -> AsyncIterator[Path]:
    """The way into a cluster with controllers and a simulated node."""
    config = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(1))
    async with run_cluster(config) as cluster:
        path = tmp_path / "kubeconfig"
        save_kubeconfig(cluster, path)
        yield path
