"""A whole cluster in this process with real pods, in real time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping

import pytest
import pytest_asyncio
import uvloop

from node.node_fixture import INSPECTOR, NodeCluster
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.options import NodeOptions
from quintant.core.address import BindAddress


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop of `quintant up`; where they start processes themselves, tests try both."""
    if item.get_closest_marker("loops") is not None:
        return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    return {"uvloop": uvloop.new_event_loop}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "loops: run on both event loops")


@pytest_asyncio.fixture
async def node() -> AsyncIterator[NodeCluster]:
    """A cluster whose only component is the node."""
    python = ImageProgram(image="example/python", argv=(sys.executable,))
    async with run_cluster(
        ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions((python, INSPECTOR)))
    ) as cluster:
        yield NodeCluster(cluster)
