"""The node as an object: what the machine has, and that it is alive."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quintant.client.rest import Rest
from quintant.cluster.kubelet.node_status import Heartbeat, this_machine
from quintant.core.clock import LoopClock
from quintant.runtime.cache.client import Client
from quintant.version import KUBERNETES
from unit.cluster.api import api

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/local"


async def test_a_node_says_what_it_has_and_that_it_is_alive(tmp_path: Path) -> None:
    server = api()
    client = Client(Rest(server.transport), manager="kubelet")
    machine = this_machine("local", "127.0.0.1", tmp_path)
    task = asyncio.ensure_future(Heartbeat(machine, LoopClock()).run(client))
    await asyncio.sleep(1)
    node = await server.get("/api/v1/nodes/local")
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "local"
    assert {"cpu", "memory", "pods", "ephemeral-storage"} <= set(node["status"]["capacity"])
    ready = [each for each in node["status"]["conditions"] if each["type"] == "Ready"]
    assert ready[0]["status"] == "True"
    assert node["status"]["nodeInfo"]["kubeletVersion"] == KUBERNETES
    first = (await server.get(LEASE))["spec"]["renewTime"]
    await asyncio.sleep(10)
    assert (await server.get(LEASE))["spec"]["renewTime"] > first
    unchanged = await server.get("/api/v1/nodes/local")
    assert unchanged["metadata"]["resourceVersion"] == node["metadata"]["resourceVersion"]
    await asyncio.sleep(300)
    later = await server.get("/api/v1/nodes/local")
    assert later["metadata"]["resourceVersion"] != node["metadata"]["resourceVersion"]
    await server.delete("/api/v1/nodes/local")
    await asyncio.sleep(10)
    anew = await server.get("/api/v1/nodes/local")
    assert anew["status"]["conditions"], "a node that was deleted is back as it was"
    task.cancel()
