"""The server's own admission: accounts, tokens, priorities, classes, protection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock
from unit.cluster.api import PODS, Api, JsonObject

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
PROTECTION = "kubernetes.io/pvc-protection"


@pytest.fixture
async def managed() -> Api:
    api = Api(ApiServer(managed=True, clock=LoopClock()))
    await api.create(ACCOUNTS, {"metadata": {"name": "default"}})
    return api


@pytest.fixture
async def bare() -> Api:
    return Api(ApiServer(clock=LoopClock()))


def pod(name: str = "p", **spec: Any) -> JsonObject:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def claim(name: str, **spec: Any) -> JsonObject:
    resources = {"requests": {"storage": "1Gi"}}
    content = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {"name": name}, "spec": content}


def storage_class(name: str, default: str = "true") -> JsonObject:
    annotations = {"storageclass.kubernetes.io/is-default-class": default}
    return {"metadata": {"name": name, "annotations": annotations}, "provisioner": "p"}


async def test_a_pod_runs_as_an_account_with_a_token(managed: Api) -> None:
    spec = (await managed.create(PODS, pod()))["spec"]
    assert spec["serviceAccountName"] == "default"
    (volume,) = spec["volumes"]
    assert spec["containers"][0]["volumeMounts"][0]["name"] == volume["name"]


async def test_without_controllers_pods_need_no_account(bare: Api) -> None:
    spec = (await bare.create(PODS, pod()))["spec"]
    assert "serviceAccountName" not in spec
    assert "volumes" not in spec


async def test_the_default_account_is_waited_for(managed: Api) -> None:
    await managed.delete(f"{ACCOUNTS}/default")
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        made = group.create_task(managed.create(PODS, pod()))
        await asyncio.sleep(0.5)
        await managed.create(ACCOUNTS, {"metadata": {"name": "default"}})
    assert made.result()["spec"]["serviceAccountName"] == "default"
    await managed.delete(f"{ACCOUNTS}/default")
    before = loop.time()
    await managed.create(PODS, pod("q"), code=403)
    assert loop.time() - before == pytest.approx(1.0)


async def test_other_accounts_are_not_waited_for(managed: Api) -> None:
    before = asyncio.get_running_loop().time()
    await managed.create(PODS, pod(serviceAccountName="nope"), code=403)
    assert asyncio.get_running_loop().time() == before


async def test_an_update_keeps_what_creation_gave(managed: Api) -> None:
    made = await managed.create(PODS, pod())
    del made["spec"]["priority"]
    del made["spec"]["preemptionPolicy"]
    kept = await managed.put(f"{PODS}/p", made)
    assert (kept["spec"]["priority"], kept["spec"]["preemptionPolicy"]) == (
        0,
        "PreemptLowerPriority",
    )


async def test_a_class_can_be_the_default(bare: Api) -> None:
    await bare.create(
        PRIORITIES, {"metadata": {"name": "usual"}, "value": 5, "globalDefault": True}
    )
    spec = (await bare.create(PODS, pod()))["spec"]
    assert (spec["priority"], spec["priorityClassName"]) == (5, "usual")
    other = {"metadata": {"name": "other"}, "value": 6, "globalDefault": True}
    told = await bare.create(PRIORITIES, other, code=403)
    assert told["message"].endswith(
        "PriorityClass usual is already marked as default. Only one default can exist"
    )
    await bare.merge(f"{PRIORITIES}/usual", {"description": "still the default"})


async def test_of_several_default_classes_the_newest_counts(bare: Api) -> None:
    await bare.create(STORAGE, storage_class("a"))
    await asyncio.sleep(2.0)
    for name in ("c", "b"):
        await bare.create(STORAGE, storage_class(name))
    await bare.create(STORAGE, storage_class("0", "false"))
    assert (await bare.create(CLAIMS, claim("x")))["spec"]["storageClassName"] == "b"


async def test_claims_that_name_a_class_keep_it(bare: Api) -> None:
    await bare.create(STORAGE, storage_class("a"))
    made = await bare.create(CLAIMS, claim("x", storageClassName=""))
    assert made["spec"]["storageClassName"] == ""
    older = claim("y")
    older["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "z"}
    assert "storageClassName" not in (await bare.create(CLAIMS, older))["spec"]


async def test_claims_are_protected_where_a_controller_releases_them(
    managed: Api, bare: Api
) -> None:
    made = await managed.create(CLAIMS, claim("x"))
    assert made["metadata"]["finalizers"] == [PROTECTION]
    freed = await managed.merge(f"{CLAIMS}/x", {"metadata": {"finalizers": None}})
    assert "finalizers" not in freed["metadata"]
    assert "finalizers" not in (await bare.create(CLAIMS, claim("x")))["metadata"]


async def limited(api: Api, **hard: str) -> None:
    """Have a quota, and a limit that a claim of 1Gi is above."""
    space = "/api/v1/namespaces/default"
    await api.create(f"{space}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    limits = [{"type": "PersistentVolumeClaim", "max": {"storage": "1Mi"}}]
    await api.create(
        f"{space}/limitranges", {"metadata": {"name": "r"}, "spec": {"limits": limits}}
    )


def mislabelled(obj: JsonObject) -> JsonObject:
    return {**obj, "metadata": {**obj["metadata"], "labels": {"a": "NOT A LABEL"}}}


async def test_what_is_invalid_is_not_held_to_limits_and_quotas(managed: Api) -> None:
    await limited(managed, pods="0")
    await managed.create(PODS, pod(), code=403)
    await managed.create(PODS, mislabelled(pod()), code=422)
    await managed.create(CLAIMS, claim("x"), code=403)
    await managed.create(CLAIMS, mislabelled(claim("x")), code=422)


async def test_a_limit_comes_before_a_quota(managed: Api) -> None:
    await limited(managed, persistentvolumeclaims="0")
    refused = await managed.create(CLAIMS, claim("x"), code=403)
    assert "maximum storage usage" in refused["message"]


async def test_a_quota_comes_before_a_name_that_is_taken(managed: Api) -> None:
    await managed.create(PODS, pod())
    await limited(managed, pods="0")
    refused = await managed.create(PODS, pod(), code=403)
    assert "exceeded quota: q" in refused["message"]


async def test_a_second_default_class_that_is_invalid_is_invalid(bare: Api) -> None:
    usual = {"metadata": {"name": "usual"}, "value": 5, "globalDefault": True}
    await bare.create(PRIORITIES, usual)
    other = {**usual, "metadata": {"name": "other"}}
    await bare.create(PRIORITIES, other, code=403)
    await bare.create(PRIORITIES, mislabelled(other), code=422)


async def test_plugins_are_left_out_by_their_names() -> None:
    disabled = frozenset({"ServiceAccount", "Priority", "DefaultTolerationSeconds"})
    api = Api(ApiServer(clock=LoopClock(), disabled_plugins=disabled))
    spec = (await api.create(PODS, pod()))["spec"]
    assert not {"serviceAccountName", "priority", "tolerations"} & set(spec)
    made = await api.create(CLAIMS, claim("a"))
    assert made["metadata"]["finalizers"] == [PROTECTION]
