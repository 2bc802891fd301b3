"""The original's two examples, as they are in examples/klight: applied, and at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.api.core import ConfigMap
from quintant.core.object import ObjectMeta
from quintant.core.yaml import load_all
from quintant.runtime.cache.manifests import Applier
from testbeds.real_peers import RealPeersTestbed

FOLDER = Path(__file__).parents[4] / "examples" / "klight"
CLIENT = FOLDER / "lightclient.py"


@pytest.mark.parametrize(
    ("name", "pods", "readers"),
    [
        ("network", ("persister-0", "reader-0"), "hello at 2"),
        ("statefiles", ("lightwriter", "lightreader"), "2"),
    ],
)
async def test_what_one_pod_writes_another_one_reads(
    testbed: RealPeersTestbed, name: str, pods: tuple[str, str], readers: str
) -> None:
    file = FOLDER / f"{name}.yaml"
    text = file.read_bytes().replace(b"-every=10", b"-every=1")
    await testbed.start()
    client = ConfigMap(
        metadata=ObjectMeta(name="lightclient", namespace="default"),
        data={CLIENT.name: CLIENT.read_text()},
    )
    await testbed.client.create(client)
    await Applier(testbed.client.rest, "test").apply(load_all(text, file.name))
    writer, reader = pods

    async def read() -> bool:
        said = (await testbed.log(reader, "app")).splitlines()
        return any(line.startswith(readers) for line in said)

    await testbed.until(read)
    assert "wrote" in await testbed.log(writer, "app")
    assert len(testbed.peers.joins) == 1
