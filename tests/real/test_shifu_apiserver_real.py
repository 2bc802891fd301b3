"""shifu on a real kube-apiserver, as `kubectl apply -k` installs it: with our agents and, in a
folder of its own, for sites that keep upstream's.

The server's own RBAC decides what operator and agents may do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from envtest import RealCluster
from quintant import Client
from quintant.api.apps import Deployment
from quintant.api.core import Pod
from quintant.operators.shifu.api.names import DEVICES
from testbeds.devices import raw_device
from testbeds.shifu_installation import FOLDERS, Installation, installed_on
from testbeds.shifu_real import SHIFUS

pytestmark = pytest.mark.realtime

REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n21"
CONFIG = {
    "instructions": "instructions: {read_value: }",
    "telemetries": (
        "telemetrySettings: {telemetryInitialDelayInMilliseconds: 0}\n"
        "telemetries: {health: {properties: "
        "{instruction: read_value, initialDelayMs: 0, intervalMs: 200}}}"
    ),
}


@pytest_asyncio.fixture(params=FOLDERS)
async def installation(
    request: pytest.FixtureRequest, real_cluster: RealCluster, client: Client, tmp_path: Path
) -> AsyncIterator[Installation]:
    """One after the other on the same server: the second is applied over the first."""
    async with installed_on(real_cluster, client, request.param, tmp_path) as made:
        yield made
    assert made.refusals.forbidden == []


async def test_device_is_placed_told_of_moved_and_deleted_under_what_is_installed(
    installation: Installation,
) -> None:
    name = f"thermometer-{installation.flavor}"
    for node in ("edge-1", "edge-2"):
        await installation.node(node)
    async with raw_device(REPLY) as device:
        await installation.device(name, "HTTP", device.address)
        first = await installation.placed(name)
        await installation.phase(name, "Pending")
        async with installation.agent(name, CONFIG):
            found = await installation.phase(name, "Running")
            assert found.status is not None
            assert found.status.placement is not None
            assert found.status.placement.node_name == first
            assert not [each for each in device.asked if b"uthorization" in each]

            await stuck_pod(installation, name, first)
            await installation.node(first, ready=False)
            second = await installation.placed(name, beside=first)
            await installation.client.wait_for(
                Pod, f"stuck-{name}", SHIFUS, until=lambda it: it is None, timeout=60
            )
            assert second in installation.nodes
            await installation.phase(name, "Running")
        found = await installation.until(
            type(found), name, DEVICES, lambda it: it.status is not None
        )
    await installation.client.delete(found)
    await installation.gone(name)
    for node in installation.nodes:
        await installation.node(node)


async def stuck_pod(installation: Installation, name: str, node: str) -> None:
    """A pod of a device's Deployment on a node; nobody is there who could end it."""
    made = await installation.client.get(Deployment, f"deviceshifu-{name}", SHIFUS)
    labels = dict(made.spec.template.value["metadata"]["labels"])
    container = {"name": "main", "image": "x", "env": [{"name": "EDGEDEVICE_NAME", "value": name}]}
    meta = {"name": f"stuck-{name}", "namespace": SHIFUS, "labels": labels}
    spec = {"nodeName": node, "containers": [container], "serviceAccountName": "edgedevice-sa"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    await installation.create(f"/api/v1/namespaces/{SHIFUS}/pods", body)
