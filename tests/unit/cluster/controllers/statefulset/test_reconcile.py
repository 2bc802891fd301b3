"""StatefulSets on a server with their controller and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

from quintant.cluster.controllers import garbage, statefulset
from unit.cluster.api import PODS, Api, JsonObject
from unit.cluster.controllers.running_controllers import controlled, until
from unit.cluster.controllers.stub_kubelet import APPS, attended, pods, ready, settled, workload

SETS = f"{APPS}/statefulsets"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
CLAIM = {
    "metadata": {"name": "data", "annotations": {"a": "b"}},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


async def make(api: Api, **spec: Any) -> JsonObject:
    return await api.create(SETS, workload(serviceName="a", **spec))


async def names(api: Api, path: str = PODS) -> list[str]:
    return await api.names(path)


async def test_pods_come_and_are_replaced() -> None:
    async with controlled(statefulset.declare) as api, attended(api):
        await make(api, replicas=3)
        found = await settled(api, "statefulsets")
        assert await names(api) == ["a-0", "a-1", "a-2"]
        first = found["status"]["currentRevision"]
        template = workload(image="two")["spec"]["template"]
        await api.merge(f"{SETS}/a", {"spec": {"template": template}})
        found = await settled(api, "statefulsets")
        assert found["status"]["currentRevision"] == found["status"]["updateRevision"] != first
        assert {p["spec"]["containers"][0]["image"] for p in await pods(api)} == {"two"}


async def test_template_that_comes_back_has_its_old_revision_with_the_next_number() -> None:
    async with controlled(statefulset.declare) as api, attended(api):
        await make(api, replicas=1)
        first = (await settled(api, "statefulsets"))["status"]["currentRevision"]
        for image in ("two", "one"):
            template = workload(image=image)["spec"]["template"]
            await api.merge(f"{SETS}/a", {"spec": {"template": template}})
            found = await settled(api, "statefulsets")
        assert found["status"]["currentRevision"] == first
        kept = (await api.get(f"{APPS}/controllerrevisions"))["items"]
        assert sorted((it["revision"], it["metadata"]["name"] == first) for it in kept) == [
            (2, False), (3, True),
        ]  # fmt: skip


async def test_set_at_rest_writes_nothing() -> None:
    async with controlled(statefulset.declare) as api, attended(api):
        await make(api, replicas=2, volumeClaimTemplates=[CLAIM])
        before = await settled(api, "statefulsets")
        after = await settled(api, "statefulsets", seconds=1000)
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


async def test_pod_waits_until_the_one_before_has_been_ready_for_long_enough() -> None:
    async with controlled(statefulset.declare) as api, attended(api):
        await make(api, replicas=2, minReadySeconds=30)
        await asyncio.sleep(25)
        assert await names(api) == ["a-0"]
        await asyncio.sleep(10)
        assert await names(api) == ["a-0", "a-1"]


async def test_claims_are_made_first_and_outlive_their_pods() -> None:
    async with controlled(statefulset.declare) as api, attended(api):
        await make(api, replicas=1, volumeClaimTemplates=[CLAIM])
        await settled(api, "statefulsets")
        claim = await api.get(f"{CLAIMS}/data-a-0")
        assert claim["metadata"]["labels"] == {"app": "a"}
        assert claim["metadata"]["annotations"] == {"a": "b"}
        assert claim["spec"]["resources"] == {"requests": {"storage": "1Gi"}}
        await api.merge(f"{SETS}/a", {"spec": {"replicas": 0}})
        await settled(api, "statefulsets")
        assert (await names(api), await names(api, CLAIMS)) == ([], ["data-a-0"])


async def test_claim_of_a_pods_own_can_be_mounted() -> None:
    async with controlled(statefulset.declare) as api, attended(api):
        wanted = workload(serviceName="a", replicas=1, volumeClaimTemplates=[CLAIM])
        pod, mount = wanted["spec"]["template"]["spec"], {"name": "data", "mountPath": "/data"}
        pod["containers"][0]["volumeMounts"] = [mount]
        await api.create(SETS, wanted)
        await settled(api, "statefulsets")
        (made,) = await pods(api)
        assert made["spec"]["containers"][0]["volumeMounts"][0] == mount
        assert made["spec"]["volumes"][0]["persistentVolumeClaim"] == {"claimName": "data-a-0"}


async def test_claim_that_goes_with_a_former_pod_is_waited_for() -> None:
    async with controlled(statefulset.declare, garbage.declare) as api, attended(api):
        policy = {"whenScaled": "Delete", "whenDeleted": "Delete"}
        await make(
            api, replicas=2, volumeClaimTemplates=[CLAIM],
            persistentVolumeClaimRetentionPolicy=policy,
        )  # fmt: skip
        await settled(api, "statefulsets")
        before = await api.get(f"{CLAIMS}/data-a-1")
        await api.merge(f"{SETS}/a", {"spec": {"replicas": 1}})
        await settled(api, "statefulsets")
        assert await names(api, CLAIMS) == ["data-a-0"]
        await api.merge(f"{SETS}/a", {"spec": {"replicas": 2}})
        await settled(api, "statefulsets")
        after = await api.get(f"{CLAIMS}/data-a-1")
        assert after["metadata"]["uid"] != before["metadata"]["uid"]
        await api.delete(f"{SETS}/a")
        await until(lambda: names(api, CLAIMS), lambda held: not held)


async def test_pod_that_fails_is_made_anew_under_its_name() -> None:
    async with controlled(statefulset.declare) as api, attended(api):
        await make(api, replicas=1)
        await settled(api, "statefulsets")
        (before,) = await pods(api)
        await api.merge(f"{PODS}/a-0/status", {"status": {"phase": "Failed"}})
        await settled(api, "statefulsets")
        (after,) = await pods(api)
        assert after["metadata"]["uid"] != before["metadata"]["uid"]


async def test_stranger_with_a_members_name_is_adopted_and_told_who_it_is() -> None:
    async with controlled(statefulset.declare) as api:
        pod = {"metadata": {"name": "a-0", "labels": {"app": "a"}},
               "spec": {"containers": [{"name": "main", "image": "one"}]}}  # fmt: skip
        await api.create(PODS, pod)
        await ready(api, "a-0")
        made = await make(api, replicas=1, updateStrategy={"type": "OnDelete"})
        await settled(api, "statefulsets")
        (found,) = await pods(api)
        assert found["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
        assert found["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "a-0"
