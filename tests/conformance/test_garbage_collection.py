"""Garbage collection: what is owned goes with its owners, in the way that was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.target import Target, until
from conformance.workloads import deployment
from unit.cluster.api import CRDS, JsonObject, config_map

NOBODY = "00000000-0000-4000-8000-000000000001"
HELD = ["check.example.com/held"]


def owner(obj: JsonObject, **more: bool) -> JsonObject:
    meta = obj["metadata"]
    found = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    return {**found, "name": meta["name"], "uid": meta["uid"], **more}


async def make(cluster: Target, name: str, *owners: JsonObject, **metadata: Any) -> JsonObject:
    body = config_map(name, ownerReferences=list(owners), **metadata)
    return await cluster.create(cluster.path("configmaps"), body)


async def own(cluster: Target, name: str, *owners: JsonObject) -> None:
    path, refs = cluster.path("configmaps", name), list(owners)
    await cluster.merge(path, {"metadata": {"ownerReferences": refs}})


async def delete(cluster: Target, name: str, policy: str) -> JsonObject:
    return await cluster.delete(cluster.path("configmaps", name), {"propagationPolicy": policy})


async def until_gone(target: Target, path: str) -> None:
    """Wait until an object is gone, if necessary until a real collector looks for new kinds."""

    async def gone() -> bool:
        return (await target.send("GET", path)).status == 404

    assert await until(gone) or await until(gone), f"{path} stays"


def owners(obj: JsonObject) -> list[str]:
    return [ref["name"] for ref in obj["metadata"].get("ownerReferences", [])]


async def deployed(cluster: ControllerCluster) -> str:
    """A Deployment with its pods; its path."""
    await cluster.create(cluster.path("deployments", api="apps/v1"), deployment("a", replicas=2))
    await cluster.until_all("pods", lambda pods: len(pods) == 2)
    return cluster.path("deployments", "a", "apps/v1")


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_a_deployment_takes_its_pods_along(cluster: ControllerCluster, policy: str) -> None:
    path = await deployed(cluster)
    await cluster.delete(path, {"propagationPolicy": policy})
    await cluster.until_gone("deployments", "a", api="apps/v1")
    await cluster.until_all("replicasets", lambda found: not found, api="apps/v1")
    await cluster.until_all("pods", lambda found: not found)


async def test_orphans_of_a_deployment_stay(cluster: ControllerCluster) -> None:
    path = await deployed(cluster)
    await cluster.delete(path, {"propagationPolicy": "Orphan"})
    await cluster.until_gone("deployments", "a", api="apps/v1")
    [replicas] = await cluster.all("replicasets", api="apps/v1")
    assert owners(replicas) == []
    assert len(await cluster.quiet("pods")) == 2


async def test_one_owner_that_stays_is_enough(cluster: ControllerCluster) -> None:
    a, b = await make(cluster, "a"), await make(cluster, "b")
    await make(cluster, "c", owner(a, blockOwnerDeletion=True), owner(b))
    await make(cluster, "d", owner(a))
    await delete(cluster, "a", "Foreground")
    await cluster.until_gone("configmaps", "d")
    await cluster.until_gone("configmaps", "a")
    assert owners(await cluster.get(cluster.path("configmaps", "c"))) == ["b"]


async def test_dangling_owners_are_forgotten(cluster: ControllerCluster) -> None:
    a, b = await make(cluster, "a"), await make(cluster, "b")
    await make(cluster, "c", owner(a), owner(b))
    await delete(cluster, "a", "Background")
    await cluster.until("configmaps", "c", lambda it: owners(it) == ["b"])


async def test_a_circle_does_not_block(cluster: ControllerCluster) -> None:
    made = {name: await make(cluster, name) for name in "abc"}
    for name, by in ("ac", "ba", "cb"):
        await own(cluster, name, owner(made[by], blockOwnerDeletion=True))
    await delete(cluster, "a", "Foreground")
    for name in "abc":
        await cluster.until_gone("configmaps", name)


async def test_what_blocks_is_waited_for(cluster: ControllerCluster) -> None:
    a = await make(cluster, "a")
    await make(cluster, "b", owner(a, blockOwnerDeletion=True), finalizers=HELD)
    await delete(cluster, "a", "Foreground")
    await cluster.until("configmaps", "b", lambda it: "deletionTimestamp" in it["metadata"])
    held = [it for it in await cluster.quiet("configmaps") if it["metadata"]["name"] == "a"]
    assert held[0]["metadata"]["finalizers"] == ["foregroundDeletion"]
    await cluster.merge(cluster.path("configmaps", "b"), {"metadata": {"finalizers": None}})
    await cluster.until_gone("configmaps", "a")


async def test_what_does_not_block_is_not_waited_for(cluster: ControllerCluster) -> None:
    a = await make(cluster, "a")
    await make(cluster, "b", owner(a, blockOwnerDeletion=False), finalizers=HELD)
    await delete(cluster, "a", "Foreground")
    await cluster.until_gone("configmaps", "a")
    await cluster.merge(cluster.path("configmaps", "b"), {"metadata": {"finalizers": None}})
    await cluster.until_gone("configmaps", "b")


async def test_an_owner_that_never_was_is_no_owner(cluster: ControllerCluster) -> None:
    a = await make(cluster, "a")
    await make(cluster, "b", {**owner(a), "uid": NOBODY})
    await make(cluster, "c", {**owner(a), "name": "nobody", "uid": NOBODY})
    await cluster.until_gone("configmaps", "b")
    await cluster.until_gone("configmaps", "c")
    await cluster.get(cluster.path("configmaps", "a"))


async def test_an_owner_lives_in_the_same_namespace_or_in_none(cluster: ControllerCluster) -> None:
    a = await make(cluster, "a")
    other = f"{cluster.namespace}-other"
    await cluster.create("/api/v1/namespaces", {"metadata": {"name": other}})
    path = cluster.elsewhere(other, "configmaps")
    b = await cluster.create(path, config_map("b", ownerReferences=[owner(a)]))
    await until_gone(cluster, f"{path}/b")
    events = cluster.elsewhere(other, "events")
    wanted = f"involvedObject.uid={b['metadata']['uid']}"

    async def told() -> list[JsonObject]:
        items: list[JsonObject] = (await cluster.get(events, fieldSelector=wanted))["items"]
        return items

    event = (await until(told))[0]
    assert (event["type"], event["reason"]) == ("Warning", "OwnerRefInvalidNamespace")
    assert event["message"] == (
        f"ownerRef [v1/ConfigMap, namespace: {other}, name: a, uid: {a['metadata']['uid']}] does "
        f'not exist in namespace "{other}"'
    )
    await cluster.delete(f"/api/v1/namespaces/{other}")


async def test_what_has_no_namespace_is_not_owned_inside_one(cluster: ControllerCluster) -> None:
    a = await make(cluster, "a")
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    name = f"{cluster.namespace}-b"
    body = {"metadata": {"name": name, "ownerReferences": [owner(a)]}, "rules": []}
    await cluster.create(path, body)
    await make(cluster, "c", owner(a))
    await delete(cluster, "a", "Background")
    await cluster.until_gone("configmaps", "c")
    await cluster.quiet("configmaps")
    await cluster.delete(f"{path}/{name}")


async def test_what_has_no_namespace_owns_inside_one(cluster: ControllerCluster) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    name = f"{cluster.namespace}-a"
    role = await cluster.create(path, {"metadata": {"name": name}, "rules": []})
    await make(cluster, "b", owner(role))
    await cluster.quiet("configmaps")
    await cluster.get(cluster.path("configmaps", "b"))
    await cluster.delete(f"{path}/{name}", {"propagationPolicy": "Background"})
    await cluster.until_gone("configmaps", "b")


async def test_custom_resources_own_and_are_owned(cluster: ControllerCluster) -> None:
    foos = await cluster.define()
    a = await cluster.create(foos.path(), foos.object("a"))
    b = await make(cluster, "b", owner(a))
    await cluster.create(foos.path(), foos.object("c", {"ownerReferences": [owner(b)]}))
    await cluster.delete(foos.path("a"), {"propagationPolicy": "Background"})
    await until_gone(cluster, cluster.path("configmaps", "b"))
    await until_gone(cluster, foos.path("c"))
    await cluster.delete(foos.definition)


async def test_a_definition_takes_its_objects_and_their_dependents_along(
    cluster: ControllerCluster,
) -> None:
    foos = await cluster.define()
    a = await cluster.create(foos.path(), foos.object("a"))
    # One cascade first, so that a real collector has heard of the kind.
    first = await cluster.create(foos.path(), foos.object("first"))
    await make(cluster, "known", owner(first))
    await cluster.delete(foos.path("first"), {"propagationPolicy": "Background"})
    await until_gone(cluster, cluster.path("configmaps", "known"))
    await make(cluster, "b", owner(a))
    await cluster.delete(foos.definition)
    await until_gone(cluster, cluster.path("configmaps", "b"))
    await until_gone(cluster, f"{CRDS}/foos.{foos.group}")


async def test_three_hundred_go_quickly(cluster: ControllerCluster) -> None:
    a = await make(cluster, "a")
    for number in range(30):
        made = await make(cluster, f"b{number}", owner(a))
        for branch in range(9):
            await make(cluster, f"c{number}-{branch}", owner(made))
    await delete(cluster, "a", "Background")
    await cluster.until_all("configmaps", lambda found: not any(map(owners, found)))
