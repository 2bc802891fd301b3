"""Networks with peers that behave as the original; `make interop K=klight` has the real one."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.core.address import BindAddress
from testbeds import original_networks as networks
from testbeds import original_peer
from testbeds.originals import OriginalsTestbed
from testbeds.real_peers import RealPeersTestbed


@pytest_asyncio.fixture
async def originals(tmp_path: Path) -> AsyncIterator[OriginalsTestbed]:
    """A cluster, the operator, and no peer yet."""
    program = [sys.executable, str(Path(original_peer.__file__))]
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        testbed = RealPeersTestbed(cluster)
        made = OriginalsTestbed(testbed, program, tmp_path, "127.0.0.1")
        try:
            yield made
        finally:
            await made.close()
            await testbed.close()


@pytest.mark.parametrize("scenario", networks.SCENARIOS, ids=lambda each: each.__name__)
async def test_originals(originals: OriginalsTestbed, scenario: networks.Scenario) -> None:
    await scenario(originals)
