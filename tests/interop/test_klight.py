"""klight: networks of peers of ours and of the original, which `LIGHTPEER_ORIGINAL` names."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.core.address import BindAddress
from testbeds import original_networks as networks
from testbeds.originals import OriginalsTestbed
from testbeds.real_peers import RealPeersTestbed

ORIGINAL = os.environ.get("LIGHTPEER_ORIGINAL", "")
# The original announces the address that leads out of its machine; without any, this one.
HOST = os.environ.get("LIGHTPEER_HOST", "127.0.0.1")
pytestmark = pytest.mark.skipif(
    not ORIGINAL, reason="LIGHTPEER_ORIGINAL names no program: build the original's lightpeer"
)


@pytest_asyncio.fixture
async def originals(tmp_path: Path) -> AsyncIterator[OriginalsTestbed]:
    """A cluster, the operator, and no peer yet."""
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        testbed = RealPeersTestbed(cluster)
        made = OriginalsTestbed(testbed, [ORIGINAL], tmp_path, HOST)
        try:
            yield made
        finally:
            await made.close()
            await testbed.close()


@pytest.mark.parametrize("scenario", networks.SCENARIOS, ids=lambda each: each.__name__)
async def test_klight_and_the_original(
    originals: OriginalsTestbed, scenario: networks.Scenario
) -> None:
    await scenario(originals)
