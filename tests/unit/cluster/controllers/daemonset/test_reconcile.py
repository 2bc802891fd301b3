"""DaemonSets on a server with their controller and nothing else."""

from __future__ import annotations

from typing import Any

from quintant.cluster.controllers import daemonset
from unit.cluster.api import PODS, Api, JsonObject
from unit.cluster.controllers.running_controllers import controlled
from unit.cluster.controllers.stub_kubelet import APPS, attended, pods, settled, workload

SETS = f"{APPS}/daemonsets"
NODES = "/api/v1/nodes"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


async def join(api: Api, *names: str, **labels: str) -> None:
    for name in names:
        await api.create(NODES, {"metadata": {"name": name, "labels": labels}})


async def make(api: Api, **spec: Any) -> JsonObject:
    return await api.create(SETS, workload(**spec))


async def places(api: Api) -> list[str]:
    """The nodes that pods are meant for."""
    terms = [
        pod["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
        for pod in await pods(api)
    ]
    return sorted(term["matchFields"][0]["values"][0] for (term,) in terms)


async def test_every_node_has_a_pod_and_new_ones_get_one() -> None:
    async with controlled(daemonset.declare) as api, attended(api):
        await join(api, "a", "b")
        await make(api)
        found = await settled(api, "daemonsets")
        assert found["status"]["numberAvailable"] == found["status"]["desiredNumberScheduled"] == 2
        await join(api, "c")
        await settled(api, "daemonsets")
        assert await places(api) == ["a", "b", "c"]


async def test_pods_for_nodes_that_are_gone_go() -> None:
    async with controlled(daemonset.declare) as api, attended(api):
        await join(api, "a", "b")
        await make(api)
        await settled(api, "daemonsets")
        await api.delete(f"{NODES}/b")
        await settled(api, "daemonsets")
        assert await places(api) == ["a"]


async def test_labels_of_nodes_decide_and_may_change() -> None:
    async with controlled(daemonset.declare) as api, attended(api):
        await join(api, "a", disk="fast")
        await join(api, "b", disk="slow")
        template = workload()["spec"]["template"]
        template["spec"]["nodeSelector"] = {"disk": "fast"}
        await make(api, template=template)
        await settled(api, "daemonsets")
        assert await places(api) == ["a"]
        for name, disk in (("a", "slow"), ("b", "fast")):
            await api.merge(f"{NODES}/{name}", {"metadata": {"labels": {"disk": disk}}})
        await settled(api, "daemonsets")
        assert await places(api) == ["b"]


async def test_set_at_rest_writes_nothing() -> None:
    async with controlled(daemonset.declare) as api, attended(api):
        await join(api, "a", "b")
        await make(api)
        before = await settled(api, "daemonsets")
        after = await settled(api, "daemonsets", seconds=1000)
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


async def test_rollout_replaces_every_pod_and_remembers() -> None:
    async with controlled(daemonset.declare) as api, attended(api):
        await join(api, "a", "b", "c")
        await make(api)
        await settled(api, "daemonsets")
        template = workload(image="two")["spec"]["template"]
        await api.merge(f"{SETS}/a", {"spec": {"template": template}})
        found = await settled(api, "daemonsets")
        assert found["status"]["updatedNumberScheduled"] == 3
        assert {p["spec"]["containers"][0]["image"] for p in await pods(api)} == {"two"}
        kept = (await api.get(f"{APPS}/controllerrevisions"))["items"]
        assert sorted(each["revision"] for each in kept) == [1, 2]


async def test_failing_pod_is_made_anew_with_growing_patience() -> None:
    async with controlled(daemonset.declare) as api:
        await join(api, "a")
        await make(api)
        seen = set()
        for _ in range(6):
            await settled(api, "daemonsets", seconds=0.5)
            for pod in await pods(api):
                seen.add(pod["metadata"]["uid"])
                path = f"{PODS}/{pod['metadata']['name']}"
                await api.merge(f"{path}/status", {"status": {"phase": "Failed"}})
                if "deletionTimestamp" in pod["metadata"]:
                    await api.send("DELETE", path, {"gracePeriodSeconds": 0})
        assert 2 <= len(seen) <= 3
