"""Garbage collection: what is owned goes with its owners, in the way that was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.realm import until
from conformance.target import Target
from conformance.workloads import deployment
from conformance.workshop import Workshop
from unit.cluster.api import CRDS, Plain, config_map

NOBODY = "00000000-0000-4000-8000-000000000001"
HELD = ["check.example.com/held"]


def owner(obj: Plain, **more: bool) -> Plain:
    meta = obj["metadata"]
    found = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    return {**found, "name": meta["name"], "uid": meta["uid"], **more}


async def make(workshop: Target, name: str, *owners: Plain, **metadata: Any) -> Plain:
    body = config_map(name, ownerReferences=list(owners), **metadata)
    return await workshop.create(workshop.path("configmaps"), body)


async def own(workshop: Target, name: str, *owners: Plain) -> None:
    path, refs = workshop.path("configmaps", name), list(owners)
    await workshop.merge(path, {"metadata": {"ownerReferences": refs}})


async def delete(workshop: Target, name: str, policy: str) -> Plain:
    return await workshop.delete(workshop.path("configmaps", name), {"propagationPolicy": policy})


async def until_gone(target: Target, path: str) -> None:
    """Wait until an object is gone, if necessary until a real collector looks for new kinds."""

    async def gone() -> bool:
        return (await target.send("GET", path)).status == 404

    assert await until(gone) or await until(gone), f"{path} stays"


def owners(obj: Plain) -> list[str]:
    return [ref["name"] for ref in obj["metadata"].get("ownerReferences", [])]


async def deployed(workshop: Workshop) -> str:
    """A Deployment with its pods; its path."""
    await workshop.create(workshop.path("deployments", api="apps/v1"), deployment("a", replicas=2))
    await workshop.until_all("pods", lambda pods: len(pods) == 2)
    return workshop.path("deployments", "a", "apps/v1")


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_91_a_deployment_takes_its_pods_along(workshop: Workshop, policy: str) -> None:
    path = await deployed(workshop)
    await workshop.delete(path, {"propagationPolicy": policy})
    await workshop.until_gone("deployments", "a", api="apps/v1")
    await workshop.until_all("replicasets", lambda found: not found, api="apps/v1")
    await workshop.until_all("pods", lambda found: not found)


async def test_91_orphans_of_a_deployment_stay(workshop: Workshop) -> None:
    path = await deployed(workshop)
    await workshop.delete(path, {"propagationPolicy": "Orphan"})
    await workshop.until_gone("deployments", "a", api="apps/v1")
    [replicas] = await workshop.all("replicasets", api="apps/v1")
    assert owners(replicas) == []
    assert len(await workshop.quiet("pods")) == 2


async def test_92_one_owner_that_stays_is_enough(workshop: Workshop) -> None:
    a, b = await make(workshop, "a"), await make(workshop, "b")
    await make(workshop, "c", owner(a, blockOwnerDeletion=True), owner(b))
    await make(workshop, "d", owner(a))
    await delete(workshop, "a", "Foreground")
    await workshop.until_gone("configmaps", "d")
    await workshop.until_gone("configmaps", "a")
    assert owners(await workshop.get(workshop.path("configmaps", "c"))) == ["b"]


async def test_92_dangling_owners_are_forgotten(workshop: Workshop) -> None:
    a, b = await make(workshop, "a"), await make(workshop, "b")
    await make(workshop, "c", owner(a), owner(b))
    await delete(workshop, "a", "Background")
    await workshop.until("configmaps", "c", lambda it: owners(it) == ["b"])


async def test_93_a_circle_does_not_block(workshop: Workshop) -> None:
    made = {name: await make(workshop, name) for name in "abc"}
    for name, by in ("ac", "ba", "cb"):
        await own(workshop, name, owner(made[by], blockOwnerDeletion=True))
    await delete(workshop, "a", "Foreground")
    for name in "abc":
        await workshop.until_gone("configmaps", name)


async def test_94_what_blocks_is_waited_for(workshop: Workshop) -> None:
    a = await make(workshop, "a")
    await make(workshop, "b", owner(a, blockOwnerDeletion=True), finalizers=HELD)
    await delete(workshop, "a", "Foreground")
    await workshop.until("configmaps", "b", lambda it: "deletionTimestamp" in it["metadata"])
    held = [it for it in await workshop.quiet("configmaps") if it["metadata"]["name"] == "a"]
    assert held[0]["metadata"]["finalizers"] == ["foregroundDeletion"]
    await workshop.merge(workshop.path("configmaps", "b"), {"metadata": {"finalizers": None}})
    await workshop.until_gone("configmaps", "a")


async def test_94_what_does_not_block_is_not_waited_for(workshop: Workshop) -> None:
    a = await make(workshop, "a")
    await make(workshop, "b", owner(a, blockOwnerDeletion=False), finalizers=HELD)
    await delete(workshop, "a", "Foreground")
    await workshop.until_gone("configmaps", "a")
    await workshop.merge(workshop.path("configmaps", "b"), {"metadata": {"finalizers": None}})
    await workshop.until_gone("configmaps", "b")


async def test_95_an_owner_that_never_was_is_no_owner(workshop: Workshop) -> None:
    a = await make(workshop, "a")
    await make(workshop, "b", {**owner(a), "uid": NOBODY})
    await make(workshop, "c", {**owner(a), "name": "nobody", "uid": NOBODY})
    await workshop.until_gone("configmaps", "b")
    await workshop.until_gone("configmaps", "c")
    await workshop.get(workshop.path("configmaps", "a"))


async def test_95_an_owner_lives_in_the_same_namespace_or_in_none(workshop: Workshop) -> None:
    a = await make(workshop, "a")
    other = f"{workshop.namespace}-other"
    await workshop.create("/api/v1/namespaces", {"metadata": {"name": other}})
    path = workshop.elsewhere(other, "configmaps")
    b = await workshop.create(path, config_map("b", ownerReferences=[owner(a)]))
    await until_gone(workshop, f"{path}/b")
    events = workshop.elsewhere(other, "events")
    wanted = f"involvedObject.uid={b['metadata']['uid']}"

    async def told() -> list[Plain]:
        items: list[Plain] = (await workshop.get(events, fieldSelector=wanted))["items"]
        return items

    event = (await until(told))[0]
    assert (event["type"], event["reason"]) == ("Warning", "OwnerRefInvalidNamespace")
    assert event["message"] == (
        f"ownerRef [v1/ConfigMap, namespace: {other}, name: a, uid: {a['metadata']['uid']}] does "
        f'not exist in namespace "{other}"'
    )
    await workshop.delete(f"/api/v1/namespaces/{other}")


async def test_95_what_has_no_namespace_is_not_owned_inside_one(workshop: Workshop) -> None:
    a = await make(workshop, "a")
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    name = f"{workshop.namespace}-b"
    body = {"metadata": {"name": name, "ownerReferences": [owner(a)]}, "rules": []}
    await workshop.create(path, body)
    await make(workshop, "c", owner(a))
    await delete(workshop, "a", "Background")
    await workshop.until_gone("configmaps", "c")
    await workshop.quiet("configmaps")
    await workshop.delete(f"{path}/{name}")


async def test_95_what_has_no_namespace_owns_inside_one(workshop: Workshop) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    name = f"{workshop.namespace}-a"
    role = await workshop.create(path, {"metadata": {"name": name}, "rules": []})
    await make(workshop, "b", owner(role))
    await workshop.quiet("configmaps")
    await workshop.get(workshop.path("configmaps", "b"))
    await workshop.delete(f"{path}/{name}", {"propagationPolicy": "Background"})
    await workshop.until_gone("configmaps", "b")


async def test_96_custom_resources_own_and_are_owned(workshop: Workshop) -> None:
    foos = await workshop.define()
    a = await workshop.create(foos.path(), foos.object("a"))
    b = await make(workshop, "b", owner(a))
    await workshop.create(foos.path(), foos.object("c", {"ownerReferences": [owner(b)]}))
    await workshop.delete(foos.path("a"), {"propagationPolicy": "Background"})
    await until_gone(workshop, workshop.path("configmaps", "b"))
    await until_gone(workshop, foos.path("c"))
    await workshop.delete(foos.definition)


async def test_96_a_definition_takes_its_objects_and_their_dependents_along(
    workshop: Workshop,
) -> None:
    foos = await workshop.define()
    a = await workshop.create(foos.path(), foos.object("a"))
    # One cascade first, so that a real collector has heard of the kind.
    first = await workshop.create(foos.path(), foos.object("first"))
    await make(workshop, "known", owner(first))
    await workshop.delete(foos.path("first"), {"propagationPolicy": "Background"})
    await until_gone(workshop, workshop.path("configmaps", "known"))
    await make(workshop, "b", owner(a))
    await workshop.delete(foos.definition)
    await until_gone(workshop, workshop.path("configmaps", "b"))
    assert (await workshop.send("GET", f"{CRDS}/foos.{foos.group}")).status == 404


async def test_97_three_hundred_go_quickly(workshop: Workshop) -> None:
    a = await make(workshop, "a")
    for number in range(30):
        made = await make(workshop, f"b{number}", owner(a))
        for branch in range(9):
            await make(workshop, f"c{number}-{branch}", owner(made))
    await delete(workshop, "a", "Background")
    await workshop.until_all("configmaps", lambda found: not any(map(owners, found)))
