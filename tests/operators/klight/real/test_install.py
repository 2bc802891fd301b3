"""The recipe of the documentation, on the embedded cluster: one file is applied, and it works."""

from __future__ import annotations

from pathlib import Path

from quintant.core.yaml import load_all
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.runtime.cache.manifests import Applier
from testbeds.real_peers import RealPeersTestbed

FILE = Path(__file__).parents[4] / "deploy" / "klight" / "controller.yaml"


async def test_one_file_installs_a_controller_that_joins_pods(testbed: RealPeersTestbed) -> None:
    await Applier(testbed.client.rest, "test").apply(load_all(FILE.read_bytes(), FILE.name))
    for name in ("p1", "p2", "p3"):
        await testbed.pod(name)
    await testbed.formed(3)

    async def ready() -> bool:
        shown = await testbed.client.find(LightNetwork, "net", "default")
        return shown is not None and shown.status is not None and shown.status.members == 3

    await testbed.until(ready)
