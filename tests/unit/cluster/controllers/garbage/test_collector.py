"""What is owned goes with its owners, and nothing else does."""

from __future__ import annotations

import asyncio
from typing import Any

from quintant.cluster.controllers.garbage import declare
from unit.cluster.api import CMS, CRDS, FOOS, Api, JsonObject, config_map
from unit.cluster.controllers.running_controllers import controlled, exists, gone, owner, until

BACKGROUND = {"propagationPolicy": "Background"}
FOREGROUND = {"propagationPolicy": "Foreground"}
ORPHAN = {"propagationPolicy": "Orphan"}
NOBODY = "00000000-0000-4000-8000-000000000001"


async def make(
    api: Api, name: str, *owners: JsonObject, path: str = CMS, **metadata: Any
) -> JsonObject:
    return await api.create(path, config_map(name, ownerReferences=list(owners), **metadata))


async def owners(api: Api, path: str) -> list[str]:
    meta = (await api.get(path))["metadata"]
    return [ref["name"] for ref in meta.get("ownerReferences", [])]


async def test_dependents_of_dependents_go_in_the_background() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        b = await make(api, "b", owner(a))
        await make(api, "c", owner(b))
        answer = await api.delete(f"{CMS}/a", BACKGROUND)
        assert answer["status"] == "Success"
        await gone(api, f"{CMS}/c")
        await gone(api, f"{CMS}/b")


async def test_owner_deleted_in_the_foreground_waits_for_what_blocks_it() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        blocking = owner(a, blockOwnerDeletion=True)
        await make(api, "b", blocking, finalizers=["x.y/z"])
        await api.delete(f"{CMS}/a", FOREGROUND)
        assert await exists(api, f"{CMS}/a")
        assert (await api.get(f"{CMS}/b"))["metadata"]["deletionTimestamp"]
        await api.merge(f"{CMS}/b", {"metadata": {"finalizers": None}})
        await gone(api, f"{CMS}/a")


async def test_owner_deleted_in_the_foreground_does_not_wait_for_what_does_not_block_it() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        await make(api, "b", owner(a), finalizers=["x.y/z"])
        await api.delete(f"{CMS}/a", FOREGROUND)
        await gone(api, f"{CMS}/a")
        assert (await api.get(f"{CMS}/b"))["metadata"]["deletionTimestamp"]


async def test_owner_is_unblocked_when_the_reference_is_taken_back() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        await make(api, "b", owner(a, blockOwnerDeletion=True), finalizers=["x.y/z"])
        await api.delete(f"{CMS}/a", FOREGROUND)
        assert await exists(api, f"{CMS}/a")
        loose = [owner(a, blockOwnerDeletion=False)]
        await api.merge(f"{CMS}/b", {"metadata": {"ownerReferences": loose}})
        await gone(api, f"{CMS}/a")


async def test_orphans_stay_and_have_no_owner_any_more() -> None:
    async with controlled(declare) as api:
        a, other = await make(api, "a"), await make(api, "other")
        await make(api, "b", owner(a), owner(other))
        await make(api, "c", owner(a))
        await api.delete(f"{CMS}/a", ORPHAN)
        await gone(api, f"{CMS}/a")
        assert await exists(api, f"{CMS}/c")
        assert await owners(api, f"{CMS}/b") == ["other"]
        assert await owners(api, f"{CMS}/c") == []


async def test_solid_owner_keeps_its_dependent_and_the_others_are_forgotten() -> None:
    async with controlled(declare) as api:
        a, b = await make(api, "a"), await make(api, "b")
        await make(api, "c", owner(a), owner(b, blockOwnerDeletion=True))
        await api.delete(f"{CMS}/b", FOREGROUND)
        await gone(api, f"{CMS}/b")
        assert await exists(api, f"{CMS}/c")
        assert await owners(api, f"{CMS}/c") == ["a"]


async def test_circle_goes_as_a_whole() -> None:
    async with controlled(declare) as api:
        made = {name: await make(api, name) for name in "abc"}
        for name, by in ("ab", "bc", "ca"):
            refs = [owner(made[by], blockOwnerDeletion=True)]
            await api.merge(f"{CMS}/{name}", {"metadata": {"ownerReferences": refs}})
        await api.delete(f"{CMS}/a", FOREGROUND)
        for name in "abc":
            await gone(api, f"{CMS}/{name}")


async def test_dependent_of_an_owner_that_never_was_goes() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        await make(api, "b", {**owner(a), "uid": NOBODY})
        await make(api, "c", {**owner(a), "name": "nobody", "uid": NOBODY})
        await gone(api, f"{CMS}/b")
        await gone(api, f"{CMS}/c")
        assert await exists(api, f"{CMS}/a")


