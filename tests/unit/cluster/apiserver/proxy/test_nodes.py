"""What a kubelet would say, of what the server knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec
import pytest

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.kubelet_client.meter import (
    MeasuredNode,
    MeasuredPod,
    NodeUsage,
    PodUsage,
    ResourceUsage,
)
from quintant.core.object import Request
from unit.cluster.api import PODS, Api, pod, server

NODES = "/api/v1/nodes"
AT = datetime(2026, 1, 2, tzinfo=UTC)
USED = ResourceUsage(0.25, 4096)


class FixedMeter:
    """Every pod and node uses the same."""

    def pods(self, running: Sequence[MeasuredPod]) -> Mapping[Request, PodUsage]:
        return {each.key: PodUsage({"c": USED}, AT, 1.0) for each in running}

    def nodes(
        self, nodes: Sequence[MeasuredNode], running: Sequence[MeasuredPod]
    ) -> Mapping[str, NodeUsage]:
        return {each.metadata.name: NodeUsage(USED, AT, 1.0) for each in nodes}


async def cluster(ready: str = "True") -> Api:
    api = Api(server())
    api.server.metrics.meters.append(FixedMeter())
    for name in ("n", "other"):
        await api.create(NODES, {"metadata": {"name": name}})
        made = {**pod(name), "spec": {**pod(name)["spec"], "nodeName": name}}
        await api.create(PODS, made)
        await api.merge(f"{PODS}/{name}/status", {"status": {"phase": "Running"}})
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    await api.merge(f"{NODES}/n/status", {"status": status})
    return api


async def test_a_node_says_that_it_is_well_and_which_pods_it_has() -> None:
    api = await cluster()
    assert (await api.send("GET", f"{NODES}/n/proxy/healthz")).body == b"ok"
    listed = await api.get(f"{NODES}/n:10250/proxy/pods/")
    assert listed["kind"] == "PodList"
    assert [each["metadata"]["name"] for each in listed["items"]] == ["n"]


async def test_a_summary_has_the_figures_of_the_node_and_of_its_pods() -> None:
    api = await cluster()
    summary = await api.get(f"{NODES}/n/proxy/stats/summary")
    figures = {
        "cpu": {"time": "2026-01-02T00:00:00Z", "usageNanoCores": 250_000_000},
        "memory": {"time": "2026-01-02T00:00:00Z", "workingSetBytes": 4096},
    }
    assert summary["node"] == {"nodeName": "n", **figures}
    (only,) = summary["pods"]
    assert only["podRef"]["name"] == "n"
    assert only["podRef"]["uid"]
    assert only["containers"] == [{"name": "c", **figures}]


@pytest.mark.parametrize("path", ["", "/", "/exec/default/n/c", "/configz"])
async def test_nothing_else_of_a_kubelet_is_served(path: str) -> None:
    api = await cluster()
    refused = await api.get(f"{NODES}/n/proxy{path}", code=503)
    assert (
        "is not served by this cluster: /healthz, /pods, /stats/summary are" in refused["message"]
    )


async def test_nodes_that_are_not_there_or_say_nothing_are_refused() -> None:
    api = await cluster("Unknown")
    assert (await api.get(f"{NODES}/x/proxy/healthz", code=404))["message"] == 'nodes "x" not found'
    silent = await api.get(f"{NODES}/n/proxy/healthz", code=503)
    assert silent["message"] == 'error trying to reach service: node "n" cannot be reached'


async def test_a_kubelet_is_only_read() -> None:
    api = await cluster()
    reply = await api.server.request(ApiRequest("POST", f"{NODES}/n/proxy/pods"))
    assert (reply.status, msgspec.json.decode(reply.body)["reason"]) == (405, "MethodNotAllowed")
