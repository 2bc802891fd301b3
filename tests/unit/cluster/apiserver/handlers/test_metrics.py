"""metrics.k8s.io tells what pods and nodes use: measured where they run, made up where not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from quintant.cluster.apiserver.kubelet_client.meter import (
    MeasuredNode,
    MeasuredPod,
    NodeUsage,
    PodUsage,
    ResourceUsage,
)
from quintant.cluster.apiserver.meta.user import User
from quintant.core.object import Request
from unit.cluster.api import PODS, Api, server
from unit.cluster.simulated.simulated_cluster import NODES, pod, simulated

ROOT = "/apis/metrics.k8s.io/v1beta1"
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@asynccontextmanager
async def measured() -> AsyncIterator[Api]:
    """A cluster of two simulated nodes and a pod, with figures."""
    async with simulated(2) as api:
        api.server.metrics.open()
        await api.create(PODS, pod("p", labels={"app": "web"}, nodeName="sim-0001"))
        await asyncio.sleep(3)
        yield api


async def test_group_is_served_only_when_opened() -> None:
    api = Api(server())
    assert (await api.send("GET", f"{ROOT}/nodes")).status == 404
    api.server.metrics.open()
    assert (await api.get(f"{ROOT}/nodes"))["items"] == []
    listed = (await api.get(ROOT))["resources"]
    assert [(each["name"], each["kind"], each["verbs"]) for each in listed] == [
        ("nodes", "NodeMetrics", ["get", "list"]),
        ("pods", "PodMetrics", ["get", "list"]),
    ]


async def test_simulated_pod_has_made_up_figures() -> None:
    async with measured() as api:
        found = await api.get(f"{ROOT}/namespaces/default/pods/p")
        assert found["kind"] == "PodMetrics"
        (container,) = found["containers"]
        assert container["name"] == "c"
        assert container["usage"]["cpu"].endswith("n")
        assert container["usage"]["memory"].endswith("Ki")
        assert found["window"] == "10s"


async def test_lists_are_told_by_namespace_and_labels() -> None:
    async with measured() as api:
        everywhere = await api.get(f"{ROOT}/pods")
        assert everywhere["kind"] == "PodMetricsList"
        assert [each["metadata"]["name"] for each in everywhere["items"]] == ["p"]
        assert not (await api.get(f"{ROOT}/namespaces/kube-system/pods"))["items"]
        assert (await api.get(f"{ROOT}/pods", labelSelector="app=web"))["items"]
        assert not (await api.get(f"{ROOT}/pods", labelSelector="app=db"))["items"]
        assert not (await api.get(f"{ROOT}/pods", fieldSelector="metadata.name=q"))["items"]


async def test_node_uses_what_its_pods_use_and_something_for_itself() -> None:
    async with measured() as api:
        busy, idle = (await api.get(f"{ROOT}/nodes"))["items"]
        assert _bytes(busy["usage"]["memory"]) > _bytes(idle["usage"]["memory"]) > 0


async def test_full_node_shows_it_and_a_dead_one_shows_nothing() -> None:
    async with measured() as api:
        for name, fault in (("sim-0001", "full"), ("sim-0002", "dead")):
            notes = {"simulated.quintant.dev/fault": fault}
            await api.merge(f"{NODES}/{name}", {"metadata": {"annotations": notes}})
        (full,) = (await api.get(f"{ROOT}/nodes"))["items"]
        assert full["metadata"]["name"] == "sim-0001"
        assert _bytes(full["usage"]["memory"]) > 0.9 * 32 * 2**30


async def test_figures_of_real_pods_are_those_of_the_meter() -> None:
    api = Api(server())
    api.server.metrics.open()
    api.server.metrics.meters.append(_Meter())
    await api.create(NODES, {"metadata": {"name": "local"}})
    await api.create(PODS, pod("p", nodeName="local"))
    await api.merge(f"{PODS}/p/status", {"status": {"phase": "Running"}})
    (found,) = (await api.get(f"{ROOT}/pods"))["items"]
    assert found["timestamp"] == "2026-01-01T00:00:00Z"
    assert found["containers"] == [{"name": "c", "usage": {"cpu": "250000000n", "memory": "1Ki"}}]
    (node,) = (await api.get(f"{ROOT}/nodes"))["items"]
    assert node["usage"] == {"cpu": "2000000000n", "memory": "4Ki"}


async def test_figures_cannot_be_written_and_what_is_absent_is_not_found() -> None:
    api = Api(server())
    api.server.metrics.open()
    await api.create(f"{ROOT}/nodes", {"metadata": {"name": "x"}}, code=405)
    told = await api.get(f"{ROOT}/nodes/x", code=404)
    assert told["message"] == 'nodes.metrics.k8s.io "x" not found'


async def test_whoever_may_view_pods_may_view_their_figures() -> None:
    async with measured() as api:
        binding = {
            "metadata": {"name": "ann"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "view",
            },
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ann"}],
        }
        await api.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
        api.server.tokens.add("ann", User("ann"))
        ann = Api(api.server, "ann")
        assert (await ann.get(f"{ROOT}/pods"))["items"]


class _Meter:
    def pods(self, running: Sequence[MeasuredPod]) -> Mapping[Request, PodUsage]:
        used = {"c": ResourceUsage(0.25, 1024)}
        return {pod.key: PodUsage(used, MOMENT, 10.0) for pod in running}

    def nodes(
        self, nodes: Sequence[MeasuredNode], running: Sequence[MeasuredPod]
    ) -> Mapping[str, NodeUsage]:
        return {"local": NodeUsage(ResourceUsage(2.0, 4096), MOMENT, 10.0)}


def _bytes(quantity: str) -> int:
    return int(quantity.removesuffix("Ki")) * 1024
