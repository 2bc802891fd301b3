"""kwok, unmodified, before `quintant up`: nodes and pods that nothing runs, by its own stages."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from conformance.target import until
from conformance.workloads import deployment
from foreign.catalogue import KWOK
from interop.conftest import Aloud
from interop.served import Served, provided, up
from unit.cluster.api import JsonObject

NODES = 3
PODS = 12
ADDRESSES = "192.0.2.1/24"
"""Reserved for documentation: nobody is there."""
FLAGS = (
    "--manage-all-nodes",
    "--enable-crds=Stage",
    "--node-lease-duration-seconds=40",
    "--node-port=0",
    f"--cidr={ADDRESSES}",
)
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
TOLERATED = [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}]


@pytest.fixture
def kwok(aloud: Aloud) -> Path:
    return provided((KWOK,), aloud)[0]


@pytest.fixture
def options() -> tuple[str, ...]:
    """Of `quintant up`."""
    return ("--api-only",)


@pytest_asyncio.fixture
async def cluster(options: tuple[str, ...], kwok: Path, tmp_path: Path) -> AsyncIterator[Served]:
    """A cluster with kwok's definitions and stages, kwok at work, and nodes for it."""
    published = KWOK.source(os.environ) / "kustomize"
    async with up(tmp_path, *options) as served:
        await served.apply("-f", published / "crd/bases/kwok.x-k8s.io_stages.yaml")
        await served.apply("-k", published / "stage/fast")
        with served.running("kwok", kwok, f"--kubeconfig={served.kubeconfig}", *FLAGS):
            for each in range(NODES):
                await served.target.create("/api/v1/nodes", node(f"n{each}"))
            yield served


def node(name: str) -> JsonObject:
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "type": "kwok"}},
        "spec": {"taints": [{"key": "kwok.x-k8s.io/node", "effect": "NoSchedule"}]},
    }


def pod(name: str, node_name: str, **metadata: object) -> JsonObject:
    spec = {"nodeName": node_name, "containers": [{"name": "main", "image": "one"}]}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def ready(obj: JsonObject) -> bool:
    conditions = obj.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


async def ready_names(served: Served, path: str) -> list[str]:
    listed = await served.target.get(path)
    return sorted(each["metadata"]["name"] for each in listed["items"] if ready(each))


async def test_kwok_makes_nodes_ready_and_keeps_their_leases(cluster: Served) -> None:
    wanted = [f"n{each}" for each in range(NODES)]
    found = await until(lambda: ready_names(cluster, "/api/v1/nodes"), lambda it: it == wanted)
    assert found == wanted
    leases = await until(lambda: cluster.target.names(LEASES), lambda it: len(it) == NODES)
    assert sorted(leases) == wanted


async def test_kwok_runs_pods_until_they_are_deleted(cluster: Served) -> None:
    target, pods = cluster.target, cluster.target.path("pods")
    wanted = sorted(f"p{each}" for each in range(PODS))
    for each in range(PODS):
        await target.create(pods, pod(f"p{each}", f"n{each % NODES}"))
    assert await until(lambda: ready_names(cluster, pods), lambda it: it == wanted) == wanted
    listed = (await target.get(pods))["items"]
    addresses = {each["status"]["podIP"] for each in listed}
    assert len(addresses) == PODS
    assert all(address.startswith("192.0.2.") for address in addresses)
    for name in wanted:
        await target.delete(f"{pods}/{name}")
    assert await until(lambda: target.names(pods), lambda it: not it) == []


async def test_kwok_ends_the_pods_of_jobs(cluster: Served) -> None:
    path = cluster.target.path("pods", "p")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    await cluster.target.create(
        cluster.target.path("pods"), pod("p", "n0", ownerReferences=[owner])
    )

    async def phase() -> str:
        return str((await cluster.target.get(path))["status"]["phase"])

    assert await until(phase, lambda found: found == "Succeeded") == "Succeeded"


class TestWithControllers:
    """The whole of a cluster of ours, whose kubelets are kwok's."""

    @pytest.fixture
    def options(self) -> tuple[str, ...]:
        return ("--no-node",)

    async def test_workloads_become_available_and_end_on_its_nodes(self, cluster: Served) -> None:
        target = cluster.target
        body = deployment("a", replicas=PODS)
        body["spec"]["template"]["spec"]["tolerations"] = TOLERATED
        await target.create(target.path("deployments", api="apps/v1"), body)
        await target.create(target.path("jobs", api="batch/v1"), job("j"))
        assert await became(cluster, "deployments", "a", "apps/v1", "availableReplicas", PODS)
        assert await became(cluster, "jobs", "j", "batch/v1", "succeeded", 1)
        listed = (await target.get(target.path("pods"), labelSelector="app=a"))["items"]
        assert {each["spec"]["nodeName"] for each in listed} == {"n0", "n1", "n2"}


async def became(
    cluster: Served, plural: str, name: str, api: str, field: str, wanted: int
) -> bool:
    """If a field of a status has its value in the end."""
    path = cluster.target.path(plural, name, api)

    async def found() -> int:
        return int((await cluster.target.get(path)).get("status", {}).get(field, 0))

    return await until(found, lambda value: value == wanted) == wanted


def job(name: str) -> JsonObject:
    containers = [{"name": "main", "image": "one"}]
    spec = {"restartPolicy": "Never", "tolerations": TOLERATED, "containers": containers}
    return {"metadata": {"name": name}, "spec": {"template": {"spec": spec}}}