async def test_owner_in_another_namespace_is_no_owner_and_the_user_is_told() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        elsewhere = CMS.replace("default", "kube-public")
        b = await make(api, "b", owner(a), path=elsewhere)
        await gone(api, f"{elsewhere}/b")
        events = "/api/v1/namespaces/kube-public/events"
        [event] = await until(lambda: listed(api, events))
        uid = a["metadata"]["uid"]
        assert (event["type"], event["reason"]) == ("Warning", "OwnerRefInvalidNamespace")
        assert event["message"] == (
            f"ownerRef [v1/ConfigMap, namespace: kube-public, name: a, uid: {uid}] does not exist "
            'in namespace "kube-public"'
        )
        assert event["involvedObject"]["uid"] == b["metadata"]["uid"]


async def test_object_without_namespace_with_an_owner_inside_one_is_left_alone() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
        await api.create(roles, {"metadata": {"name": "b", "ownerReferences": [owner(a)]}})
        assert await exists(api, f"{roles}/b")
        await api.delete(f"{CMS}/a", BACKGROUND)
        await gone(api, f"{CMS}/a")
        assert await exists(api, f"{roles}/b")


async def test_owner_without_namespace_owns_inside_one() -> None:
    async with controlled(declare) as api:
        roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
        role = await api.create(roles, {"metadata": {"name": "a"}})
        await make(api, "b", owner(role))
        assert await exists(api, f"{CMS}/b")
        await api.delete(f"{roles}/a", BACKGROUND)
        await gone(api, f"{CMS}/b")


async def test_custom_resources_own_from_the_moment_they_are_served() -> None:
    async with controlled(declare) as api:
        await define(api)
        foo = await api.create(FOOS, custom("a"))
        await make(api, "b", owner(foo))
        b = await api.get(f"{CMS}/b")
        await api.create(FOOS, custom("c", owner(b)))
        await api.delete(f"{FOOS}/a", BACKGROUND)
        await gone(api, f"{CMS}/b")
        await gone(api, f"{FOOS}/c")


async def test_definition_takes_its_objects_and_their_dependents_along() -> None:
    async with controlled(declare) as api:
        await define(api)
        foo = await api.create(FOOS, custom("a"))
        await make(api, "b", owner(foo))
        assert await exists(api, f"{CMS}/b")
        await api.delete(f"{CRDS}/foos.example.com")
        await gone(api, f"{CMS}/b")
        await define(api)
        foo = await api.create(FOOS, custom("a"))
        await make(api, "b", owner(foo))
        assert await exists(api, f"{CMS}/b")


async def test_owner_of_a_kind_that_is_not_served_is_no_reason_to_go() -> None:
    async with controlled(declare) as api:
        ref = {"apiVersion": "example.com/v1", "kind": "Foo", "name": "a", "uid": NOBODY}
        await make(api, "b", ref)
        assert await exists(api, f"{CMS}/b")
        await define(api)
        await gone(api, f"{CMS}/b")


async def test_what_was_left_over_before_the_start_is_collected() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        await make(api, "b", owner(a))
    await api.delete(f"{CMS}/a", FOREGROUND)
    async with controlled(declare, on=api.server):
        await gone(api, f"{CMS}/a")
        await gone(api, f"{CMS}/b")


async def test_at_rest_nothing_is_written() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        await make(api, "b", owner(a, blockOwnerDeletion=True))
        await asyncio.sleep(10)
        before = (await api.get(CMS))["metadata"]["resourceVersion"]
        await asyncio.sleep(3600)
        assert (await api.get(CMS))["metadata"]["resourceVersion"] == before


async def test_three_hundred_dependents_go_at_once() -> None:
    async with controlled(declare) as api:
        a = await make(api, "a")
        for number in range(300):
            await make(api, f"b{number}", owner(a))
        await api.delete(f"{CMS}/a", BACKGROUND)
        began = asyncio.get_running_loop().time()
        await until(lambda: api.names(CMS), lambda names: not names)
        assert asyncio.get_running_loop().time() - began < 1


async def listed(api: Api, path: str) -> list[JsonObject]:
    items: list[JsonObject] = (await api.get(path))["items"]
    return items


async def define(api: Api) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True}
    await api.create(
        CRDS,
        {
            "metadata": {"name": "foos.example.com"},
            "spec": {
                "group": "example.com",
                "names": {"plural": "foos", "kind": "Foo"},
                "scope": "Namespaced",
                "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
            },
        },
    )


def custom(name: str, *refs: JsonObject) -> JsonObject:
    meta = {"name": name, "ownerReferences": list(refs)}
    return {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": meta}
