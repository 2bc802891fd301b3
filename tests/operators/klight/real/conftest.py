"""A whole cluster with real lightpeers as processes, in real time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.container.images import load_image_table
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.object import replace
from testbeds.real_peers import RealPeersTestbed

IMAGES = Path(__file__).parents[4] / "examples" / "klight" / "images.yaml"


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    # uvloop forks with gRPC's handlers for forks, in which a child now and then crashes.
    return {"asyncio": asyncio.new_event_loop}


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[RealPeersTestbed]:
    """A cluster with controllers and a node, and the operator not yet started."""
    # This Python rather than the first of the path, which is another one in tests.
    programs = [replace(each, argv=(sys.executable,)) for each in load_image_table(IMAGES)]
    node = NodeOptions(tuple(programs))
    plan = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(), node=node)
    async with run_cluster(plan) as cluster:
        made = RealPeersTestbed(cluster)
        try:
            yield made
        finally:
            await made.close()
