"""A program in Go on the embedded server: Kubernetes' own controllers, as they were built.

They hold a lease, watch every kind they know of, apply, patch and collect: what client-go does
with a server. Lost watches and forgotten history are part of its life.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from conformance.target import Target, until
from conformance.workloads import deployment
from envtest import locate
from envtest.binaries import MANAGER
from foreign.process import Child
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from unit.cluster.api import JsonObject

PROGRAM = locate(os.environ, (MANAGER,))
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no kube-controller-manager")


@pytest_asyncio.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """An API server without controllers of ours, and Kubernetes' beside it."""
    assert PROGRAM is not None
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as found:
        save_kubeconfig(found, tmp_path / "kubeconfig")
        flags = (
            f"--kubeconfig={tmp_path / 'kubeconfig'}",
            "--secure-port=0",
            "--leader-elect=true",
        )
        manager = Child((str(PROGRAM / MANAGER), *flags), tmp_path / "manager.log")
        try:
            yield found
        finally:
            manager.stop()


@pytest_asyncio.fixture
async def target(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Target]:
    transport = HttpTransport(Config.load(tmp_path / "kubeconfig"))
    try:
        yield Target(transport, "default")
    finally:
        await transport.close()


async def pods(target: Target, number: int) -> list[str]:
    """The names of the pods, as soon as there are so many."""
    return await until(
        lambda: target.names(target.path("pods")), lambda found: len(found) == number
    )


async def test_kubernetes_own_controllers_work_on_the_embedded_server(
    cluster: Cluster, target: Target
) -> None:
    path = target.path("deployments", api="apps/v1")
    await target.create(path, deployment("a", replicas=3))
    assert len(await pods(target, 3)) == 3
    holder = (await target.get(LEASE))["spec"]["holderIdentity"]
    assert holder

    async def seen() -> JsonObject:
        status: JsonObject = (await target.get(f"{path}/a"))["status"]
        return status

    status = await until(seen, lambda found: found.get("updatedReplicas") == 3)
    assert status["observedGeneration"] == 1
    # Every watch ends, and cannot be resumed.
    cluster.server.compact()
    cluster.server.restore(cluster.server.snapshot())
    await target.merge(f"{path}/a/scale", {"spec": {"replicas": 5}})
    assert len(await pods(target, 5)) == 5
    await target.delete(f"{path}/a")
    assert await pods(target, 0) == []
    assert await target.names(target.path("replicasets", api="apps/v1")) == []
    assert (await target.get(LEASE))["spec"]["holderIdentity"] == holder
